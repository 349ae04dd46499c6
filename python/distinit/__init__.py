# SPDX-License-Identifier: Apache-2.0
"""distinit for Python: where the program is, and distinit.environment, a drop-in for os.environ that tracks variables."""

import os
import shutil
import sysconfig

__version__ = "0.2.0"


def path() -> str:
    """The program that was installed with this module, else the first in PATH: for subprocess.run([distinit.path(), ...])."""
    beside = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin")  # pip install --target
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user"), beside]
    for folder in folders:
        program = os.path.join(folder, "distinit")
        if os.access(program, os.X_OK):
            return program
    found = shutil.which("distinit")
    if not found:
        raise FileNotFoundError(f"the program distinit is neither in {', '.join(folders)} nor in PATH: pip install distinit")
    return found
