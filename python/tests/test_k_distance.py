"""Compares distances to k-th nearest points with scikit-learn, and tests their knee and the suggested eps."""

import numpy as np
import pytest

from checks import check_equal, check_same_tables

import epsflow

neighbors = pytest.importorskip("sklearn.neighbors")


def points(seed=1, n=600, d=3, dtype=np.float64):
    """Returns two clusters and noise, with every tenth point repeated."""
    random = np.random.default_rng(seed)
    X = np.concatenate([
        random.normal(0, 0.2, size=(n // 2, d)), random.normal(3, 0.1, size=(n // 3, d)),
        random.uniform(-8, 8, size=(n // 6, d)),
    ])
    return np.concatenate([X, X[::10]]).astype(dtype)


def expected(X, k, **metric):
    # The nearest neighbour of a point is the point itself, at distance 0.
    return neighbors.NearestNeighbors(n_neighbors=k + 1, **metric).fit(X).kneighbors(X)[0][:, k]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3, 8])
@pytest.mark.parametrize("k", [1, 4, 40])
def test_distances_are_those_of_scikit_learn(d, k, dtype):
    X = points(d=d, dtype=dtype)
    found = epsflow.k_distance(X, k)
    assert found.shape == (len(X),) and found.dtype == np.float64
    np.testing.assert_allclose(found, expected(X.astype(np.float64), k, algorithm="kd_tree"), rtol=1e-12, atol=0)
    assert k > 1 or (found == 0).sum() >= 120  # 60 points and their copies


@pytest.mark.parametrize(
    ("metric", "params"),
    [("manhattan", None), ("cityblock", None), ("chebyshev", None), ("minkowski", {"p": 3}), ("minkowski", {"p": 1.5}),
     ("cosine", None)],
)
def test_metrics_are_those_of_scikit_learn(metric, params):
    X = points(seed=2) + 5
    theirs = expected(X, 4, metric=metric, algorithm="brute" if metric == "cosine" else "kd_tree", **(params or {}))
    found = epsflow.k_distance(X, 4, metric=metric, metric_params=params)
    np.testing.assert_allclose(found, theirs, rtol=1e-9, atol=1e-13)


def test_points_on_the_sphere():
    random = np.random.default_rng(3)
    radians = np.column_stack([random.uniform(-1.5, 1.5, 400), random.uniform(-3.1, 3.1, 400)])
    theirs = expected(radians, 5, metric="haversine", algorithm="ball_tree")
    np.testing.assert_allclose(epsflow.k_distance(radians, 5, metric="haversine"), theirs, rtol=1e-9)
    found = epsflow.k_distance(np.degrees(radians[:, ::-1]), 5, metric="greatcircle", metric_params={"unit": "km"})
    np.testing.assert_allclose(found, theirs * 6371.0088, rtol=1e-9)


def test_scales_and_boxes():
    X = np.random.default_rng(4).uniform(0, 10, size=(300, 2))
    found = epsflow.k_distance(X, 3, metric_params={"scale": [1, 0.25]})
    np.testing.assert_allclose(found, expected(X * [1, 0.25], 3), rtol=1e-12)
    copies = np.concatenate([X + [dx, dy] for dx in (0, -10, 10) for dy in (0, -10, 10)])
    theirs = neighbors.NearestNeighbors(n_neighbors=4).fit(copies).kneighbors(X)[0][:, 3]
    np.testing.assert_allclose(epsflow.k_distance(X, 3, metric_params={"box": 10}), theirs, rtol=1e-9)


def test_several_k_are_columns_of_one_search():
    X = points()
    found = epsflow.k_distance(X, [7, 1, 30])
    for j, k in enumerate([7, 1, 30]):
        np.testing.assert_array_equal(found[:, j], epsflow.k_distance(X, k))
    assert found.shape == (len(X), 3) and epsflow.k_distance(X, (4,)).shape == (len(X), 1)
    check_equal(found, epsflow.k_distance(X, (k for k in (7, 1, 30))), epsflow.k_distance(X, np.array([7, 1, 30])))


def test_of_a_data_set_an_engine_and_a_table():
    X = points()
    found = epsflow.k_distance(X)
    engine = epsflow.Engine("cpu", threads=1)
    data = engine.load(X)
    check_equal(
        found, data.k_distance(), data.k_distance([4, 2])[:, 0], epsflow.k_distance(X, engine=engine),
        epsflow.k_distance(X, backend="cpu", memory="1GiB", threads=2),
    )
    pandas = pytest.importorskip("pandas")
    np.testing.assert_array_equal(epsflow.k_distance(pandas.DataFrame(X)), found)


def test_knee_and_range():
    distances = epsflow.k_distance(points(d=2), 4)
    knee = epsflow.knee(distances)
    assert 0.05 < knee.distance < 1 and knee.share == (distances <= knee.distance).mean()
    assert epsflow.knee(distances[::-1].astype(np.float32)).distance == pytest.approx(knee.distance, rel=1e-6)
    low, high = epsflow.eps_range(distances)
    assert low < knee.distance < high and (distances[distances > 0] <= high).mean() == pytest.approx(0.99, abs=0.005)
    assert np.isnan(epsflow.knee([1, 1, 1]).distance) and np.isnan(epsflow.knee([]).distance)
    assert epsflow.eps_range([0, 0]) == (0, 0)


X = np.zeros((4, 2))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: epsflow.k_distance(X, 0), ValueError, "k == 0, must be >= 1"),
        (lambda: epsflow.k_distance(X, 4), ValueError, "k is 4, of 4 points: use one from 1 to 3"),
        (lambda: epsflow.k_distance(X[:1], 1), ValueError, "k is 1, of 1 point: one point has no other"),
        (lambda: epsflow.k_distance(X, 2.5), TypeError, "k is 2.5, of type float"),
        (lambda: epsflow.k_distance(X, True), TypeError, "k is True, of type bool"),
        (lambda: epsflow.k_distance(X, "4"), TypeError, "k is '4', of type str"),
        (lambda: epsflow.k_distance(X, [1, -1]), ValueError, "k == -1, must be >= 1"),
        (lambda: epsflow.k_distance(X, []), ValueError, "k has no values"),
        (lambda: epsflow.k_distance([[1, np.nan], [0, 0]], 1), ValueError, "epsflow.drop_missing()"),
        (lambda: epsflow.k_distance(X, 1, threads="2"), TypeError, "threads is '2'"),
        (lambda: epsflow.k_distance(np.zeros((40000, 2)), 1, memory="1MiB"), MemoryError, "memory"),
        (lambda: epsflow.knee(["a"]), TypeError, "distances have dtype <U1; they are numbers"),
        (lambda: epsflow.knee(np.zeros((4, 2))), ValueError,
         "the shape (4, 2); they have one dimension: take one column"),
        (lambda: epsflow.knee([1, np.nan]), ValueError, "distances have nan; they are 0 or more"),
        (lambda: epsflow.eps_range([1, -2]), ValueError, "distances have -2; they are 0 or more"),
        (lambda: epsflow.eps_range([]), ValueError, "there are no distances"),
    ],
)
def test_refused(call, error, words):
    with pytest.raises(error) as refused:
        call()
    assert words in str(refused.value)


def test_selectivity_counts_neighbors():
    X, eps = points(), [0.3, 0.05, 2.0]
    data = epsflow.Engine("cpu").load(X)
    found = epsflow.selectivity(X, eps)
    distances = neighbors.NearestNeighbors(algorithm="kd_tree").fit(X)
    expected_counts = [distances.radius_neighbors_graph(X, e).nnz / len(X) - 1 for e in eps]
    np.testing.assert_array_equal(found["eps"], eps)
    np.testing.assert_allclose(found["n_neighbors"], expected_counts, rtol=1e-12)
    assert (np.asarray(found["error"]) == 0).all()
    for again in (data.selectivity(eps), epsflow.selectivity(X, eps, engine=data.engine)):
        check_same_tables((again, found))
    sampled = data.selectivity(0.3, sample=50)
    assert 0 < abs(sampled["n_neighbors"][0] - expected_counts[0]) < 6 * sampled["error"][0]
    with pytest.raises(ValueError, match="sample"):
        epsflow.selectivity(X, 0.3, sample=1)
    with pytest.raises(ValueError, match="eps"):
        epsflow.selectivity(X, -1.0)
