#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A workload of the demo: PyTorch's ranks connect by env://, and add up their squares."""

import datetime
import os
import sys

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=30))  # env:// is the default
    rank, world_size = dist.get_rank(), dist.get_world_size()
    total = torch.tensor([(rank + 1) ** 2])
    dist.all_reduce(total)
    dist.barrier()
    expected = sum((i + 1) ** 2 for i in range(world_size))
    if total.item() != expected:
        sys.exit(f"rank {rank}: the sum of the squares is {total.item()}, and should be {expected}")
    print(f"rank {rank} of {world_size}: all_reduce at {os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}, "
          f"gave {(rank + 1) ** 2}, all together {total.item()}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
