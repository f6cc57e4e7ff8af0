"""Points, and calls with and without epsflow beneath them, for the tests of epsflow.accel."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from epsflow import accel

try:
    import hdbscan
except ImportError:
    hdbscan = None

DEVICES = ("cpu", "gpu")
needs_hdbscan = pytest.mark.skipif(hdbscan is None, reason="hdbscan is not installed")


@pytest.fixture(autouse=True)
def originals_return():
    """Puts the originals back after each test of a module that imports this fixture."""
    yield
    accel.disable()


def blobs(seed: int, n: int = 300, d: int = 2) -> np.ndarray:
    random = np.random.default_rng(seed)
    centres = random.uniform(-4, 4, (3, d))
    dense = [random.normal(centre, spread, (n // 4, d)) for centre, spread in zip(centres, (0.1, 0.3, 0.6))]
    return random.permutation(np.concatenate([*dense, random.uniform(-5, 5, (n - 3 * (n // 4), d))]))


def both(call):
    """Returns the results of a call without and with epsflow, and requires that epsflow did the work."""
    original = call()
    with accel.enable(min_rows=0):
        found = call()
    last = accel.report()[-1]
    assert last.device != "original", last.reason
    return original, found


def check_same(original, found, names):
    for name in names:
        a, b = getattr(original, name), getattr(found, name)
        assert np.array_equal(a, b), name
        assert a.dtype == b.dtype, name


def last_call():
    return accel.report()[-1]


def run(*arguments, cwd=None, **more):
    clean = {name: value for name, value in os.environ.items() if name != "EPSFLOW_ACCEL"}
    return subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, env=clean, timeout=120, **more
    )
