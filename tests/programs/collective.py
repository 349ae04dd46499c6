# SPDX-License-Identifier: Apache-2.0
"""A rank of torch.distributed whose last rank dies before it joins: the others wait for it, as long as PyTorch does.

DIES says how: "memory" takes more than there is; anything else waits, to be killed. TIMEOUT is PyTorch's, in seconds.
"""

import datetime
import os
import sys
import time

import torch.distributed as dist

if os.environ["RANK"] == "2":
    time.sleep(2)  # The others wait by then.
    sys.stdout.write("about to die\n")
    sys.stdout.flush()
    if os.environ["DIES"] == "memory":
        taken = []
        while True:
            taken.append(bytearray(1 << 24))
    time.sleep(100)
os.environ.setdefault("USE_LIBUV", "0")
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=int(os.environ["TIMEOUT"])))
dist.barrier()
