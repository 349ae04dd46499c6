# SPDX-License-Identifier: Apache-2.0
"""The Python side of distinit: distinit.environment, a drop-in for os.environ that tracks what is set through it."""
