# SPDX-License-Identifier: Apache-2.0
"""An ordinary training script: it uses torchrun's variables, and has no code for any cluster.

Each rank prints its host, and the sum of 2**rank over all ranks. The first rank of a node also prints
torchrun's environment, one line per variable, which the tour compares.
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
    variables = pathlib.Path(f"/proc/{os.getppid()}/environ").read_bytes().decode().split("\0")
    lines += [f"environment {variable}" for variable in variables if variable]
sys.stdout.write("".join(line + "\n" for line in lines))
sys.stdout.flush()
dist.barrier()
dist.destroy_process_group()
