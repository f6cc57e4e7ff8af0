"""Marks the tests that a module lists in REFUSED as expected failures. If such a test passes, it fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

# Tests have few points, so they would run on the CPU. If there is a GPU, they run there.
os.environ.setdefault("EPSFLOW_BACKEND", "gpu")
os.environ["MPLBACKEND"] = "agg"  # pictures are not shown


def pytest_collection_modifyitems(items):
    for item in items:
        refused = getattr(getattr(item, "module", None), "REFUSED", {})
        reason = refused.get(item.name) or refused.get(getattr(item, "originalname", None))
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.fixture(autouse=True)
def nothing_stays():
    """Closes the pictures of a test, and puts back what epsflow.accel replaced in it."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    if "epsflow.accel" in sys.modules:
        sys.modules["epsflow.accel"].disable()


@pytest.fixture
def points() -> np.ndarray:
    return np.random.default_rng(5).uniform(size=(60, 2))


@pytest.fixture
def program():
    """Returns a function that runs the program. If it is not in PATH, EPSFLOW_PROGRAM gives its path."""
    found = os.environ.get("EPSFLOW_PROGRAM") or shutil.which("epsflow")
    if not found:
        pytest.skip("the program epsflow is not there; EPSFLOW_PROGRAM may name it")

    def run(*arguments: object, **more: object) -> subprocess.CompletedProcess[str]:
        command = [found, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **more)

    return run
