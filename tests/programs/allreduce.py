# SPDX-License-Identifier: Apache-2.0
"""A rank of torch.distributed that knows no more than its environment (env://).

It says who it is, the sum of 2**rank over all ranks, and on which host rank 0 runs: one line.
"""

import datetime
import os
import sys

import torch
import torch.distributed as dist

# Also where PyTorch was built without libuv, as in Debian 13.
os.environ.setdefault("USE_LIBUV", "0")
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))
rank = dist.get_rank()
total = torch.tensor([2**rank])
dist.all_reduce(total)
host = [os.uname().nodename]
dist.broadcast_object_list(host, src=0)
sys.stdout.write(
    f"rank {rank} of {dist.get_world_size()}, local {os.environ['LOCAL_RANK']} "
    f"of {os.environ['LOCAL_WORLD_SIZE']} on {os.uname().nodename}: sum {total.item()}, rank 0 on {host[0]}\n"
)
sys.stdout.flush()
# destroy_process_group() of PyTorch 2.6 sometimes waits for a thread of gloo's that waits for Python's lock, without distinit, too.
os._exit(0)
