"""Tests HDBSCAN of arrays on a GPU, in each library that is installed."""

import pickle

import numpy as np
import pytest

from checks import check_attributes
from gpu_libraries import LIBRARIES, fetched, needs_gpu, on_gpu

import epsflow

pytestmark = needs_gpu


def clumps(n=2000, d=2, seed=0):
    random = np.random.default_rng(seed)
    centers = random.uniform(-10, 10, (8, d))
    return np.vstack([
        centers[random.integers(8, size=n)] + random.normal(size=(n, d)), random.uniform(-15, 15, (n // 4, d)),
    ])


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_that_labels_are_those_of_the_cpu_and_stay_in_the_library(library, dtype, d):
    X = clumps(d=d).astype(dtype)
    for parameters in ({}, {"min_cluster_size": 20, "min_samples": 3, "cluster_selection_method": "leaf"}):
        expected = epsflow.HDBSCAN(**parameters, backend="cpu").fit(X)
        given = on_gpu(library, X)
        model = epsflow.HDBSCAN(**parameters).fit(given)
        assert type(model.labels_).__module__.partition(".")[0].startswith(library)
        assert type(model.probabilities_) is type(model.labels_) is type(given)
        check_attributes(model, expected, "labels_", "probabilities_", fetched=fetched)
        check_attributes(model, expected, "cluster_persistence_")
        assert model.n_features_in_ == d


@pytest.mark.parametrize("library", LIBRARIES)
def test_that_trees_are_made_when_they_are_read(library):
    X = clumps()
    expected = epsflow.HDBSCAN(10, backend="cpu").fit(X)
    given = on_gpu(library, X)
    model = epsflow.HDBSCAN(10).fit(given)
    again = pickle.loads(pickle.dumps(model))
    for one in (model, again):
        check_attributes(one, expected, "outlier_scores_")
        check_attributes(one.condensed_tree_, expected.condensed_tree_, "last_cluster")
        check_attributes(one.hierarchy_, expected.hierarchy_, "core_distances")
        assert all(np.array_equal(a, b) for a, b in zip(one.exemplars_, expected.exemplars_))
        new = clumps(seed=1)[:50]
        for a, b in zip(epsflow.approximate_predict(one, new), epsflow.approximate_predict(expected, new)):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("library", LIBRARIES)
def test_rows_that_are_not_finite_and_arrays_in_another_order(library):
    X = clumps()
    X[3, 0], X[7, 1] = np.nan, np.inf
    expected = epsflow.HDBSCAN(10, backend="cpu").fit(X)
    model = epsflow.HDBSCAN(10).fit(on_gpu(library, X))
    check_attributes(model, expected, "labels_", "probabilities_", fetched=fetched)
    if library == "jax":
        return  # it has no other order
    X = clumps()
    transposed = on_gpu(library, np.ascontiguousarray(X.T)).T
    model = epsflow.HDBSCAN(10).fit(transposed)
    np.testing.assert_array_equal(fetched(model.labels_), epsflow.HDBSCAN(10, backend="cpu").fit_predict(X))


@pytest.mark.parametrize("library", LIBRARIES)
def test_metrics_centers_and_errors(library):
    X = clumps()
    given = on_gpu(library, X)
    for parameters in ({"metric": "manhattan"}, {"store_centers": "both"}, {"min_samples": 300}):
        expected = epsflow.HDBSCAN(10, **parameters, backend="cpu").fit(X)
        model = epsflow.HDBSCAN(10, **parameters).fit(given)
        np.testing.assert_array_equal(fetched(model.labels_), expected.labels_)
    with pytest.raises(ValueError, match="min_samples"):
        epsflow.HDBSCAN(10, min_samples=10_000).fit(given)
    with pytest.raises(ValueError, match="more than one sample"):
        epsflow.HDBSCAN(10).fit(given[:1])


def test_that_host_arrays_run_on_the_gpu_too():
    X = clumps(d=3)
    expected = epsflow.HDBSCAN(10, backend="cpu").fit(X)
    model = epsflow.HDBSCAN(10, backend="gpu").fit(X)
    check_attributes(model, expected, "labels_", "probabilities_")
    check_attributes(model.condensed_tree_, expected.condensed_tree_, "leaves_at")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).outlier_scores_, expected.outlier_scores_)


def test_arrays_of_libraries_that_fit_does_not_know():
    class Unknown:
        def __dlpack_device__(self):
            return 2, 0

    with pytest.raises(TypeError, match="CuPy, PyTorch, JAX and Numba"):
        epsflow.HDBSCAN().fit(Unknown())
