"""Runs a program with epsflow beneath it: python -m epsflow.accel [--report] [--min-rows N] SCRIPT … | -m MODULE …"""

from __future__ import annotations

import os
import runpy
import sys
from typing import Optional

from . import enable, report

_USAGE = "usage: python -m epsflow.accel [--report] [--min-rows N] SCRIPT [ARGUMENT …] | -m MODULE [ARGUMENT …]"


def main(arguments: list[str]) -> None:
    reports, min_rows, given = False, None, list(arguments)
    while given and given[0].startswith("--"):
        option = given.pop(0)
        if option == "--help":
            print(f"{_USAGE}\n{_DETAILS}")
            return
        if option == "--report":
            reports = True
        elif option == "--min-rows" and given:
            min_rows = _as_rows(given.pop(0))
        else:
            sys.exit(f"{_USAGE}\nepsflow.accel: unknown option {option}")
    is_module = given[:1] == ["-m"]
    if is_module:
        given.pop(0)
    if not given or given[0].startswith("-"):
        sys.exit(f"{_USAGE}\nepsflow.accel: give the program to run")
    enable(min_rows=min_rows)
    try:
        _run(given, is_module)
    finally:
        if reports:
            print(report(), file=sys.stderr)


_DETAILS = """
Runs a Python program with the work of sklearn.cluster.DBSCAN, sklearn.cluster.HDBSCAN and the package hdbscan done by
epsflow. Calls that it does not serve are left to the originals.

  --report      list the calls at the end, on standard error: where each ran, and how long
  --min-rows N  leave fits of fewer rows to the originals (default: 50)"""


def _as_rows(text: str) -> int:
    if not text.isdecimal():
        sys.exit(f"{_USAGE}\nepsflow.accel: --min-rows is {text!r}; it is a whole number")
    return int(text)


def _run(program: list[str], is_module: bool) -> Optional[dict[str, object]]:
    """Runs a program as `python` would. program: its name and arguments."""
    sys.argv = program
    if is_module:
        return runpy.run_module(program[0], run_name="__main__", alter_sys=True)
    if not os.path.exists(program[0]):
        sys.exit(f"epsflow.accel: there is no file {program[0]!r}")
    sys.path[0] = os.path.dirname(os.path.abspath(program[0]))
    return runpy.run_path(program[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
