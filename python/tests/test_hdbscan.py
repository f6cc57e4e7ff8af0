"""HDBSCAN, hierarchies and condensed trees."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import epsflow

cluster = pytest.importorskip("sklearn.cluster")
metrics = pytest.importorskip("sklearn.metrics")


def blobs(seed: int, n: int = 300, d: int = 2) -> np.ndarray:
    random = np.random.default_rng(seed)
    centres = random.random((5, d)) * 4
    near = centres[np.arange(n) % 5] + random.normal(size=(n, d)) * 0.25 * random.random((n, 1))
    return np.where(random.random((n, 1)) < 0.2, random.random((n, d)) * 5, near)


def has_ties(model: epsflow.HDBSCAN) -> bool:
    return len(np.unique(model.hierarchy_.linkage_matrix()[:, 2])) < len(model.hierarchy_) - 1


@pytest.mark.parametrize("method", ["eom", "leaf"])
def test_labels_are_those_of_scikit_learn_if_no_merges_tie(method):
    compared = 0
    for seed in range(60):
        X = blobs(seed, 150 + seed, 1 + seed % 4)
        parameters = {
            "min_cluster_size": 4 + seed % 9, "min_samples": 1 + seed % 2, "cluster_selection_method": method,
            "allow_single_cluster": seed % 5 == 0,
        }
        found = epsflow.HDBSCAN(**parameters).fit(X)
        if has_ties(found):
            continue
        theirs = cluster.HDBSCAN(**parameters, copy=True).fit(X)
        assert metrics.adjusted_rand_score(theirs.labels_, found.labels_) == 1
        assert ((found.labels_ < 0) == (theirs.labels_ < 0)).all()
        np.testing.assert_allclose(found.probabilities_, theirs.probabilities_, atol=1e-12)
        compared += 1
    assert compared > 30


def test_that_the_order_of_rows_changes_nothing():
    random = np.random.default_rng(1)
    X = np.round(blobs(3, 800), 1)
    model = epsflow.HDBSCAN(min_cluster_size=8, min_samples=4).fit(X)
    assert model.labels_.max() > 1
    for _ in range(20):
        order = random.permutation(len(X))
        other = epsflow.HDBSCAN(min_cluster_size=8, min_samples=4).fit(X[order])
        assert metrics.adjusted_rand_score(model.labels_[order], other.labels_) == 1
        assert (model.probabilities_[order] == other.probabilities_).all()
        assert (model.outlier_scores_[order] == other.outlier_scores_).all()


def test_that_a_cut_has_the_core_points_of_dbscan():
    X = blobs(5, 500)
    for tree in epsflow.hierarchy(X, min_samples=[3, 9]):
        for eps in (0.05, 0.2, float(tree.linkage_matrix()[250, 2])):
            found = epsflow.sweep(X, eps, tree.min_samples, core=True)[0]
            assert (tree.cut(eps) == np.where(found.core, found.labels, -1)).all()


def test_columns_of_trees():
    X = blobs(7)
    tree = epsflow.hierarchy(X, 5)
    assert len(tree) == len(X) and tree.min_samples == 5
    nodes = tree.nodes
    assert nodes["size"].iloc[-1] == len(X) and nodes["parent"].iloc[-1] == -1
    assert (nodes["eps"].to_numpy()[1:] >= nodes["eps"].to_numpy()[:-1]).all()
    assert (nodes["eps"].to_numpy()[tree.parents] >= tree.core_distances).all()
    edges = tree.spanning_tree
    assert len(edges) == len(X) - 1
    np.testing.assert_array_equal(edges["distance"], tree.linkage_matrix()[:, 2])
    np.testing.assert_allclose(tree.core_distances, epsflow.k_distance(X, 4), rtol=1e-15)
    condensed = tree.condense(10)
    rows = condensed.to_pandas()
    assert (rows.groupby("child").size() == 1).all()
    n, clusters = len(X), condensed.clusters
    assert rows.loc[rows["child"] < n, "child_size"].eq(1).all()
    for c in range(1, len(clusters)):
        row = rows[rows["child"] == n + c].iloc[0]
        assert row["parent"] == n + clusters["parent"][c] and row["child_size"] == clusters["size"][c]
        assert row["lambda_val"] == 1 / clusters["birth"][c]
    # Rows give the same stability.
    births = 1 / clusters["birth"].to_numpy()
    of_rows = (rows["lambda_val"] - births[rows["parent"] - n]) * rows["child_size"]
    np.testing.assert_allclose(of_rows.groupby(rows["parent"]).sum(), clusters["stability"])


def test_every_min_samples_equals_that_one_alone():
    X = blobs(2, 400, 3)
    for tree in epsflow.hierarchy(X, [1, 4, 30]):
        alone = epsflow.hierarchy(X, tree.min_samples)
        assert tree.nodes.equals(alone.nodes) and (tree.parents == alone.parents).all()


def test_missing_and_infinite_values():
    X = blobs(4)
    X[[3, 9]] = np.nan
    X[7, 0] = np.inf
    model = epsflow.HDBSCAN().fit(X)
    assert list(np.flatnonzero(model.labels_ == -3)) == [3, 9] and list(np.flatnonzero(model.labels_ == -2)) == [7]
    assert np.isnan(model.probabilities_[[3, 9]]).all() and model.probabilities_[7] == 0
    finite = np.isfinite(X).all(axis=1)
    alone = epsflow.HDBSCAN().fit(X[finite])
    assert (alone.labels_ == model.labels_[finite]).all()
    assert (model.dbscan_clustering(0.2)[finite] == alone.dbscan_clustering(0.2)).all()
    assert np.isnan(model.outlier_scores_[~finite]).all()


def test_metrics_and_distances():
    X = blobs(6, 200)
    named = [("manhattan", None), ("chebyshev", None), ("minkowski", {"p": 3}), ("cosine", None), ("canberra", None)]
    for metric, parameters in named:
        distances = metrics.pairwise_distances(X, metric=metric, **(parameters or {}))
        np.fill_diagonal(distances, 0)
        distances = np.maximum(distances, distances.T)
        found = epsflow.HDBSCAN(metric=metric, metric_params=parameters, min_samples=3).fit(X)
        given = epsflow.HDBSCAN(metric="precomputed", min_samples=3).fit(distances)
        assert metrics.adjusted_rand_score(found.labels_, given.labels_) > 0.98, metric
    degrees = epsflow.hierarchy(X, 3, metric="greatcircle", metric_params={"unit": "km"})
    radians = epsflow.hierarchy(np.radians(X)[:, ::-1], 3, metric="haversine")
    np.testing.assert_allclose(degrees.core_distances, radians.core_distances * 6371.0088, rtol=1e-9)


def test_predictions_of_fitted_points():
    X = blobs(8, 500)
    model = epsflow.HDBSCAN(min_cluster_size=15).fit(X)
    labels, probabilities = epsflow.approximate_predict(model, X)
    inside = model.probabilities_ > 0.5
    assert (labels[inside] == model.labels_[inside]).mean() > 0.95
    assert ((probabilities >= 0) & (probabilities <= 1)).all() and (probabilities[labels < 0] == 0).all()
    far, _ = epsflow.approximate_predict(model, [[100.0, 100.0]])
    assert far[0] == -1
    with pytest.raises(ValueError, match="fit the points"):
        epsflow.approximate_predict(epsflow.HDBSCAN(metric="precomputed").fit(metrics.pairwise_distances(X)), X)
    with pytest.raises(ValueError, match="features"):
        epsflow.approximate_predict(model, [[1.0, 2.0, 3.0]])


def test_predictions_of_a_single_cluster():
    X = np.random.default_rng(0).random((140, 2))
    model = epsflow.HDBSCAN(min_cluster_size=20, allow_single_cluster=True).fit(X)
    assert set(model.labels_) == {-1, 0}
    labels, _ = epsflow.approximate_predict(model, np.vstack([X, [[1000.0, 1000.0]]]))
    assert labels[-1] == -1 and (labels[:-1] == model.labels_).mean() > 0.8


def test_that_ties_in_long_chains_take_linear_time():
    # Pairs of equal distances that join in the worst order: each new node meets all before it.
    m = 30_000
    first, second, third = np.arange(m) * 3, np.arange(m) * 3 + 1, np.arange(m) * 3 + 2
    ends = np.concatenate([
        np.column_stack([first, second]), np.column_stack([second, third]), np.column_stack([third[:-1], first[1:]]),
    ])
    sparse = pytest.importorskip("scipy.sparse")
    table = sparse.coo_array((np.ones(len(ends)), ends.T), shape=(3 * m, 3 * m))
    model = epsflow.HDBSCAN(metric="precomputed", min_samples=1).fit((table + table.T).tocsr())
    assert len(model.hierarchy_.nodes) == 1 and (model.labels_ == -1).all()


def test_persistence_and_scores_are_shares():
    for seed in range(10):
        model = epsflow.HDBSCAN(allow_single_cluster=True, min_samples=3).fit(blobs(seed, 200))
        for values in (model.cluster_persistence_, model.outlier_scores_, model.probabilities_):
            assert ((values >= 0) & (values <= 1)).all()
    apart = np.full((8, 8), np.inf)
    apart[:4, :4] = apart[4:, 4:] = 1 - np.eye(4)
    model = epsflow.HDBSCAN(metric="precomputed", min_cluster_size=3).fit(apart)
    assert list(model.labels_) == [0] * 4 + [1] * 4 and not np.isnan(model.outlier_scores_).any()


def test_metrics_without_predictions_say_so():
    X = blobs(1)
    scaled = epsflow.HDBSCAN(metric_params={"scale": [1, 2]}).fit(X)
    with pytest.raises(ValueError, match="transform the columns"):
        epsflow.approximate_predict(scaled, X)


def test_pickles():
    X = blobs(9)
    model = pickle.loads(pickle.dumps(epsflow.HDBSCAN().fit(X)))
    assert (model.outlier_scores_ == epsflow.HDBSCAN().fit(X).outlier_scores_).all()
    assert (model.condensed_tree_.select().labels == model.labels_).all()


def test_all_points_equal():
    model = epsflow.HDBSCAN().fit(np.ones((30, 2)))
    assert (model.labels_ == -1).all()
    single = epsflow.HDBSCAN(allow_single_cluster=True).fit(np.ones((30, 2)))
    assert (single.labels_ == 0).all() and (single.probabilities_ == 1).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_cluster_size": 1}, "min_cluster_size is 1"),
        ({"min_samples": 0}, "min_samples"),
        ({"min_samples": 301}, "at most the number of samples"),
        ({"cluster_selection_method": "best"}, "eom, leaf"),
        ({"cluster_selection_epsilon": -1.0}, "cluster_selection_epsilon is -1"),
        ({"max_cluster_size": 0}, "max_cluster_size"),
        ({"max_cluster_size": 0.5}, "max_cluster_size"),
        ({"allow_single_cluster": "no"}, "allow_single_cluster"),
        ({"algorithm": "cover_tree"}, "kd_tree"),
        ({"alpha": 2.0}, "alpha is 2.0"),
        ({"store_centers": "all"}, "medoid"),
    ],
)
def test_invalid_parameters(parameters, message):
    with pytest.raises((TypeError, ValueError), match=message):
        epsflow.HDBSCAN(**parameters).fit(blobs(1))


def test_invalid_trees():
    X = blobs(1)
    tree = epsflow.hierarchy(X)
    with pytest.raises(ValueError, match="min_cluster_size is 301"):
        tree.condense(301)
    with pytest.raises(ValueError, match="eps of a cut is -1"):
        tree.cut(-1)
    with pytest.raises(ValueError, match="min_samples is 400"):
        epsflow.hierarchy(X, 400)
    with pytest.raises(ValueError, match="no values"):
        epsflow.hierarchy(X, [])
    with pytest.raises(ValueError, match="requires more than one sample"):
        epsflow.HDBSCAN().fit(X[:1])


def test_the_picture_of_a_condensed_tree():
    pytest.importorskip("matplotlib").use("Agg")
    X = blobs(3, 900)
    model = epsflow.HDBSCAN(min_cluster_size=12).fit(X)
    ax = model.condensed_tree_.plot()
    assert len(ax.collections) == len(model.condensed_tree_.clusters)
    assert [text.get_text() for text in ax.texts] == [str(c) for c in range(len(model.cluster_persistence_))]
    # At its birth a cluster is as wide as its number of samples.
    widths = [np.ptp(filled.get_paths()[0].vertices[:, 0]) for filled in ax.collections]
    np.testing.assert_allclose(widths, model.condensed_tree_.clusters["size"])
    leaves = model.condensed_tree_.select("leaf")
    assert len(epsflow.plot.condensed_tree(model, selected=leaves).texts) == len(leaves.persistence)
    empty = epsflow.plot.condensed_tree(epsflow.HDBSCAN().fit(np.ones((9, 2))))
    assert empty.texts[0].get_text() == "all samples are equal"
    with pytest.raises(TypeError, match="HDBSCAN that is fitted"):
        epsflow.plot.condensed_tree(epsflow.HDBSCAN())
