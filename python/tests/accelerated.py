"""Points for the tests of epsflow.accel and of HDBSCAN, and calls with and without epsflow beneath them."""

from __future__ import annotations

import numpy as np
import pytest

from epsflow import accel

try:
    import hdbscan
except ImportError:
    hdbscan = None

DEVICES = ("cpu", "gpu")
needs_hdbscan = pytest.mark.skipif(hdbscan is None, reason="hdbscan is not installed")


def blobs(seed: int, n: int = 300, d: int = 2) -> np.ndarray:
    random = np.random.default_rng(seed)
    centres = random.uniform(-4, 4, (3, d))
    dense = [random.normal(centre, spread, (n // 4, d)) for centre, spread in zip(centres, (0.1, 0.3, 0.6))]
    return random.permutation(np.concatenate([*dense, random.uniform(-5, 5, (n - 3 * (n // 4), d))]))


def last_call():
    return accel.report()[-1]


def both(call):
    """Returns the results of a call without and with epsflow, and requires that epsflow did the work."""
    original = call()
    with accel.enable(min_rows=0):
        found = call()
    assert last_call().device != "original", last_call().reason
    return original, found


def check_same(names, fit):
    """Returns what both() returns for a fit, and requires that the attributes with these names are the same."""
    original, found = both(fit)
    for name in names:
        a, b = getattr(original, name), getattr(found, name)
        assert np.array_equal(a, b), name
        assert a.dtype == b.dtype, name
    return original, found
