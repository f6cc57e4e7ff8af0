"""Checks that tests of many modules make: of errors, of tables, and of programs in other processes."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest


def check_refused(*cases):
    """Requires that each call raises its error, with a message in which its pattern is found."""
    for call, error, words in cases:
        with pytest.raises(error, match=words):
            call()
            pytest.fail(f"nothing was refused with '{words}'")


def check_equal(expected, *found):
    """Requires that all arrays equal the expected one."""
    for i, values in enumerate(found):
        np.testing.assert_array_equal(values, expected, err_msg=f"array {i}")


def check_attributes(found, expected, *names, fetched=np.asarray):
    """Requires that both objects have equal arrays under these names. Arrays found on a GPU are fetched first."""
    for name in names:
        np.testing.assert_array_equal(fetched(getattr(found, name)), getattr(expected, name), err_msg=name)


def columns(table) -> dict[str, np.ndarray]:
    """Returns the columns of a data frame or a structured array."""
    names = table.dtype.names if isinstance(table, np.ndarray) else table.columns
    return {name: np.asarray(table[name]) for name in names}


def check_same_tables(*pairs):
    """Requires of each pair of tables that they have the same columns, with equal values."""
    for found, expected in pairs:
        found, expected = columns(found), columns(expected)
        assert list(found) == list(expected)
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values, err_msg=name)


def run_python(*arguments, cwd=None, **variables) -> subprocess.CompletedProcess[str]:
    """Runs Python in another process, without EPSFLOW_ACCEL but with the given variables of the environment."""
    kept = {name: value for name, value in os.environ.items() if name != "EPSFLOW_ACCEL"}
    command, env = [sys.executable, *map(str, arguments)], {**kept, **variables}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd, env=env)
