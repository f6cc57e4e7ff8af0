"""Runs scikit-learn's tests of DBSCAN and HDBSCAN, and its estimator checks, on the estimators of epsflow.

The tests belong to the installed scikit-learn. REFUSED lists by name what epsflow refuses; these must fail.
"""

from __future__ import annotations

import importlib.metadata

import pytest

import epsflow

theirs = pytest.importorskip("sklearn.cluster.tests.test_dbscan")
estimator_checks = pytest.importorskip("sklearn.utils.estimator_checks")

_VERSION = tuple(int(part) for part in importlib.metadata.version("scikit-learn").split(".")[:2])
REFUSED = {"test_dbscan_callable": "a metric that is a function would be called for every pair"}
if _VERSION >= (1, 9):
    REFUSED["test_hdbscan_default_copy_warning"] = "the default of copy does not change"

# Only the functions of this module look these names up.
theirs.DBSCAN = epsflow.DBSCAN
theirs.dbscan = epsflow.dbscan
trees = pytest.importorskip("sklearn.cluster.tests.test_hdbscan")
trees.HDBSCAN = epsflow.HDBSCAN
for module in (theirs, trees):
    globals().update({name: test for name, test in vars(module).items() if name.startswith("test_")})


@pytest.fixture
def global_random_seed() -> int:
    """Replaces the fixture of scikit-learn's conftest.py."""
    return 42


@pytest.mark.skipif(_VERSION < (1, 9), reason="earlier ones have fewer tests")
def test_that_refusals_name_tests():
    assert [name for name in REFUSED if name.split("[")[0] not in globals()] == []


@estimator_checks.parametrize_with_checks([epsflow.DBSCAN(), epsflow.AutoDBSCAN(), epsflow.HDBSCAN()])
def test_estimator_check(estimator, check):
    check(estimator)
