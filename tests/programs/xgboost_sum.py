# SPDX-License-Identifier: Apache-2.0
"""XGBoost's workers meet at a tracker on the first, by what distinit derives alone, and add up their numbers."""

import os
import socket

import numpy
from xgboost import collective
from xgboost.tracker import RabitTracker

task, workers = int(os.environ["DMLC_TASK_ID"]), int(os.environ["DMLC_NUM_WORKER"])
tracker = None
if task == 0:
    address = socket.gethostbyname(os.environ["DMLC_TRACKER_URI"])
    tracker = RabitTracker(address, workers, int(os.environ["DMLC_TRACKER_PORT"]), sortby="task")
    tracker.start(workers)
with collective.CommunicatorContext():
    total = collective.allreduce(numpy.array([2.0**task]), collective.Op.SUM)
    first = collective.broadcast(socket.gethostname(), 0)
    print(f"worker {collective.get_rank()} of {collective.get_world_size()}, task {task} on {socket.gethostname()}: "
          f"sum {int(total[0])}, first on {first}", flush=True)
if tracker:
    tracker.join()
