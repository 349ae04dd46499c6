#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exits with 1 if PyTorch was built without libuv, as Debian 13's is. Its torchrun then cannot run: its store, and that of its
workers, ask for libuv whatever USE_LIBUV says. init_process_group() alone works with USE_LIBUV=0."""

import sys

import torch.distributed as dist

try:
    dist.TCPStore("127.0.0.1", 0, 1, True, use_libuv=True)
except TypeError:
    pass  # so old that it has no libuv to ask for
except (RuntimeError, ValueError) as error:
    if "libuv" not in str(error):
        raise
    sys.exit(1)
