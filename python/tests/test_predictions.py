"""Tests predict(), which labels points that were not fitted."""

from __future__ import annotations

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import epsflow

pytest.importorskip("sklearn")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_predictions(dtype):
    random = np.random.default_rng(8)
    X = random.normal(size=(800, 3)).astype(dtype)
    fitted = epsflow.DBSCAN(0.35, min_samples=6).fit(X)
    assert 0 < (fitted.labels_ < 0).sum() < 800
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    new = random.normal(size=(300, 3)).astype(dtype)
    core = X[fitted.core_sample_indices_].astype(np.float64)
    near = ((new[:, None].astype(np.float64) - core[None]) ** 2).sum(axis=2) <= 0.35 * 0.35
    labels = np.where(near, fitted.labels_[fitted.core_sample_indices_], 10**6).min(axis=1)
    np.testing.assert_array_equal(fitted.predict(new), np.where(labels == 10**6, -1, labels))


def test_predictions_of_a_table():
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(8)
    table = pandas.DataFrame(random.normal(size=(300, 2)), columns=["a", "b"])
    fitted = epsflow.DBSCAN(0.3, min_samples=5, n_jobs=-2).fit(table)
    np.testing.assert_array_equal(fitted.predict(table), fitted.labels_)
    # The caller is responsible for the order of these columns.
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_array_equal(fitted.predict(table.to_numpy()), fitted.labels_)


def test_predictions_are_by_what_was_fitted():
    X = np.random.default_rng(8).normal(size=(300, 2))
    fitted = epsflow.DBSCAN(0.3, min_samples=5).fit(X)
    fitted.set_params(eps=1e-6, metric="greatcircle", min_samples=50)
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)


def test_predictions_check_their_options():
    fitted = epsflow.DBSCAN(1.0, min_samples=1).fit(np.zeros((9, 2)))
    with pytest.raises(ValueError, match="backend"):
        fitted.set_params(backend="tpu").predict(np.zeros((1, 2)))


def test_changes_of_arrays_and_copies_change_no_prediction():
    X = np.random.default_rng(9).normal(size=(2000, 2))
    points = X.copy()
    fitted = epsflow.DBSCAN(0.1, min_samples=5).fit(points)
    labels, before = fitted.labels_.copy(), pickle.loads(pickle.dumps(fitted))
    assert 0 < labels.max()
    np.testing.assert_array_equal(fitted.predict(X[:1]), labels[:1])
    points[:] = 0
    fitted.labels_[:] = 7
    fitted.core_sample_indices_[:] = 0
    fitted.labels_ = np.zeros(len(X), dtype=np.int64)
    copies = copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))
    for model in (fitted, before, *copies, fitted.set_params(n_jobs=2)):
        with pytest.raises(ValueError, match="read-only"):
            model.components_[:] = 1e6
        np.testing.assert_array_equal(model.predict(X), labels)
    # Another fit replaces the core points.
    np.testing.assert_array_equal(fitted.fit(-X).predict(-X), labels)


def test_predictions_in_threads():
    X = np.random.default_rng(10).normal(size=(3000, 2))
    fitted = epsflow.DBSCAN(0.1, min_samples=5, n_jobs=1).fit(X)
    with ThreadPoolExecutor(8) as pool:
        for labels in pool.map(fitted.predict, [X] * 8):
            np.testing.assert_array_equal(labels, fitted.labels_)


def test_predictions_in_a_memory_that_is_too_small():
    X = np.random.default_rng(11).normal(size=(1000, 2))
    fitted = epsflow.DBSCAN(0.1, min_samples=5).fit(X).set_params(memory=1000)
    with pytest.raises(MemoryError, match="core points"):
        fitted.predict(X)
    np.testing.assert_array_equal(fitted.set_params(memory=None).predict(X), fitted.labels_)


def test_a_fit_beside_a_prediction():
    random = np.random.default_rng(12)
    many, few = random.random((400_000, 2)), random.random((300, 2)) * 50
    fitted = epsflow.DBSCAN(0.002, min_samples=2, n_jobs=1).fit(many)
    thread = threading.Thread(target=fitted.predict, args=(many[:5],))
    thread.start()  # sorts the core points of the first fit
    fitted.set_params(eps=2.0, min_samples=3).fit(few)
    thread.join()
    np.testing.assert_array_equal(fitted.predict(few), fitted.labels_)
