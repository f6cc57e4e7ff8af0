"""Accelerates this process as the one that started it is. Imported by epsflow_accel.pth at the start of Python."""

import os

from ._patches import enable

_rows = os.environ.get("EPSFLOW_ACCEL", "")
enable(min_rows=int(_rows) if _rows.isdecimal() else None)
