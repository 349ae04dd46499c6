# SPDX-License-Identifier: Apache-2.0
"""A training script needs no code for its cluster: init_process_group reads torchrun's variables.

Replace it by yours. The ranks add up their numbers, and each prints its rank and host.
"""

import os
import sys

import torch
import torch.distributed as dist

dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
rank = dist.get_rank()
device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if torch.cuda.is_available() else torch.device("cpu")
total = torch.tensor([rank], device=device)
dist.all_reduce(total)
sys.stdout.write(f"rank {rank} of {dist.get_world_size()} on {os.uname().nodename}: sum {total.item()}\n")
sys.stdout.flush()
dist.barrier()
dist.destroy_process_group()
