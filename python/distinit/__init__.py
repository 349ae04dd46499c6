# SPDX-License-Identifier: Apache-2.0
"""distinit for Python: distinit.environment, a drop-in for os.environ that tracks variables."""
