# SPDX-License-Identifier: Apache-2.0
"""XGBoost's workers meet at a tracker on the first, by what distinit derives alone, and add up their numbers."""

import inspect
import os
import socket

import numpy
from xgboost import collective
from xgboost.tracker import RabitTracker

task, workers = int(os.environ["DMLC_TASK_ID"]), int(os.environ["DMLC_NUM_WORKER"])
port = int(os.environ["DMLC_TRACKER_PORT"])
tracker = None
# From 2.1 on, it does not read the variables itself, but takes them by their names, the port as a number; and its tracker has
# another signature.
newer = next(iter(inspect.signature(RabitTracker).parameters)) == "n_workers"
if task == 0:
    address = socket.gethostbyname(os.environ["DMLC_TRACKER_URI"])
    first_two = (workers, address) if newer else (address, workers)
    tracker = RabitTracker(*first_two, port, sortby="task")
    tracker.start(*() if newer else (workers,))
given = {name: os.environ[name] for name in ("DMLC_TRACKER_URI", "DMLC_TASK_ID")} | {"DMLC_TRACKER_PORT": port} if newer else {}
with collective.CommunicatorContext(**given):
    total = collective.allreduce(numpy.array([2.0**task]), collective.Op.SUM)
    first = collective.broadcast(socket.gethostname(), 0)
    print(f"worker {collective.get_rank()} of {collective.get_world_size()}, task {task} on {socket.gethostname()}: "
          f"sum {int(total[0])}, first on {first}", flush=True)
if tracker:
    (tracker.wait_for if newer else tracker.join)()
