#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A workload of the demo: one process per node connects, and they add up their squares.

Rank 0 listens on MASTER_ADDR:MASTER_PORT. The others connect to it, each from its address in
TF_CONFIG. Each sends a number, gets the sum back, and checks it. All information on the cluster comes
from the environment.
"""

import json
import os
import socket
import sys
import time

PATIENCE_S = 30


def send(connection, number):
    connection.sendall(f"{number}\n".encode())


def receive(connection):
    with connection.makefile() as lines:
        return int(lines.readline())


def gather(master, others, own):
    """Rank 0: receive the numbers of all others, and send them the sum."""
    with socket.create_server(master, backlog=others) as server:
        connections = [server.accept()[0] for _ in range(others)]
    total = own + sum(receive(connection) for connection in connections)
    for connection in connections:
        send(connection, total)
        connection.close()
    return total


def contribute(master, address, own):
    """The other ranks: send the number, and receive the sum. Retry until rank 0 listens."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            with socket.create_connection(master, source_address=(address, 0)) as connection:
                send(connection, own)
                return receive(connection)
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def main():
    socket.setdefaulttimeout(PATIENCE_S)
    master = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
    rank, nnodes = int(os.environ["PET_NODE_RANK"]), int(os.environ["PET_NNODES"])
    config = json.loads(os.environ["TF_CONFIG"])
    workers = config["cluster"]["worker"]
    if len(workers) != nnodes or config["task"] != {"type": "worker", "index": rank}:
        sys.exit(f"rank {rank}: TF_CONFIG tells of another cluster: {os.environ['TF_CONFIG']}")
    address = workers[rank].rpartition(":")[0]

    own = (rank + 1) ** 2
    total = gather(master, nnodes - 1, own) if rank == 0 else contribute(master, address, own)
    expected = sum((i + 1) ** 2 for i in range(nnodes))
    if total != expected:
        sys.exit(f"rank {rank}: the sum of the squares is {total}, and should be {expected}")
    print(f"rank {rank} of {nnodes}, {address}: met at {master[0]}:{master[1]}, gave {own}, all together {total}")


if __name__ == "__main__":
    main()
