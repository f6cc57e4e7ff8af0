"""Runs a program with epsflow beneath it."""

from __future__ import annotations

import io
import os
import runpy
import sys
import zipfile

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
            rows = given.pop(0)
            if not rows.isdecimal():
                sys.exit(f"{_USAGE}\nepsflow.accel: --min-rows is {rows!r}; it is a whole number")
            min_rows = int(rows)
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


def _run(program: list[str], is_module: bool) -> None:
    """Runs a program as `python` would. program: its name and arguments."""
    sys.argv = program
    path = program[0]
    if is_module:
        runpy.run_module(path, run_name="__main__", alter_sys=True)
    elif not os.path.exists(path):
        sys.exit(f"epsflow.accel: there is no file {path!r}")
    elif os.path.isdir(path) or zipfile.is_zipfile(path):
        runpy.run_path(path, run_name="__main__")
    else:
        if not getattr(sys.flags, "safe_path", False):
            sys.path[0] = os.path.dirname(os.path.realpath(path))
        # In the module __main__ itself, where threads and functions at exit find the names of the program afterwards.
        main = sys.modules["__main__"]
        for name in [name for name in vars(main) if not name.startswith("__")]:
            delattr(main, name)
        main.__file__, main.__spec__, main.__package__ = os.path.abspath(path), None, None
        with io.open_code(os.path.abspath(path)) as file:
            code = compile(file.read(), main.__file__, "exec", dont_inherit=True)
        exec(code, vars(main))
