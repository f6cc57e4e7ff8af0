"""test_ranks.py runs this program in several processes: python ranks_program.py NAME"""

import os
import re
import signal
import sys

import numpy as np
import pytest
from mpi4py import MPI

import epsflow

COMM = MPI.COMM_WORLD


def points(n=6000):
    rng = np.random.default_rng(5)
    clumps = [rng.normal(centre, 0.3, (n // 4, 2)) for centre in ((0, 0), (2, 1), (5, 5))]
    X = np.concatenate([*clumps, rng.uniform(-2, 7, (n // 4, 2))])
    rng.shuffle(X)
    return X


def share(array, cuts=None):
    if cuts is None:
        cuts = np.linspace(0, len(array), COMM.size + 1).astype(int)
    return array[cuts[COMM.rank] : cuts[COMM.rank + 1]]


def same(X, *asked, cuts=None, sample_weight=None, **options):
    weights = None if sample_weight is None else share(sample_weight, cuts)
    found = epsflow.sweep(share(X, cuts), *asked, sample_weight=weights, comm=COMM, **options)
    whole = epsflow.sweep(X, *asked, sample_weight=sample_weight, backend="cpu", **options)
    assert len(found) == len(whole)
    for mine, all_of_it in zip(found, whole):
        assert (mine.eps, mine.min_samples) == (all_of_it.eps, all_of_it.min_samples)
        counts = ("n_clusters", "n_noise", "n_core", "n_border", "largest")
        assert [getattr(mine, name) for name in counts] == [getattr(all_of_it, name) for name in counts]
        if options.get("keep") == "summary":
            continue
        np.testing.assert_array_equal(mine.labels, share(all_of_it.labels, cuts))
        if options.get("core"):
            np.testing.assert_array_equal(mine.core, share(all_of_it.core, cuts))
    return found, whole


def labels():
    X = points()
    same(X, [0.05, 0.1, 0.2], [3, 5, 10], core=True)
    same(X.astype(np.float32), 0.1, 5)
    same(X, 0.1, [2, 4], keep="summary")
    same(X, 0.1, 4, sample_weight=np.random.default_rng(1).uniform(0.5, 2, len(X)))
    same(np.radians(X), 0.002, 5, metric="haversine")
    # The last process has all points.
    same(X, 0.1, 5, cuts=[0] * COMM.size + [len(X)])
    same(X[:2], 0.1, 1)


def lineage():
    found, whole = same(points(), [0.05, 0.1, 0.2], [3, 5], lineage=True)
    assert (found.lineage is None) == (COMM.rank > 0)
    if COMM.rank == 0:
        assert repr(found.lineage) == repr(whole.lineage)
        columns, expected = (dict(made.lineage.clusters) for made in (found, whole))
        assert list(columns) == list(expected)
        for name in columns:
            np.testing.assert_array_equal(columns[name], expected[name])


def raises(error, words, *arguments, **options):
    with pytest.raises(error, match=re.escape(words) or None) as raised:
        epsflow.sweep(*arguments, comm=COMM, **options)
    assert raised.type is error


def errors():
    mine = share(points())
    last = COMM.rank == COMM.size - 1
    bad = mine.copy()
    if last:
        bad[3, 1] = np.nan
    told = f"rank {COMM.size - 1}: ValueError: row 3, column 1 is nan"
    raises(ValueError if last else RuntimeError, told[told.index("row") :] if last else told, bad, 0.1, 5)
    raises(TypeError if last else RuntimeError, "X is a string", "none" if last else mine, 0.1, 5)
    if COMM.size > 1:
        raises(ValueError, "the ranks differ in eps or min_samples", mine, 0.2 if last else 0.1, 5)
        raises(ValueError, "the ranks differ in lineage", mine, 0.1, 5, lineage=last)
        raises(
            ValueError, "the ranks differ in sample_weight and core", mine, 0.1, 5, core=last,
            sample_weight=2 if last else None,
        )
    raises(ValueError, "eps", mine, -1, 5)
    raises(ValueError, "backend='tpu' is none of", mine, 0.1, 5, backend="tpu")
    raises(TypeError, "gpus beside backend='cpu'", mine, 0.1, 5, backend="cpu", gpus="all")
    # If one process stops, the others receive an error, and none waits forever.
    raises(
        KeyboardInterrupt if last else RuntimeError, "" if last else f"rank {COMM.size - 1}: KeyboardInterrupt",
        Interrupted(mine) if last else mine, 0.1, 5,
    )
    raises(TypeError if last else RuntimeError, "progress is 'bar'", mine, 0.1, 5, progress="bar" if last else None)
    raises(ValueError, "comm beside metric='precomputed'", mine, 0.1, 5, metric="precomputed")
    raises(TypeError, "comm beside engine", mine, 0.1, 5, backend="gpu")
    raises(ValueError, "leave output out", mine, 0.1, 5, output="torch")
    raises(ValueError, "strategy='table' is for one process", mine, 0.1, 5, strategy="table")
    # The next sweep works.
    found, _ = same(points(), 0.1, 5)
    for what in (lambda: found.save("nowhere"), lambda: found.report("nowhere.html"), lambda: found[0].catalog):
        with pytest.raises(ValueError, match="takes all points"):
            what()


class Interrupted:
    """Points whose reading raises KeyboardInterrupt."""

    def __init__(self, points):
        self._points = points

    def __array__(self, dtype=None, copy=None):
        os.kill(os.getpid(), signal.SIGINT)
        return np.asarray(self._points, dtype)


if __name__ == "__main__":
    {"labels": labels, "lineage": lineage, "errors": errors}[sys.argv[1]]()
