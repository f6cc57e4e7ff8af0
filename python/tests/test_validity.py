"""Tests validity(), which measures how well clusters are separated."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from checks import check_refused

import epsflow

HDBSCAN = (0.7622324068756412, [0.7676895180929465, 0.7491353399541082])


def blobs(seed, n=200, d=2, clusters=4):
    random = np.random.default_rng(seed)
    labels = random.integers(-1, clusters, n)
    centres = random.uniform(-6, 6, size=(clusters, d))
    return np.where(
        labels[:, None] < 0, random.uniform(-8, 8, size=(n, d)), centres[labels] + random.normal(0, 0.7, size=(n, d))
    ), labels


def densest_first(X, labels):
    """Sorts rows by core distance and then by coordinates, because hdbscan's scores depend on their order."""
    core = np.zeros(len(X))
    for label in set(labels) - {-1}:
        (ids,) = np.nonzero(labels == label)
        distances = np.sqrt(((X[ids, None] - X[None, ids]) ** 2).sum(axis=2))
        with np.errstate(divide="ignore"):
            powers = np.where(distances > 0, distances ** -float(X.shape[1]), 0).sum(axis=1) / max(len(ids) - 1, 1)
            core[ids] = np.where(powers > 0, powers ** (-1 / X.shape[1]), 0)
    return np.lexsort([*X.T[::-1], core.round(12)])


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("seed", range(6))
def test_scores_are_those_of_hdbscan(seed, d):
    hdbscan = pytest.importorskip("hdbscan.validity", reason="hdbscan is not installed, whose scores are compared with")
    X, labels = blobs(seed, d=d)
    order = densest_first(X, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        score, scores = hdbscan.validity_index(X[order], labels[order], per_cluster_scores=True)
    found = epsflow.validity(X, labels)
    assert found.score == pytest.approx(score, abs=1e-9)
    np.testing.assert_allclose(found.cluster_scores, scores, rtol=0, atol=1e-9)


def test_scores_that_hdbscan_gave():
    """Compares with scores of hdbscan 0.8.44, in case it is not installed. Many edges have equal lengths."""
    X = np.array(
        [[x, y] for x in (0.0, 1.1, 2.3, 3.6) for y in (0.0, 1.3, 2.7)]
        + [[9.0 + x, 1.0 + x * x] for x in (0.0, 0.4, 1.1, 1.5, 2.2)]
    )
    labels = np.array([0] * 12 + [1] * 5)
    found = epsflow.validity(X, labels)
    assert found.score == pytest.approx(HDBSCAN[0], abs=1e-12)
    np.testing.assert_allclose(found.cluster_scores, HDBSCAN[1], rtol=0, atol=1e-12)


def test_what_is_found():
    X, labels = blobs(3)
    labels = np.where(labels == 2, 9, labels)
    labels[np.flatnonzero(labels == -1)[0]] = 5  # a cluster of one point
    found = epsflow.validity(X, labels)
    np.testing.assert_array_equal(found.clusters, [0, 1, 3, 5, 9])
    np.testing.assert_array_equal(found.sizes, [(labels == c).sum() for c in found.clusters])
    assert np.isnan(found.cluster_scores[3]) and not np.isnan(found.cluster_scores[[0, 1, 2, 4]]).any()
    larger = np.maximum(found.separation, found.sparseness)
    np.testing.assert_allclose(found.cluster_scores, (found.separation - found.sparseness) / larger)
    assert found.score == pytest.approx(np.nansum(found.cluster_scores * found.sizes) / len(X))
    assert found.error == 0 and not found.cluster_errors[[0, 1, 2, 4]].any()
    assert epsflow.validity(X, labels, threads=1).score == found.score


def test_samples_have_an_error():
    X, labels = blobs(7, n=600, clusters=3)
    whole, sampled = epsflow.validity(X, labels), epsflow.validity(X, labels, sample=20)
    assert sampled.error > 0 and (sampled.cluster_errors > 0).all() and whole.error == 0
    assert epsflow.validity(X, labels, sample=20, samples=20).score == whole.score


def test_tables_variants_and_estimators():
    pandas = pytest.importorskip("pandas")
    X, _ = blobs(3)
    variant = epsflow.sweep(X, eps=[1.0], min_samples=5)[0]
    score = epsflow.validity(X, variant).score
    assert epsflow.validity(pandas.DataFrame(X), variant.labels).score == score
    assert epsflow.validity(X, epsflow.DBSCAN(1.0, min_samples=5).fit(X)).score == score


def test_other_distances_and_wrong_arguments_are_refused():
    X, labels = blobs(3)
    gap = X.copy()
    gap[3, 1] = np.nan
    check_refused(
        (lambda: epsflow.validity(X, labels, metric="cosine"), ValueError,
         r"validity\(\) is of Euclidean distances, and the metric is cosine"),
        (lambda: epsflow.validity(X, labels, metric_params={"scale": [1, 2]}), ValueError, "Euclidean"),
        (lambda: epsflow.validity(X, labels[1:]), ValueError, "200 points and 199 labels"),
        (lambda: epsflow.validity(X, labels * 1.0), TypeError, "labels has dtype float64"),
        (lambda: epsflow.validity(X, labels, samples=1), ValueError, "samples == 1, must be >= 2"),
        (lambda: epsflow.validity(gap, labels), ValueError, "row 3, column 1"),
    )
