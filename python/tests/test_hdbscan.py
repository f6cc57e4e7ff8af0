"""HDBSCAN, hierarchies and condensed trees."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

from accelerated import blobs
from checks import check_refused
from programs import succeeded

import epsflow
from epsflow import _membership

cluster = pytest.importorskip("sklearn.cluster")
metrics = pytest.importorskip("sklearn.metrics")
NotFittedError = pytest.importorskip("sklearn.exceptions").NotFittedError


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
    Y = np.round(blobs(11, 400) * 8) / 8
    model = epsflow.HDBSCAN(min_cluster_size=8, min_samples=4).fit(X)
    assert model.labels_.max() > 1
    for _ in range(20):
        order = random.permutation(len(X))
        other = epsflow.HDBSCAN(min_cluster_size=8, min_samples=4).fit(X[order])
        assert metrics.adjusted_rand_score(model.labels_[order], other.labels_) == 1
        columns = [other.labels_[model.labels_[order] == c][0] for c in range(model.labels_.max() + 1)]
        found = epsflow.all_points_membership_vectors(other)[:, columns]
        np.testing.assert_allclose(found, epsflow.all_points_membership_vectors(model)[order], atol=1e-12)
        (labels, probabilities), (others, same) = (epsflow.approximate_predict(one, Y) for one in (model, other))
        assert (np.append(columns, -1)[labels] == others).all() and (probabilities == same).all()


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


def check_steps(steps, members, condensed, c):
    """Checks how many samples are left in cluster c below the eps of each step: pairs of an eps and a number."""
    death = condensed.clusters["death"][c]
    leave = np.where(condensed.last_cluster[members] == c, condensed.leaves_at[members], death)
    assert steps[0][0] == leave.max() and steps[-1] == (death, 0) and len(steps) <= 17
    assert [left for _, left in steps] == [(leave < eps).sum() for eps, _ in steps]


def test_files_of_the_program(tmp_path, program):
    X = np.round(blobs(3), 1)
    X = np.concatenate([X, X[[7] * 6]])  # so that a cluster ends at eps 0
    np.save(tmp_path / "x.npy", X)
    words = ("hdbscan", tmp_path / "x.npy", "--minpts", "3,5", "--min-cluster-size", "4,8", "--outlier-scores")
    for method in ("eom", "leaf"):
        succeeded(program(*words, "--selection", method, "--out", tmp_path / method))
        arrays = np.load(tmp_path / method / "hierarchy.npz")
        for tree, size in itertools.product(epsflow.hierarchy(X, [3, 5]), (4, 8)):
            of = f"minpts_{tree.min_samples}/"
            for name, values in {"core_distance": tree.core_distances, "parent": tree.parents}.items():
                np.testing.assert_array_equal(arrays[of + name], values)
            for name, column in {"eps": "eps", "parent": "parent", "size": "size", "first_id": "first"}.items():
                np.testing.assert_array_equal(arrays[f"{of}node_{name}"], tree.nodes[column])
            variant, condensed = f"minpts_{tree.min_samples}_size_{size}", tree.condense(size)
            found, of = condensed.select(method), f"{variant}/"
            for name in ("parent", "birth", "death", "size", "stability"):
                np.testing.assert_array_equal(arrays[of + name], condensed.clusters[name])
            labels = np.full(len(condensed.clusters), -1)
            labels[found.nodes] = np.arange(len(found.nodes))
            np.testing.assert_array_equal(arrays[of + "label"], labels)
            for c in range(len(labels)):
                members = np.flatnonzero(condensed._labels_of_clusters([c])[condensed.last_cluster] == 0)
                assert arrays[of + "first_id"][c] == members[0]
                rows = arrays[of + "step_cluster"] == c
                steps = list(zip(arrays[of + "step_eps"][rows], arrays[of + "step_size"][rows]))
                check_steps(steps, members, condensed, c)
            scores = condensed.outlier_scores()
            for folder, values in zip(("labels", "probabilities", "outlier_scores"), (*found[:2], scores)):
                np.testing.assert_array_equal(np.load(tmp_path / method / folder / f"{variant}.npy"), values)


def test_hierarchies_of_distances():
    X = blobs(1)[:120]
    table = metrics.pairwise_distances(X)
    trees = epsflow.hierarchy(table, [3, 8], metric="precomputed")
    for tree, of_points in zip(trees, epsflow.hierarchy(X, [3, 8])):
        np.testing.assert_allclose(tree.core_distances, of_points.core_distances)
        assert (tree.cut(0.3) == of_points.cut(0.3)).all()
    # Of a table of neighbours the tree is the same up to its eps. Above it, parts stay apart.
    sparse = pytest.importorskip("scipy.sparse")
    near = epsflow.neighbors(X, 0.3, distances=True)
    tree = epsflow.hierarchy(near, 3, metric="precomputed")
    assert (tree.cut(0.3) == tree.cut(1e300)).all()
    assert (tree.cut(0.2) == trees[0].cut(0.2)).all() and np.isinf(np.asarray(tree.nodes["eps"])[-1])
    few = sparse.csr_array(([1.0, 1.0, 2.0, 2.0], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
    assert np.isinf(epsflow.hierarchy(few, 3, metric="precomputed").core_distances).tolist() == [True, False, True]
    table_with_infinity = sparse.csr_array(([1.0, 1.0, np.inf, np.inf], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
    assert (epsflow.hierarchy(table_with_infinity, 1, metric="precomputed").cut(1) == [0, 0, 1]).all()
    one_way = sparse.csr_array(([0.05, 1e6, 1e6], ([0, 1, 2], [1, 2, 1])), shape=(3, 3))
    with pytest.raises(ValueError, match="not symmetric"):
        epsflow.hierarchy(one_way, 1, metric="precomputed")
    for distance, message in {-1.0: "negative or NaN", np.nan: "negative or NaN", 5.0: "not symmetric"}.items():
        wrong = table.copy()
        wrong[0, 1] = distance
        with pytest.raises(ValueError, match=message):
            epsflow.hierarchy(wrong, metric="precomputed")
    with pytest.raises(ValueError, match="min_samples is 121, and X has 120 rows"):
        epsflow.hierarchy(table, 121, metric="precomputed")
    with pytest.raises(ValueError, match="sample_weight beside metric='precomputed'"):
        epsflow.hierarchy(table, metric="precomputed", sample_weight=np.ones(120))


def test_progress_counts_trees():
    X = np.random.default_rng(2).normal(size=(200, 2))
    seen = []
    epsflow.hierarchy(X, [2, 5, 9], progress=seen.append)
    assert (seen[-1].variants_done, seen[-1].variants) == (3, 3)


def test_missing_and_infinite_values():
    X = blobs(4)
    X[[3, 9]] = np.nan
    X[7, 0] = np.inf
    finite = np.isfinite(X).all(axis=1)
    model, alone = epsflow.HDBSCAN().fit(X), epsflow.HDBSCAN().fit(X[finite])
    assert model.labels_[[3, 9, 7]].tolist() == [-3, -3, -2] and (model.labels_[finite] == alone.labels_).all()
    assert np.isnan(model.probabilities_[[3, 9]]).all() and model.probabilities_[7] == 0
    assert (model.dbscan_clustering(0.2)[finite] == alone.dbscan_clustering(0.2)).all()
    assert (model.dbscan_clustering(-1) == np.where(finite, -1, model.labels_)).all()
    assert list(np.flatnonzero(np.isnan(model.outlier_scores_))) == [3, 7, 9]


def test_metrics_and_distances():
    X = blobs(6, 200)
    for metric in ("manhattan", "chebyshev", "minkowski", "cosine", "canberra"):
        parameters = {"p": 3} if metric == "minkowski" else {}
        distances = metrics.pairwise_distances(X, metric=metric, **parameters)
        np.fill_diagonal(distances, 0)
        found = epsflow.HDBSCAN(metric=metric, metric_params=parameters or None, min_samples=3).fit(X)
        given = epsflow.HDBSCAN(metric="precomputed", min_samples=3).fit(np.maximum(distances, distances.T))
        assert metrics.adjusted_rand_score(found.labels_, given.labels_) > 0.98, metric
    degrees = epsflow.hierarchy(X, 3, metric="greatcircle", metric_params={"unit": "km"})
    radians = epsflow.hierarchy(np.radians(X)[:, ::-1], 3, metric="haversine")
    np.testing.assert_allclose(degrees.core_distances, radians.core_distances * 6371.0088, rtol=1e-9)


def test_clusters_of_equal_points():
    X = np.array([[1, 2]] * 5 + [[1.1, 2], [1.2, 2]] + [[30, 40]] * 5 + [[30.1, 40]])
    model = epsflow.HDBSCAN(3, min_samples=3).fit(X)
    assert model.labels_.tolist() == [0] * 7 + [1] * 6
    assert model.probabilities_.tolist() == [1] * 5 + [0, 0] + [1] * 5 + [0]
    assert model.cluster_persistence_.tolist() == [1, 1]


def test_predictions_that_are_refused():
    X = blobs(8)
    model = epsflow.HDBSCAN().fit(X)
    of_distances = epsflow.HDBSCAN(metric="precomputed").fit(metrics.pairwise_distances(X))
    check_refused(
        (lambda: epsflow.approximate_predict(of_distances, X), ValueError, "fit the points"),
        (lambda: epsflow.all_points_membership_vectors(of_distances), ValueError, "fit the points"),
        (lambda: epsflow.approximate_predict(model, [[1.0, 2.0, 3.0]]), ValueError, "features"),
        (lambda: epsflow.membership_vector(model, [[1.0]]), ValueError, "features"),
    )


def test_that_ties_in_long_chains_take_linear_time():
    # Pairs of equal distances that join in the worst order: each new node meets all before it.
    sparse = pytest.importorskip("scipy.sparse")
    n = 90_000
    table = sparse.coo_array((np.ones(n - 1), (np.arange(n - 1), np.arange(1, n))), shape=(n, n))
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


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "canberra"])
def test_that_predictions_search_all_pairs(metric):
    for seed in range(8):
        grid = 8.0 if seed % 2 else 2.0**20  # sums of squares are exact, so that ties are
        X, Y = np.round(blobs(seed) * grid) / grid, np.round(blobs(seed + 100, 80) * grid) / grid
        single = {"min_cluster_size": 140, "allow_single_cluster": True} if seed == 4 else {}
        model = epsflow.HDBSCAN(metric=metric, min_samples=1 + seed, **single).fit(X)
        distances = metrics.pairwise_distances(Y, X, metric=metric)
        own = np.sort(distances, axis=1)[:, seed - 1] if seed else 0
        heights = np.maximum(np.maximum(distances, model.hierarchy_.core_distances), np.reshape(own, (-1, 1)))
        labels, probabilities = epsflow.approximate_predict(model, Y)
        tree, selected = model.condensed_tree_, model._selected
        births, deaths, parents = (np.asarray(tree.clusters[name]) for name in ("birth", "death", "parent"))
        for y in range(len(Y)):
            eps = heights[y].min()
            nearest = np.flatnonzero(np.isclose(heights[y], eps, rtol=1e-12))
            nearest = nearest[distances[y, nearest] <= distances[y, nearest].min() * (1 + 1e-12)]
            allowed = set()
            for c in tree.last_cluster[nearest].astype(int):
                while c > 0 and births[c] <= eps * (1 + 1e-12):
                    c = parents[c]
                while c > 0 and c not in selected:
                    c = parents[c]
                # Of a root that is selected only the densest samples are members.
                label = list(selected).index(c) if c in selected and (c > 0 or eps <= deaths[0]) else -1
                allowed.add((label, min(1.0, deaths[c] / eps if eps else 1.0) if label >= 0 else 0.0))
            assert any(labels[y] == a and np.isclose(probabilities[y], b) for a, b in allowed), (seed, y)
        assert not single or set(labels) == {-1, 0} and list(selected) == [0]


def test_predictions_under_metrics_of_epsflow():
    X, Y = blobs(1), blobs(2)
    scaled = epsflow.HDBSCAN(metric_params={"scale": [1, 2]}).fit(X)
    columns = epsflow.HDBSCAN().fit(X * [1, 2])
    for function in (epsflow.approximate_predict, epsflow.membership_vector):
        for found, expected in zip(function(scaled, Y), function(columns, Y * [1, 2])):
            np.testing.assert_array_equal(found, expected)
    sphere = epsflow.HDBSCAN(metric="greatcircle").fit(X)
    assert (epsflow.approximate_predict(sphere, X)[0] >= 0).any()
    with pytest.raises(ValueError, match="transform the columns"):
        epsflow.HDBSCAN(metric_params={"scale": [1, 2]}, store_centers="medoid").fit(X)


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev", "cosine"])
def test_that_centroids_are_means_and_medoids_have_the_smallest_sums(metric):
    for seed in range(6):
        X = np.round(blobs(seed, 700, 2 + seed % 2), 1 + seed % 2) + 0.01
        model = epsflow.HDBSCAN(min_cluster_size=20, metric=metric, store_centers="both").fit(X)
        for c, medoid in enumerate(model.medoids_):
            inside = model.labels_ == c
            mean = np.average(X[inside], axis=0, weights=model.probabilities_[inside])
            np.testing.assert_allclose(model.centroids_[c], mean, rtol=1e-12)
            sums = metrics.pairwise_distances(X[inside], metric=metric) @ model.probabilities_[inside]
            assert sums[(X[inside] == medoid).all(axis=1)].min() <= sums.min() * (1 + 1e-6) + 1e-12


def test_that_the_first_of_equal_medoids_is_taken_for_any_order_of_rows():
    X = np.random.default_rng(173).integers(0, 8, (40, 2)).astype(float)  # sums at (2, 5) and (3, 4) are equal
    for seed in range(20):
        rows = np.random.default_rng(seed).permutation(40)
        model = epsflow.HDBSCAN(5, min_samples=2, store_centers="medoid").fit(X[rows])
        assert sorted(model.medoids_.tolist()) == [[1, 3], [2, 5], [4, 2], [6, 5]], seed


def test_that_medoids_of_points_on_opposite_sides_of_a_sphere_have_the_smallest_sums():
    random = np.random.default_rng(154)
    directions = random.normal(size=(40, 3)) * 10.0 ** random.integers(-9, -3) + [1, 0, 0]
    directions[random.random(40) < 0.5] *= -1
    x, y, z = directions.T
    points, weights = np.column_stack([np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)]), random.random(40)
    sums = metrics.pairwise_distances(points, metric="haversine") @ weights
    found = epsflow.HDBSCAN(metric="haversine")._medoid(points, weights)
    assert sums[found] <= sums.min() * (1 + 1e-11)


def expected_vectors(model, points, clusters, eps, new):
    """Returns membership vectors by the definition, one pair of a sample and a cluster at a time."""
    tree, selected = model.condensed_tree_, list(model._selected)
    parents, deaths = (np.asarray(tree.clusters[name]) for name in ("parent", "death"))

    def path(c):
        return [c] if c <= 0 else [c, *path(parents[c])]

    exemplars = []
    for s in selected:
        leaves = [c for c in range(len(parents)) if s in path(c) and c not in parents]
        exemplars.append(np.concatenate([model._points_[
            (tree.last_cluster == leaf) & (tree.leaves_at == tree.leaves_at[tree.last_cluster == leaf].min())
        ] for leaf in leaves]))
    vectors = []
    for point, cluster, own in zip(points, clusters, eps):
        near = 1 / np.array([np.sqrt(((e - point) ** 2).sum(axis=1)).min() + 1e-300 for e in exemplars])
        heights = []
        for s in selected:
            join = next(c for c in path(s) if c in path(cluster))
            heights.append(1 / own if join in (s, cluster) else 1 / deaths[join])
        heights, dense = np.array(heights), 1 / deaths[cluster]
        with np.errstate(divide="ignore"):
            scores = dense / (dense - heights) if new else np.exp(-dense / heights)
        outlying = np.exp(np.minimum(scores, 1e9) - np.minimum(scores, 1e9).max())
        near, outlying = near / near.sum(), outlying / outlying.sum()
        product = near**0.5 * outlying**2 if new else near * outlying
        product /= product.sum()
        nearest = heights == heights.max()
        inside = heights.max() / np.maximum(1 / deaths[selected], 1 / own)
        vectors.append(product * np.average(inside[nearest], weights=product[nearest]))
    return np.array(vectors)


@pytest.mark.parametrize("method", ["eom", "leaf"])
def test_membership_vectors(method):
    for seed in range(12):
        X = blobs(seed, 250, 1 + seed % 3)
        parameters = {"cluster_selection_method": method, "allow_single_cluster": seed == 4}
        model = epsflow.HDBSCAN(min_cluster_size=8, min_samples=1 + seed % 6, **parameters).fit(X)
        tree = model.condensed_tree_
        found = epsflow.all_points_membership_vectors(model)
        expected = expected_vectors(model, X, tree.last_cluster.astype(int), tree.leaves_at, False)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        assert (found >= 0).all() and (found.sum(axis=1) <= 1 + 1e-12).all()
        inside = model.labels_ >= 0
        assert (found[inside].argmax(axis=1) == model.labels_[inside]).mean() > 0.9
        positions, neighbors = _membership._positions_of(model, Y := blobs(seed + 50, 60, 1 + seed % 3))
        eps = np.maximum(positions.eps, tree.leaves_at[neighbors])
        found = epsflow.membership_vector(model, Y)
        expected = expected_vectors(model, Y, positions.clusters, eps, True)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
        assert (found.sum(axis=1) <= 1 + 1e-12).all()
        assert epsflow.membership_vector(model, Y[:1] + 1e6).sum() < 1e-4


def test_that_membership_vectors_are_those_of_hdbscan():
    hdbscan = pytest.importorskip("hdbscan")
    compared = 0
    for seed in range(20):
        X = blobs(seed, 300)
        ours = epsflow.HDBSCAN(min_cluster_size=12, min_samples=2).fit(X)
        theirs = hdbscan.HDBSCAN(12, min_samples=1, approx_min_span_tree=False, prediction_data=True).fit(X)
        clusters = len(ours.cluster_persistence_)
        of = np.array([theirs.labels_[ours.labels_ == c].max() for c in range(clusters)], int)
        # Sometimes it takes exemplars of one part of a cluster only.
        if has_ties(ours) or [len(e) for e in ours.exemplars_] != [len(theirs.exemplars_[c]) for c in of]:
            continue
        assert (np.append(of, -1)[ours.labels_] == theirs.labels_).all()
        found = epsflow.all_points_membership_vectors(ours)
        expected = hdbscan.all_points_membership_vectors(theirs)[:, of]
        shares = [vectors / vectors.sum(axis=1, keepdims=True) for vectors in (found, expected)]
        np.testing.assert_allclose(*shares, atol=1e-9)
        # If several clusters are nearest in the tree it takes one that depends on the order of rows.
        np.testing.assert_allclose(found[ours.labels_ >= 0], expected[ours.labels_ >= 0], atol=1e-9)
        compared += 1
    assert compared > 10


def test_membership_vectors_of_equal_points_of_noise_and_of_missing_values():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]], 10, axis=0)
    model = epsflow.HDBSCAN().fit(X)
    assert (epsflow.all_points_membership_vectors(model) == np.repeat(np.eye(3), 10, axis=0)).all()
    assert (epsflow.membership_vector(model, X[::10]) == np.eye(3)).all()
    noise = epsflow.HDBSCAN().fit(np.ones((9, 2)))
    assert epsflow.all_points_membership_vectors(noise).shape == (9, 0)
    assert epsflow.membership_vector(noise, X).shape == (30, 0)
    assert (epsflow.approximate_predict(noise, X)[0] == -1).all()
    X = blobs(4)
    X[3], X[7, 0] = np.nan, np.inf
    vectors = epsflow.all_points_membership_vectors(epsflow.HDBSCAN().fit(X))
    assert np.isnan(vectors[3]).all() and (vectors[7] == 0).all() and np.isfinite(np.delete(vectors, 3, axis=0)).all()


def test_trees_as_the_package_hdbscan_has_them():
    X = blobs(3, 200)
    model = epsflow.HDBSCAN(min_samples=4).fit(X)
    tree = model.single_linkage_tree_
    np.testing.assert_array_equal(tree.to_numpy(), model.hierarchy_.linkage_matrix())
    table = tree.to_pandas()
    assert list(table) == ["parent", "left_child", "right_child", "distance", "size"]
    assert list(table["parent"]) == list(range(200, 399)) and table["size"].iloc[-1] == 200
    for cut in (0, table["distance"].iloc[150]):  # samples at less than this distance are connected
        assert (tree.get_clusters(cut, 3) == model.dbscan_clustering(cut, 3)).all()
        assert (tree.get_clusters(cut) == model.hierarchy_.cut(max(0, np.nextafter(cut, 0)), 5)).all()
    assert (tree.get_clusters(cut, 1) != model.hierarchy_.cut(cut)).any()
    edges = model.minimum_spanning_tree_
    np.testing.assert_array_equal(edges.to_numpy(), edges.to_pandas()[["from", "to", "distance"]])
    assert edges.to_numpy()[:, 2].sum() == pytest.approx(tree.to_numpy()[:, 2].sum())
    assert sum(map(len, model.exemplars_)) == sum(map(len, model.condensed_tree_.exemplars(model._selected)))
    distances = epsflow.HDBSCAN(metric="precomputed").fit(metrics.pairwise_distances(X))
    assert not hasattr(distances, "exemplars_")
    for name in ("single_linkage_tree_", "minimum_spanning_tree_", "exemplars_"):
        with pytest.raises(NotFittedError):
            getattr(epsflow.HDBSCAN(), name)


def test_keywords_of_hdbscan_change_nothing():
    given = {"prediction_data": True, "gen_min_span_tree": True, "approx_min_span_tree": False, "core_dist_n_jobs": 1}
    model = epsflow.HDBSCAN(min_cluster_size=8, algorithm="boruvka_kdtree", **given)
    again = pytest.importorskip("sklearn.base").clone(model)
    assert given.items() <= again.get_params().items()
    assert (again.fit_predict(blobs(2)) == epsflow.HDBSCAN(min_cluster_size=8).fit_predict(blobs(2))).all()


def test_pickles():
    fitted = epsflow.HDBSCAN().fit(blobs(9))
    model = pickle.loads(pickle.dumps(fitted))
    assert (model.outlier_scores_ == fitted.outlier_scores_).all()
    assert (model.condensed_tree_.select().labels == model.labels_).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_cluster_size": 1}, "min_cluster_size is 1"),
        ({"min_samples": 0}, "min_samples"),
        ({"cluster_selection_method": "best"}, "eom, leaf"),
        ({"cluster_selection_epsilon": -1.0}, "cluster_selection_epsilon is -1"),
        ({"max_cluster_size": 0}, "max_cluster_size"),
        ({"max_cluster_size": 0.5}, "max_cluster_size"),
        ({"allow_single_cluster": "no"}, "allow_single_cluster"),
        ({"algorithm": "cover_tree"}, "kd_tree"),
        ({"algorithm": "kd_tree", "metric": "cosine"}, "KDTree-based"),
        ({"alpha": 2.0}, "alpha is 2.0"),
        ({"store_centers": "all"}, "medoid"),
    ],
)
def test_invalid_parameters(parameters, message):
    with pytest.raises((TypeError, ValueError), match=message):
        epsflow.HDBSCAN(**parameters).fit(blobs(1))


def test_invalid_trees():
    X = blobs(1)
    tree, model = epsflow.hierarchy(X), epsflow.HDBSCAN().fit(X)
    check_refused(
        (lambda: tree.condense(301), ValueError, "min_cluster_size is 301"),
        (lambda: tree.cut(-1), ValueError, "eps of a cut is -1"),
        (lambda: epsflow.hierarchy(X, 400), ValueError, "min_samples is 400"),
        (lambda: epsflow.hierarchy(X, []), ValueError, "no values"),
        (lambda: epsflow.HDBSCAN().fit(X[:1]), ValueError, "requires more than one sample"),
        (lambda: model.dbscan_clustering(np.nan, 5), (TypeError, ValueError), "cut_distance"),
        (lambda: model.dbscan_clustering(0, "a"), (TypeError, ValueError), "min_cluster_size"),
        (lambda: model.dbscan_clustering(1, 0), (TypeError, ValueError), "min_cluster_size"),
    )


def test_points_that_have_no_tree():
    X = blobs(1)
    with pytest.raises(ValueError, match="there are no points: a hierarchy needs at least one"):
        epsflow.hierarchy(X[:0])
    with pytest.raises(ValueError, match="0 sample"):
        epsflow.HDBSCAN().fit(X[:0])
    for value in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="all 9 samples of X have NaN or infinite elements.*columns"):
            epsflow.HDBSCAN().fit(np.full((9, 2), value))
        X[3, 1] = value
        with pytest.raises(ValueError, match=f"row 3, column 1 is {value}.*drop_missing"):
            epsflow.hierarchy(X)


def test_sparse_tables_that_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    X = blobs(1, 40)
    apart = metrics.pairwise_distances(X)
    apart[:20, 20:] = apart[20:, :20] = 0  # no entries
    points, distances = sparse.csr_array(X), sparse.csr_array(apart)
    check_refused(
        (lambda: epsflow.HDBSCAN(algorithm="ball_tree").fit(points), ValueError, "Sparse data matrices only support"),
        (lambda: epsflow.HDBSCAN(metric="precomputed").fit(distances), ValueError, "more than one connected component"),
    )


def test_clusters_larger_than_all_samples():
    X = blobs(1, 60)
    for single in (False, True):
        found = epsflow.HDBSCAN(100, min_samples=5, allow_single_cluster=single).fit(X)
        equal = epsflow.HDBSCAN(60, min_samples=5, allow_single_cluster=single).fit(X)
        theirs = cluster.HDBSCAN(100, min_samples=5, allow_single_cluster=single, copy=True).fit(X)
        assert (found.labels_ == equal.labels_).all() and (found.labels_ == theirs.labels_).all()
        assert found.labels_.max() == single - 1
    with pytest.raises(ValueError, match="min_samples .100. must be at most the number of samples"):
        epsflow.HDBSCAN(100).fit(X)


def test_nodes_without_exemplars():
    tree = epsflow.HDBSCAN().fit(blobs(1)).condensed_tree_
    parents = np.asarray(tree.clusters["parent"])
    deep = int(np.flatnonzero(parents > 0)[-1])
    for nodes in ([-1], [10**6], [0, deep], [deep, parents[deep]], [deep, deep], [1.5]):
        with pytest.raises((ValueError, TypeError), match="nodes has|inside another|integer"):
            tree.exemplars(nodes)
    assert tree.exemplars([]) == [] and len(tree.exemplars([deep])[0]) > 0


def test_the_picture_of_a_condensed_tree():
    pytest.importorskip("matplotlib")
    model = epsflow.HDBSCAN(min_cluster_size=12).fit(blobs(3, 900))
    ax = model.condensed_tree_.plot()
    assert len(ax.collections) == len(model.condensed_tree_.clusters)
    assert [text.get_text() for text in ax.texts] == [str(c) for c in range(len(model.cluster_persistence_))]
    # At its birth a cluster is as wide as its number of samples.
    widths = [np.ptp(filled.get_paths()[0].vertices[:, 0]) for filled in ax.collections]
    np.testing.assert_allclose(widths, model.condensed_tree_.clusters["size"])
    leaves = model.condensed_tree_.select("leaf")
    assert len(epsflow.plot.condensed_tree(model, selected=leaves).texts) == len(leaves.persistence)
    model = epsflow.HDBSCAN(min_cluster_size=6, min_samples=4, cluster_selection_method="leaf").fit(blobs(3, 900))
    for tree in (model.condensed_tree_, pickle.loads(pickle.dumps(model.condensed_tree_))):
        assert len(tree.plot().texts) == len(model.cluster_persistence_) > len(tree.select().nodes)
    assert len(model.hierarchy_.condense(6).plot().texts) == len(model.condensed_tree_.select().nodes)
    empty = epsflow.plot.condensed_tree(epsflow.HDBSCAN().fit(np.ones((9, 2))))
    assert empty.texts[0].get_text() == "no sample leaves at an eps above 0"
    with pytest.raises(TypeError, match="HDBSCAN that is fitted"):
        epsflow.plot.condensed_tree(epsflow.HDBSCAN())


def test_the_pictures_of_trees_of_merges():
    pytest.importorskip("matplotlib")
    model = epsflow.HDBSCAN().fit(blobs(3, 200))
    merges = model.single_linkage_tree_.plot(p=20).collections
    assert sum(len(lines.get_paths()) for lines in merges) == 19
    edges = model.minimum_spanning_tree_.plot().collections[0]
    assert len(edges.get_paths()) == 199
    with pytest.raises(ValueError, match="two columns"):
        epsflow.HDBSCAN().fit(blobs(1, 50, 3)).minimum_spanning_tree_.plot()


def test_the_grid_of_hierarchies():
    pytest.importorskip("matplotlib")
    trees = epsflow.hierarchy(blobs(3, 900), [20, 2, 5])
    for quantity in ("clusters", "noise", "persistence"):
        ax = epsflow.plot.hierarchies(trees, [5, 50, 400], quantity, cluster_selection_method="leaf")
        values = ax.collections[0].get_array()
        assert values.shape == (3, 3) and ax.get_xlabel() == "min_cluster_size"
        found = [tree.condense(50).select("leaf") for tree in sorted(trees, key=lambda tree: tree.min_samples)]
        expected = {
            "clusters": [len(one.nodes) for one in found], "noise": [100 * np.mean(one.labels < 0) for one in found],
            "persistence": [one.persistence.mean() if len(one.nodes) else np.nan for one in found],
        }
        np.testing.assert_array_equal(np.ma.filled(values[:, 1].astype(float), np.nan), expected[quantity])
    assert len(epsflow.plot.hierarchies(trees[0], 5).texts) == 1
    assert epsflow.plot.hierarchies([], [5]).texts[0].get_text() == "no grid: there are no trees or sizes"
    model, words = epsflow.HDBSCAN(), "trees has a HDBSCAN; it has what hierarchy"
    check_refused(
        (lambda: epsflow.plot.hierarchies([trees[0], trees[0]], [5]), ValueError, "one tree for each"),
        (lambda: epsflow.plot.hierarchies(trees, [5], "core"), ValueError, "quantity"),
        (lambda: epsflow.plot.hierarchies(trees, [5.5]), TypeError, "min_cluster_size"),
        (lambda: epsflow.plot.hierarchies(model, 5), TypeError, words),
        (lambda: epsflow.plot.hierarchies([trees[0], model], 5), TypeError, words),
    )


def test_weights_of_a_hierarchy_are_copies_of_points():
    random = np.random.default_rng(4)
    X = random.normal(size=(200, 2))
    times = random.integers(1, 4, len(X))
    copies = epsflow.hierarchy(np.repeat(X, times, axis=0), 6)
    weighted, first = epsflow.hierarchy(X, 6, sample_weight=times), np.cumsum(times) - times
    np.testing.assert_array_equal(weighted.core_distances, copies.core_distances[first])
    with pytest.raises(ValueError, match="sum to 50"):
        epsflow.hierarchy(X, 60, sample_weight=0.25)
