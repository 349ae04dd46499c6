# SPDX-License-Identifier: Apache-2.0
"""python -m distinit: becomes the program."""

import os
import sys

from distinit import path

os.execv(path(), ["distinit", *sys.argv[1:]])
