"""Runs a program with epsflow beneath it: python -m epsflow.accel [--report] [--min-rows N] SCRIPT … | -m MODULE …"""

from __future__ import annotations

import sys

from ._program import main

if __name__ == "__main__":
    main(sys.argv[1:])
