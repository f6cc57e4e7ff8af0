"""Results of programs written for scikit-learn and hdbscan, with epsflow beneath them."""

import copy
import pickle
import textwrap

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.cluster import DBSCAN, HDBSCAN, dbscan
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from accelerated import DEVICES, blobs, both, check_same, hdbscan, last_call, needs_hdbscan
from checks import run_python
from gpu_libraries import fetched, needs_gpu, on_gpu
import epsflow
from epsflow import accel


# ---------------------------------------------------------------- the same results


DBSCAN_RESULTS = ("labels_", "core_sample_indices_", "components_")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("weighted", [False, True])
def test_dbscan_gives_the_arrays_of_scikit_learn(dtype, weighted):
    for seed in range(10):
        X = (10 * blobs(seed, d=1 + seed % 5)).astype(dtype)
        weights = np.random.default_rng(seed).uniform(-1, 3, len(X)) if weighted else None
        a, b = check_same(DBSCAN_RESULTS, lambda: DBSCAN(eps=3.1, min_samples=6).fit(X, sample_weight=weights))
        assert a.n_features_in_ == b.n_features_in_
        assert type(b) is DBSCAN


@pytest.mark.parametrize(
    ("eps", "more"),
    [
        *((0.7, {"metric": metric}) for metric in ("manhattan", "chebyshev", "l2")), (0.02, {"metric": "cosine"}),
        (0.7, {"metric": "minkowski", "p": 3}), (0.7, {"metric": "minkowski", "metric_params": {"p": 1.5}}),
        (1e-9, {}),  # no core samples
    ],
)
def test_dbscan_of_other_metrics_and_without_core_samples(eps, more):
    a, _ = check_same(DBSCAN_RESULTS, lambda: DBSCAN(eps=eps, min_samples=5, **more).fit(blobs(1, d=3)))
    assert (len(a.core_sample_indices_) == 0) == (eps == 1e-9)


def test_haversine_takes_any_angles_as_that_of_scikit_learn():
    X = np.radians(np.random.default_rng(0).uniform([-80, -170], [80, 170], (400, 2)))
    check_same(DBSCAN_RESULTS, lambda: DBSCAN(eps=0.1, min_samples=4, metric="haversine").fit(X))
    for seed in range(5):
        X = np.random.default_rng(seed).uniform([-9, -20], [9, 20], (300, 2))
        check_same(DBSCAN_RESULTS, lambda: DBSCAN(eps=0.15, min_samples=4, metric="haversine").fit(X))
        check_same(("labels_",), lambda: HDBSCAN(5, min_samples=2, metric="haversine", copy=True).fit(X))


def test_dbscan_of_distances_dense_and_sparse():
    X = blobs(2)
    for table in (pairwise_distances(X), kneighbors_graph(X, 30, mode="distance")):
        check_same(("labels_", "core_sample_indices_"), lambda: DBSCAN(eps=0.4, metric="precomputed").fit(table))


def test_dbscan_of_sparse_points_and_of_a_table():
    pd = pytest.importorskip("pandas")
    X = blobs(3)
    from scipy.sparse import csr_matrix

    a, b = check_same(("labels_", "core_sample_indices_"), lambda: DBSCAN(eps=0.4).fit(csr_matrix(X)))
    assert (a.components_ != b.components_).nnz == 0
    table = pd.DataFrame(X, columns=["a", "b"])
    check_same((*DBSCAN_RESULTS, "feature_names_in_"), lambda: DBSCAN(eps=0.4).fit(table))


def test_the_function_dbscan():
    a, b = both(lambda: dbscan(blobs(5), eps=0.4, min_samples=5))
    assert np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1])


@pytest.mark.parametrize("min_samples", [1, 2])
@pytest.mark.parametrize("method", ["eom", "leaf"])
def test_hdbscan_gives_the_labels_of_scikit_learn_without_ties(min_samples, method):
    """Mutual reachability distances tie if min_samples is above 2: then two samples may share a core distance."""
    for seed in range(25):
        X = blobs(seed, n=20 + 20 * seed, d=1 + seed % 4)
        parameters = {"min_samples": min_samples, "cluster_selection_method": method, "copy": True}
        a, b = check_same(("labels_",), lambda: HDBSCAN(4 + seed % 9, **parameters).fit(X))
        assert np.allclose(a.probabilities_, b.probabilities_, rtol=1e-12)
        for name in a._single_linkage_tree_.dtype.names:
            assert np.allclose(a._single_linkage_tree_[name], b._single_linkage_tree_[name], rtol=1e-12), name
        assert np.array_equal(a.dbscan_clustering(0.3), b.dbscan_clustering(0.3))


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine", "precomputed"])
def test_hdbscan_of_other_metrics(metric):
    X = blobs(6, d=3)
    X = pairwise_distances(X) if metric == "precomputed" else X
    check_same(("labels_",), lambda: HDBSCAN(8, min_samples=2, metric=metric, copy=True).fit(X))


def test_hdbscan_with_centers_and_with_samples_that_are_not_finite():
    X = blobs(7)
    names, parameters = ("labels_", "medoids_"), {"min_samples": 2, "store_centers": "both", "copy": True}
    a, b = check_same(names, lambda: HDBSCAN(8, **parameters).fit(X))
    assert np.allclose(a.centroids_, b.centroids_)
    X[3], X[8, 1] = np.nan, np.inf
    a, b = check_same(("labels_",), lambda: HDBSCAN(8, min_samples=2, copy=True).fit(X))
    assert np.allclose(a.probabilities_, b.probabilities_, equal_nan=True)


def test_hdbscan_has_the_labels_of_epsflow_where_distances_tie():
    for seed in range(5):
        X = np.round(blobs(seed, n=400), 1)
        with accel.enable(min_rows=0):
            labels = HDBSCAN(10, copy=True).fit(X).labels_
        expected = epsflow.HDBSCAN(10).fit(X).labels_
        assert adjusted_rand_score(labels, expected) == 1
        assert np.array_equal(labels < 0, expected < 0)


@needs_hdbscan
@pytest.mark.parametrize(
    "options",
    [
        {}, {"cluster_selection_epsilon": 0.2}, {"max_cluster_size": 60}, {"cluster_selection_method": "leaf"},
        {"max_cluster_size": 60, "cluster_selection_epsilon": 0.2}, {"max_cluster_size": -1},
        {"cluster_selection_epsilon": float("nan")}, {"allow_single_cluster": True, "min_cluster_size": 120},
    ],
)
def test_the_package_hdbscan_without_ties(options):
    for seed in range(10):
        X = blobs(seed, d=1 + seed % 4)
        parameters = {"min_cluster_size": 6, "min_samples": 1, **options}
        more = {"algorithm": "prims_kdtree", "gen_min_span_tree": True, "prediction_data": True}
        a, b = check_same(("labels_",), lambda: hdbscan.HDBSCAN(**parameters, **more).fit(X))
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
        boruvka = hdbscan.HDBSCAN(**parameters, approx_min_span_tree=False).fit(X)
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


@needs_gpu
@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_arrays_on_a_gpu(library):
    X = blobs(19, n=5000)
    given = on_gpu(library, X)
    with accel.enable():
        model = DBSCAN(eps=0.1).fit(given)
        assert last_call().device == "gpu"
        assert type(model.labels_) is type(given)
        tree = HDBSCAN(20, min_samples=2, copy=True).fit(given)
        assert last_call().device == "gpu"
    assert np.array_equal(fetched(model.labels_), DBSCAN(eps=0.1).fit(X).labels_)
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
    done = run_python("-c", textwrap.dedent(f"""
        import pickle, sys
        sys.modules["epsflow"] = None  # an import of it fails
        models = pickle.load(open({str(tmp_path / "models")!r}, "rb"))
        print([len(set(model.labels_)) for model in models])
    """))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str([len(set(model.labels_)) for model in models])
