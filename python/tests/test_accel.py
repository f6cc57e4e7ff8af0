"""Programs written for scikit-learn and hdbscan, with epsflow beneath them."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import sysconfig
import textwrap
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.cluster import DBSCAN, HDBSCAN, dbscan
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import epsflow
from epsflow import accel
from epsflow.accel import _calls, _dbscan, _trees

try:
    import hdbscan
except ImportError:
    hdbscan = None

DEVICES = ("cpu", "gpu")
needs_hdbscan = pytest.mark.skipif(hdbscan is None, reason="hdbscan is not installed")
starts_processes = pytest.mark.skipif(
    not os.path.exists(os.path.join(sysconfig.get_path("platlib"), "epsflow_accel.pth")),
    reason="epsflow is not installed, so that processes do not find it when they start",
)


@pytest.fixture(autouse=True)
def originals_return():
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


# ---------------------------------------------------------------- the same results


DBSCAN_RESULTS = ("labels_", "core_sample_indices_", "components_")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("weighted", [False, True])
def test_dbscan_gives_the_arrays_of_scikit_learn(dtype, weighted):
    for seed in range(10):
        X = blobs(seed, d=1 + seed % 5)
        X = (10 * X).astype(dtype)
        weights = np.random.default_rng(seed).uniform(-1, 3, len(X)) if weighted else None
        a, b = both(lambda: DBSCAN(eps=3.1, min_samples=6).fit(X, sample_weight=weights))
        check_same(a, b, DBSCAN_RESULTS)
        assert a.n_features_in_ == b.n_features_in_
        assert type(b) is DBSCAN


@pytest.mark.parametrize(
    ("metric", "more"),
    [
        ("manhattan", {}), ("chebyshev", {}), ("cosine", {}), ("l2", {}), ("minkowski", {"p": 3}),
        ("minkowski", {"metric_params": {"p": 1.5}}),
    ],
)
def test_dbscan_of_other_metrics(metric, more):
    X = blobs(1, d=3)
    a, b = both(lambda: DBSCAN(eps=0.02 if metric == "cosine" else 0.7, min_samples=5, metric=metric, **more).fit(X))
    check_same(a, b, DBSCAN_RESULTS)


def test_dbscan_of_angles():
    X = np.radians(np.random.default_rng(0).uniform([-80, -170], [80, 170], (400, 2)))
    a, b = both(lambda: DBSCAN(eps=0.1, min_samples=4, metric="haversine").fit(X))
    check_same(a, b, DBSCAN_RESULTS)


def test_haversine_takes_any_angles_as_that_of_scikit_learn():
    for seed in range(5):
        X = np.random.default_rng(seed).uniform([-9, -20], [9, 20], (300, 2))
        a, b = both(lambda: DBSCAN(eps=0.15, min_samples=4, metric="haversine").fit(X))
        check_same(a, b, DBSCAN_RESULTS)
        a, b = both(lambda: HDBSCAN(5, min_samples=2, metric="haversine", copy=True).fit(X))
        check_same(a, b, ("labels_",))


def test_dbscan_of_distances_dense_and_sparse():
    X = blobs(2)
    for table in (pairwise_distances(X), kneighbors_graph(X, 30, mode="distance")):
        a, b = both(lambda: DBSCAN(eps=0.4, min_samples=5, metric="precomputed").fit(table))
        check_same(a, b, ("labels_", "core_sample_indices_"))


def test_dbscan_of_sparse_points_and_of_a_table():
    pd = pytest.importorskip("pandas")
    X = blobs(3)
    from scipy.sparse import csr_matrix

    a, b = both(lambda: DBSCAN(eps=0.4).fit(csr_matrix(X)))
    check_same(a, b, ("labels_", "core_sample_indices_"))
    assert (a.components_ != b.components_).nnz == 0
    table = pd.DataFrame(X, columns=["a", "b"])
    a, b = both(lambda: DBSCAN(eps=0.4).fit(table))
    check_same(a, b, (*DBSCAN_RESULTS, "feature_names_in_"))


def test_dbscan_without_core_samples():
    a, b = both(lambda: DBSCAN(eps=1e-9).fit(blobs(4)))
    check_same(a, b, DBSCAN_RESULTS)


def test_the_function_dbscan():
    a, b = both(lambda: dbscan(blobs(5), eps=0.4, min_samples=5))
    assert np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1])


@pytest.mark.parametrize("min_samples", [1, 2])
@pytest.mark.parametrize("method", ["eom", "leaf"])
def test_hdbscan_gives_the_labels_of_scikit_learn_without_ties(min_samples, method):
    """Mutual reachability distances tie if min_samples is above 2: then two samples may share a core distance."""
    for seed in range(25):
        X = blobs(seed, n=100 + 17 * seed, d=1 + seed % 4)
        parameters = {"min_samples": min_samples, "cluster_selection_method": method, "copy": True}
        a, b = both(lambda: HDBSCAN(4 + seed % 9, **parameters).fit(X))
        check_same(a, b, ("labels_",))
        assert np.allclose(a.probabilities_, b.probabilities_, rtol=1e-12)
        for name in a._single_linkage_tree_.dtype.names:
            assert np.allclose(a._single_linkage_tree_[name], b._single_linkage_tree_[name], rtol=1e-12), name
        assert np.array_equal(a.dbscan_clustering(0.3), b.dbscan_clustering(0.3))


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine", "precomputed"])
def test_hdbscan_of_other_metrics(metric):
    X = blobs(6, d=3)
    X = pairwise_distances(X) if metric == "precomputed" else X
    a, b = both(lambda: HDBSCAN(8, min_samples=2, metric=metric, copy=True).fit(X))
    check_same(a, b, ("labels_",))


def test_hdbscan_with_centers():
    a, b = both(lambda: HDBSCAN(8, min_samples=2, store_centers="both", copy=True).fit(blobs(7)))
    check_same(a, b, ("labels_", "medoids_"))
    assert np.allclose(a.centroids_, b.centroids_)


def test_hdbscan_with_samples_that_are_not_finite():
    X = blobs(7)
    X[3] = np.nan
    X[8, 1] = np.inf
    a, b = both(lambda: HDBSCAN(8, min_samples=2, copy=True).fit(X))
    check_same(a, b, ("labels_",))
    assert np.allclose(a.probabilities_, b.probabilities_, equal_nan=True)


def test_hdbscan_does_not_depend_on_the_order_of_rows_where_distances_tie():
    X = np.round(blobs(8, n=400), 1)
    with accel.enable(min_rows=0):
        labels = HDBSCAN(10, copy=True).fit(X).labels_
        for seed in range(20):
            order = np.random.default_rng(seed).permutation(len(X))
            again = np.empty_like(labels)
            again[order] = HDBSCAN(10, copy=True).fit(X[order]).labels_
            assert adjusted_rand_score(labels, again) == 1
            assert np.array_equal(labels < 0, again < 0)


@needs_hdbscan
@pytest.mark.parametrize(
    "options",
    [
        {}, {"cluster_selection_epsilon": 0.2}, {"max_cluster_size": 60}, {"cluster_selection_method": "leaf"},
        {"max_cluster_size": 60, "cluster_selection_epsilon": 0.2},
    ],
)
def test_the_package_hdbscan_without_ties(options):
    for seed in range(10):
        X = blobs(seed, d=1 + seed % 4)

        def fitted():
            return hdbscan.HDBSCAN(
                6, min_samples=1, algorithm="prims_kdtree", gen_min_span_tree=True, prediction_data=True, **options
            ).fit(X)

        a, b = both(fitted)
        check_same(a, b, ("labels_",))
        for name in ("probabilities_", "outlier_scores_", "relative_validity_"):
            assert np.allclose(getattr(a, name), getattr(b, name), rtol=1e-9), name
        # hdbscan adds the stabilities of merged clusters in float32.
        tolerance = 1e-6 if "cluster_selection_epsilon" in options else 1e-9
        assert np.allclose(a.cluster_persistence_, b.cluster_persistence_, rtol=tolerance)
        for tree in ("_condensed_tree", "_single_linkage_tree"):
            x, y = getattr(a, tree), getattr(b, tree)
            assert x.dtype == y.dtype and x.shape == y.shape
            for name in x.dtype.names or [slice(None)]:
                assert np.allclose(x[name], y[name], rtol=1e-9), (tree, name)
        assert len(b.exemplars_) == len(a.exemplars_)
        boruvka = hdbscan.HDBSCAN(6, min_samples=1, approx_min_span_tree=False, **options).fit(X)
        assert adjusted_rand_score(boruvka.labels_, b.labels_) == 1  # it numbers clusters in another order


@needs_hdbscan
def test_a_split_of_three_parts_is_two_splits_of_the_package_hdbscan():
    X = np.concatenate([np.arange(10.0), 20 + np.arange(10.0), 40 + np.arange(10.0)])[:, None]
    with accel.enable(min_rows=0):
        model = hdbscan.HDBSCAN(5, min_samples=1).fit(X)
    assert adjusted_rand_score(model.labels_, np.repeat([0, 1, 2], 10)) == 1
    parents = model.condensed_tree_.to_pandas().query("child_size > 1").groupby("parent").size()
    assert list(parents) == [2, 2]


@needs_hdbscan
def test_predictions_of_the_package_hdbscan_are_its_own():
    for seed in range(8):
        X = blobs(seed, d=1 + seed % 3)
        new = np.random.default_rng(seed).normal(0, 3, (100, X.shape[1]))
        model = hdbscan.HDBSCAN(6, min_samples=4, prediction_data=True).fit(X)
        a, b = both(lambda: hdbscan.approximate_predict(model, new, return_connecting_points=True))
        for x, y in zip(a, b):
            assert np.array_equal(x, y) and x.dtype == y.dtype
        a, b = both(lambda: hdbscan.membership_vector(model, new))
        assert np.allclose(a, b, rtol=1e-9, atol=1e-12)
        a, b = both(lambda: hdbscan.all_points_membership_vectors(model))
        assert np.allclose(a, b, rtol=1e-9, atol=1e-12)


@needs_hdbscan
def test_names_that_other_modules_imported_and_models_under_acceleration():
    from hdbscan import approximate_predict  # a name of its own

    X = blobs(9)
    with accel.enable(min_rows=0):
        model = hdbscan.HDBSCAN(6, prediction_data=True).fit(X)
        approximate_predict(model, X[:5])
        assert last_call().function == "hdbscan.approximate_predict"
    signature = approximate_predict.__code__.co_varnames[:3]
    assert signature == ("clusterer", "points_to_predict", "return_connecting_points")
    calls = len(accel.report())
    approximate_predict(model, X[:5])
    assert len(accel.report()) == calls


@needs_hdbscan
def test_branches_are_left_to_the_original():
    with accel.enable(min_rows=0):
        hdbscan.HDBSCAN(6, branch_detection_data=True).fit(blobs(9))
    assert last_call().device == "original" and "branches" in last_call().reason


@pytest.mark.skipif("gpu" not in epsflow.backends(), reason="no GPU can be used")
@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_arrays_on_a_gpu(library):
    module = pytest.importorskip(library)
    X = blobs(19, n=5000)
    on_gpu = module.asarray(X) if library == "cupy" else module.asarray(X).cuda()
    with accel.enable():
        model = DBSCAN(eps=0.1).fit(on_gpu)
        assert last_call().device == "gpu"
        assert type(model.labels_) is type(on_gpu)
        tree = HDBSCAN(20, min_samples=2, copy=True).fit(on_gpu)
        assert last_call().device == "gpu"
    assert np.array_equal(np.asarray(model.labels_.tolist()), DBSCAN(eps=0.1).fit(X).labels_)
    assert np.array_equal(tree.labels_, HDBSCAN(20, min_samples=2, copy=True).fit(X).labels_)


# ---------------------------------------------------------------- objects


def test_an_estimator_is_the_original_one():
    X = blobs(10)
    with accel.enable(min_rows=0):
        model = DBSCAN(eps=0.4)
        assert repr(model) == "DBSCAN(eps=0.4)"
        assert isinstance(clone(model).set_params(eps=0.3), DBSCAN)
        labels = make_pipeline(StandardScaler(), DBSCAN(eps=0.2)).fit_predict(X)
        search = GridSearchCV(
            DBSCAN(), {"eps": [0.2, 0.4]}, scoring=lambda model, X, y=None: len(set(model.fit_predict(X))), cv=2
        ).fit(X)
    assert np.array_equal(labels, DBSCAN(eps=0.2).fit_predict(StandardScaler().fit_transform(X)))
    assert search.best_params_ in ({"eps": 0.2}, {"eps": 0.4})


def test_a_subclass_is_accelerated_too():
    class Named(DBSCAN):
        def fit(self, X, y=None, sample_weight=None):
            self.name_ = "own"
            return super().fit(X, y, sample_weight)

    with accel.enable(min_rows=0):
        model = Named(eps=0.4).fit(blobs(10))
    assert model.name_ == "own" and last_call().device in DEVICES


@pytest.mark.parametrize("write", [pickle.dumps, lambda model: pickle.dumps(copy.deepcopy(model))])
def test_pickles_load_without_epsflow(write, tmp_path):
    X = blobs(11)
    with accel.enable(min_rows=0):
        models = [DBSCAN(eps=0.4).fit(X), HDBSCAN(6, copy=True).fit(X)]
        if hdbscan:
            models.append(hdbscan.HDBSCAN(6, prediction_data=True).fit(X))
    (tmp_path / "models").write_bytes(write(models))
    code = f"""
        import pickle, sys
        sys.modules["epsflow"] = None  # an import of it fails
        models = pickle.load(open({str(tmp_path / "models")!r}, "rb"))
        print([len(set(model.labels_)) for model in models])
    """
    clean = {name: value for name, value in os.environ.items() if name != "EPSFLOW_ACCEL"}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, env=clean)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str([len(set(model.labels_)) for model in models])


# ---------------------------------------------------------------- errors and calls that are left to the original


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


@needs_hdbscan
@pytest.mark.parametrize(
    "options",
    [{"max_cluster_size": -1}, {"cluster_selection_epsilon": float("nan")}, {"allow_single_cluster": True}],
)
def test_odd_parameters_of_hdbscan(options):
    X = np.random.default_rng(3).normal(size=(300, 2))
    a, b = both(lambda: hdbscan.HDBSCAN(30, min_samples=1, algorithm="prims_kdtree", **options).fit(X))
    check_same(a, b, ("labels_",))
    assert np.allclose(a.cluster_persistence_, b.cluster_persistence_)


def test_unchecked_parameters_of_scikit_learn():
    X = blobs(20)
    for options in ({"max_cluster_size": 0}, {"min_cluster_size": 8.0}, {"cluster_selection_epsilon": -1.0}):
        with sklearn.config_context(skip_parameter_validation=True):
            a, b = both(lambda: HDBSCAN(**{"min_cluster_size": 8, "min_samples": 2, "copy": True, **options}).fit(X))
        check_same(a, b, ("labels_",))


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


@needs_hdbscan
def test_vectors_of_a_root_that_is_a_cluster_are_left_to_the_original():
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = hdbscan.HDBSCAN(30, allow_single_cluster=True, prediction_data=True).fit(X)
    assert set(model.labels_) <= {-1, 0}
    for function in (lambda: hdbscan.membership_vector(model, X), lambda: hdbscan.all_points_membership_vectors(model)):
        with pytest.raises(KeyError):
            function()
        with accel.enable(), pytest.raises(KeyError):
            function()


def test_data_of_a_class_that_only_the_original_knows():
    class Chunks:
        shape = (float("nan"), 2)

        def __len__(self):
            raise ValueError("unknown")

        def __array__(self, dtype=None, copy=None):
            return blobs(22)

    class Plain:
        def __array__(self, dtype=None, copy=None):
            return blobs(22)

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
    sys.meta_path.insert({place}, Finder())
    from sklearn.cluster import DBSCAN, HDBSCAN
    import numpy as np
    X = np.random.default_rng(0).normal(size=(200, 2))
    HDBSCAN(copy=True).fit(X)
    print(DBSCAN(eps=0.3).fit(X).labels_.max(), [call.device for call in epsflow.accel.report()])
"""


@pytest.mark.parametrize("place", [0, 1])
def test_finders_and_loaders_of_others(place):
    done = run("-c", textwrap.dedent(LOADERS.replace("{place}", str(place))))
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


# ---------------------------------------------------------------- programs and processes


PROGRAM = """
    import sys
    import numpy as np
    from sklearn.cluster import DBSCAN  # after epsflow.accel is enabled
    X = np.random.default_rng(0).normal(size=(200, 2))
    print(sys.argv[1:], __name__, DBSCAN(eps=0.3).fit(X).labels_.max())
"""


def run(*arguments, cwd=None, **more):
    clean = {name: value for name, value in os.environ.items() if name != "EPSFLOW_ACCEL"}
    return subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, env=clean, timeout=120, **more
    )


def test_a_program_and_a_module_are_run(tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    plain = run(tmp_path / "program.py", "a", "--b")
    script = run("-m", "epsflow.accel", "--report", tmp_path / "program.py", "a", "--b")
    module = run("-m", "epsflow.accel", "--min-rows", "500", "--report", "-m", "program", "a", "--b", cwd=tmp_path)
    assert plain.returncode == 0 and script.stdout == plain.stdout == module.stdout
    assert "sklearn.cluster.DBSCAN.fit" in script.stderr and any(f" {device} " in script.stderr for device in DEVICES)
    assert "fewer than 500 rows" in module.stderr


def test_a_program_is_the_main_module(tmp_path):
    (tmp_path / "sibling.py").write_text("name = 'sibling'")
    (tmp_path / "program.py").write_text(textwrap.dedent("""
        import atexit, os, pickle, sys
        import sibling

        class Kept:
            pass

        atexit.register(lambda: print(type(pickle.loads(pickle.dumps(Kept()))).__name__))
        print(sibling.name, __name__, os.path.basename(__file__), os.path.isabs(__file__), sorted(vars())[-4:])
    """))
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "program.py").symlink_to(tmp_path / "program.py")
    plain = run(tmp_path / "links" / "program.py")
    found = run("-m", "epsflow.accel", tmp_path / "links" / "program.py")
    assert plain.returncode == 0 and found.stdout == plain.stdout, found.stderr


def test_the_exit_of_a_program_is_kept(tmp_path):
    (tmp_path / "program.py").write_text("import sys; sys.exit(7)")
    assert run("-m", "epsflow.accel", tmp_path / "program.py").returncode == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give the program"), (["-m"], "give the program"), (["--wrong", "x.py"], "unknown option --wrong"),
        (["nowhere.py"], "no file 'nowhere.py'"), (["--min-rows", "few", "x.py"], "'few'"),
    ],
)
def test_wrong_arguments(arguments, message):
    done = run("-m", "epsflow.accel", *arguments)
    assert done.returncode == 1 and message in done.stderr
    assert "Traceback" not in done.stderr


def test_help():
    done = run("-m", "epsflow.accel", "--help")
    assert done.returncode == 0 and "--min-rows N" in done.stdout


def fate_of_fit(seed: int) -> str:
    DBSCAN(eps=0.3).fit(blobs(seed))
    calls = accel.report()
    return "not enabled" if not calls else "served" if calls[-1].device in DEVICES else calls[-1].reason


@pytest.mark.skipif("gpu" in epsflow.backends(), reason="a GPU does not follow a fork")
def test_forked_processes_are_accelerated():
    with accel.enable(min_rows=0), ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        assert list(pool.map(fate_of_fit, range(4))) == ["served"] * 4


@starts_processes
def test_started_processes_are_accelerated():
    with accel.enable(min_rows=0), ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(fate_of_fit, range(4))) == ["served"] * 4
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(fate_of_fit, range(1))) == ["not enabled"]


@starts_processes
def test_workers_of_joblib_are_accelerated():
    joblib = pytest.importorskip("joblib")
    with accel.enable(min_rows=0):
        found = joblib.Parallel(n_jobs=2)(joblib.delayed(fate_of_fit)(seed) for seed in range(4))
    joblib.externals.loky.get_reusable_executor().shutdown()
    assert found == ["served"] * 4


@starts_processes
@pytest.mark.parametrize("value", ["", "0"])
def test_a_process_may_turn_it_off(value):
    code = "import sklearn.cluster, sys; print('epsflow' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "EPSFLOW_ACCEL": value}
    )
    assert done.stdout.strip() == "False" and not done.stderr


@starts_processes
def test_a_process_without_clustering_starts_as_fast():
    code = "import sys; print('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "EPSFLOW_ACCEL": "1"}
    )
    assert done.stdout.strip() == "False" and not done.stderr


def test_the_tests_of_scikit_learn_pass():
    folder = os.path.join(os.path.dirname(sklearn.__file__), "cluster", "tests")
    files = [os.path.join(folder, name) for name in ("test_dbscan.py", "test_hdbscan.py")]
    if not all(map(os.path.exists, files)):
        pytest.skip("scikit-learn is installed without its tests")
    packages = os.path.dirname(os.path.dirname(sklearn.__file__))  # where pytest finds the fixtures of scikit-learn
    pytest_of_both = ("-m", "pytest", "-q", "-p", "no:cacheprovider", *files)
    plain = run(*pytest_of_both, cwd=packages)
    done = run("-m", "epsflow.accel", "--min-rows", "0", "--report", *pytest_of_both, cwd=packages)
    assert done.returncode == plain.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1].split()[0] == plain.stdout.splitlines()[-1].split()[0]
    assert sum(done.stderr.count(f" {device} ") for device in DEVICES) > 50
