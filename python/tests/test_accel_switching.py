"""Calls that epsflow.accel leaves to the original, and how it is switched on and off."""

import os
import sys
import textwrap

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn.cluster import DBSCAN, HDBSCAN
from sklearn.metrics import adjusted_rand_score

from accelerated import DEVICES, blobs, check_same, hdbscan, last_call, needs_hdbscan
from checks import run_python
from epsflow import accel
from epsflow.accel import _calls, _dbscan, _trees


# ---------------------------------------------------------------- errors and calls that are left to the original


def model_of_root(X):
    return hdbscan.HDBSCAN(20, allow_single_cluster=True, prediction_data=True).fit(X)


def bad_calls():
    X = blobs(12, n=40)
    gap = X.copy()
    gap[0, 0] = np.nan
    return {
        "eps": lambda: DBSCAN(eps=-1).fit(X),
        "min_samples": lambda: DBSCAN(min_samples=0).fit(X),
        "NaN": lambda: DBSCAN().fit(gap),
        "metric": lambda: DBSCAN(metric="nope").fit(X),
        "metric of a tree": lambda: DBSCAN(metric="cosine", algorithm="kd_tree").fit(X),
        "metric of epsflow": lambda: DBSCAN(metric="greatcircle").fit(X),
        "parameter of epsflow": lambda: DBSCAN(metric_params={"scale": [1, 2]}).fit(X),
        "no rows": lambda: DBSCAN().fit(X[:0]),
        "one dimension": lambda: DBSCAN().fit(X[:, 0]),
        "text": lambda: DBSCAN().fit("abc"),
        "complex": lambda: DBSCAN().fit(X.astype(complex)),
        "weights": lambda: DBSCAN().fit(X, sample_weight=[1, 2]),
        "distances below 0": lambda: DBSCAN(metric="precomputed").fit(np.full((9, 9), -1.0)),
        "min_cluster_size": lambda: HDBSCAN(1, copy=True).fit(X),
        "min_samples of HDBSCAN": lambda: HDBSCAN(min_samples=41, copy=True).fit(X),
        "distances that are not square": lambda: HDBSCAN(metric="precomputed", copy=True).fit(X),
        **({
            "hdbscan min_cluster_size": lambda: hdbscan.HDBSCAN(1).fit(X),
            "hdbscan metric": lambda: hdbscan.HDBSCAN(metric="nope").fit(X),
            "hdbscan without prediction data": lambda: hdbscan.approximate_predict(hdbscan.HDBSCAN().fit(X), X),
            "hdbscan other columns": lambda: hdbscan.approximate_predict(
                hdbscan.HDBSCAN(prediction_data=True).fit(X), X[:, :1]
            ),
            "hdbscan vector of a root": lambda: hdbscan.membership_vector(model_of_root(X), X),
            "hdbscan vectors of a root": lambda: hdbscan.all_points_membership_vectors(model_of_root(X)),
        } if hdbscan else {}),
    }


@pytest.mark.parametrize("name", bad_calls())
def test_errors_are_the_original_ones(name):
    def error():
        with pytest.raises(Exception) as raised:
            bad_calls()[name]()
        return type(raised.value), str(raised.value)

    original = error()
    with accel.enable(min_rows=0):
        assert error() == original


def test_a_metric_that_epsflow_lacks_is_left_to_the_original():
    X = blobs(13, n=80)
    function = lambda a, b: np.abs(a - b).sum()  # noqa: E731
    with accel.enable(min_rows=0):
        found = DBSCAN(eps=0.4, metric=function).fit(X).labels_
        assert last_call().device == "original" and "metric=<function" in last_call().reason
        assert np.array_equal(found, DBSCAN(eps=0.4, metric="manhattan").fit(X).labels_)
        HDBSCAN(5, alpha=2.0, copy=True).fit(X)
        assert "alpha=2.0" in last_call().reason


def test_unchecked_parameters_of_scikit_learn():
    X = blobs(20)
    for options in ({"max_cluster_size": 0}, {"min_cluster_size": 8.0}, {"cluster_selection_epsilon": -1.0}):
        parameters = {"min_cluster_size": 8, "min_samples": 2, "copy": True, **options}
        with sklearn.config_context(skip_parameter_validation=True):
            check_same(("labels_",), lambda: HDBSCAN(**parameters).fit(X))


@needs_hdbscan
def test_a_cache_of_the_original_stays(tmp_path):
    joblib = pytest.importorskip("joblib")
    X = blobs(21)

    def entries():
        return sorted(path.name for path in tmp_path.rglob("*") if path.is_dir())

    hdbscan.HDBSCAN(6, memory=joblib.Memory(tmp_path, verbose=0)).fit(X)
    before = entries()
    with accel.enable(min_rows=0):
        model = hdbscan.HDBSCAN(6, memory=joblib.Memory(tmp_path, verbose=0)).fit(X)
        again = hdbscan.HDBSCAN(6, memory=joblib.Memory(tmp_path, verbose=0)).fit(X)
    assert set(before) < set(entries())
    assert adjusted_rand_score(model.labels_, again.labels_) > 0.9


def test_data_of_a_class_that_only_the_original_knows():
    class Plain:
        def __array__(self, dtype=None, copy=None):
            return blobs(22)

    class Chunks(Plain):
        shape = (float("nan"), 2)

        def __len__(self):
            raise ValueError("unknown")

    with accel.enable(min_rows=0):
        for data in (Chunks(), Plain()):
            try:
                DBSCAN(eps=0.4).fit(data)
            except ValueError as error:  # as of scikit-learn
                assert "unknown" not in str(error)


def test_an_error_of_epsflow_leaves_the_call_to_the_original(monkeypatch):
    X = blobs(14)
    expected = DBSCAN(eps=0.4).fit(X).labels_, HDBSCAN(5, copy=True).fit(X).labels_

    def fail(*given, **named):
        raise MemoryError("no room")

    monkeypatch.setattr(_dbscan, "_made_for", fail)
    monkeypatch.setattr(_trees, "hierarchy_of", fail)
    with accel.enable(min_rows=0):
        assert np.array_equal(DBSCAN(eps=0.4).fit(X).labels_, expected[0])
        assert last_call() == (*last_call()[:3], "original", last_call().seconds, "MemoryError: no room")
        assert np.array_equal(HDBSCAN(5, copy=True).fit(X).labels_, expected[1])
        assert last_call().reason == "MemoryError: no room"


def test_an_interrupt_is_not_caught(monkeypatch):
    def interrupted(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(_dbscan, "_made_for", interrupted)
    with accel.enable(min_rows=0):
        with pytest.raises(KeyboardInterrupt):
            DBSCAN().fit(blobs(14))
        assert _calls.current() is None


def test_few_rows_are_left_to_the_original():
    with accel.enable():
        DBSCAN().fit(blobs(15, n=40))
        assert last_call().reason == "fewer than 50 rows"
        DBSCAN().fit(blobs(15, n=60))
        assert last_call().device in DEVICES


# ---------------------------------------------------------------- on and off


def originals():
    import sklearn.cluster._dbscan as a
    import sklearn.cluster._hdbscan.hdbscan as b

    found = [a.DBSCAN.fit, b.HDBSCAN.fit, b._hdbscan_brute, b._hdbscan_prims, b.tree_to_labels]
    if hdbscan:
        found += [hdbscan.HDBSCAN.fit, hdbscan.hdbscan_._tree_to_labels, hdbscan.approximate_predict.__code__]
    return found


def test_nothing_lingers():
    before, finders = originals(), list(sys.meta_path)
    accel.enable()
    accel.enable(min_rows=3)
    with accel.enable(min_rows=0):
        with accel.enable():
            pass
        assert all(a is not b for a, b in zip(originals(), before))
        DBSCAN().fit(blobs(16, n=20))
        assert last_call().device in DEVICES  # min_rows is 0 again
    DBSCAN().fit(blobs(16, n=20))
    assert last_call().device in DEVICES  # and 3 here
    assert os.environ["EPSFLOW_ACCEL"] == "min_rows=3"
    accel.disable()
    accel.disable()
    assert originals() == before and sys.meta_path == finders
    assert "EPSFLOW_ACCEL" not in os.environ


def test_finders_that_others_restore():
    before, finders = originals(), list(sys.meta_path)
    accel.enable()
    sys.meta_path[:] = finders
    accel.disable()
    assert originals() == before and sys.meta_path == finders


LOADERS = """
    import importlib.machinery, sys

    class Shared:  # a loader of several modules, without a dictionary
        __slots__ = ()

        def create_module(self, spec):
            return None

        def exec_module(self, module):
            module.__spec__.loader_state.exec_module(module)

    class Finder:
        def find_spec(self, name, path, target=None):
            if not name.startswith("sklearn.cluster"):
                return None
            for finder in sys.meta_path:  # it asks all others
                spec = None if finder is self else finder.find_spec(name, path, target)
                if spec is not None and spec.loader.__class__ is importlib.machinery.SourceFileLoader:
                    spec.loader, spec.loader_state = SHARED, spec.loader
                if spec is not None:
                    return spec

    SHARED = Shared()
    import epsflow.accel
    epsflow.accel.enable(min_rows=0)
    sys.meta_path.insert({index}, Finder())
    from sklearn.cluster import DBSCAN, HDBSCAN
    import numpy as np
    X = np.random.default_rng(0).normal(size=(200, 2))
    HDBSCAN(copy=True).fit(X)
    print(DBSCAN(eps=0.3).fit(X).labels_.max(), [call.device for call in epsflow.accel.report()])
"""


@pytest.mark.parametrize("index", [0, 1])
def test_finders_and_loaders_of_others(index):
    done = run_python("-c", textwrap.dedent(LOADERS.replace("{index}", str(index))))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("'cpu'") + done.stdout.count("'gpu'") == 2


def test_disabled_in_the_middle_of_a_fit(monkeypatch):
    made = _dbscan._made_for

    def off(*given):
        accel.disable()
        return made(*given)

    monkeypatch.setattr(_dbscan, "_made_for", off)
    X = blobs(17)
    accel.enable(min_rows=0)
    assert np.array_equal(DBSCAN(eps=0.4).fit(X).labels_, DBSCAN(eps=0.4).fit(X).labels_)
    assert "epsflow" not in DBSCAN.fit.__globals__["__name__"]


@pytest.mark.parametrize("wrong", [-1, 1.5, "many"])
def test_min_rows_is_a_whole_number(wrong):
    with pytest.raises((ValueError, TypeError), match="min_rows"):
        accel.enable(min_rows=wrong)
    assert "EPSFLOW_ACCEL" not in os.environ


def test_the_report_is_a_table():
    with accel.enable(min_rows=0):
        DBSCAN().fit(blobs(18))
    lines = str(accel.report()).splitlines()
    assert lines[0].split() == ["function", "rows", "columns", "device", "seconds", "reason"]
    assert lines[-1].split()[:3] == ["sklearn.cluster.DBSCAN.fit", "300", "2"]


def test_the_extension_of_ipython():
    accel.load_ipython_extension(None)
    DBSCAN().fit(blobs(18))
    assert last_call().device in DEVICES
    accel.unload_ipython_extension(None)
    assert "EPSFLOW_ACCEL" not in os.environ
