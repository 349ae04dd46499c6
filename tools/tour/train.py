# SPDX-License-Identifier: Apache-2.0
"""A training script as anyone's: it knows what torchrun told it, and of no cluster.

Each rank says where it is, and the sum of 2**rank over all ranks. The first one of a node also says what torchrun's
own environment was, a line a variable, for the tour to compare.
"""

import datetime
import os
import pathlib
import sys

import torch
import torch.distributed as dist

dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=30))
rank = dist.get_rank()
total = torch.tensor([2**rank])
dist.all_reduce(total)
lines = [f"rank {rank} of {dist.get_world_size()} on {os.uname().nodename}: sum {total.item()}"]
if os.environ["LOCAL_RANK"] == "0":
    told = pathlib.Path(f"/proc/{os.getppid()}/environ").read_bytes().decode().split("\0")
    lines += [f"environment {variable}" for variable in told if variable]
sys.stdout.write("".join(line + "\n" for line in lines))
sys.stdout.flush()
dist.barrier()
dist.destroy_process_group()
