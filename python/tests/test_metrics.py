"""Compares metrics and weights with scikit-learn."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import epsflow

cluster = pytest.importorskip("sklearn.cluster")


@pytest.fixture(scope="module")
def sky() -> np.ndarray:
    """Returns longitudes and latitudes in degrees, around the date line, both poles and elsewhere."""
    random = np.random.default_rng(11)
    centres = np.array([[179.8, 10.0], [20.0, 89.0], [-70.0, -89.2], [0.0, 0.0], [100.0, 45.0]])
    spread = np.array([[1.0, 1.0], [100.0, 0.7], [100.0, 0.7], [1.0, 1.0], [1.0, 0.7]])
    which = random.integers(0, 5, 900)
    points = centres[which] + random.normal(size=(900, 2)) * spread[which]
    points[:, 0] = (points[:, 0] + 180) % 360 - 180
    points[:, 1] = np.clip(points[:, 1], -90, 90)
    return points


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_haversine_is_that_of_scikit_learn(sky, dtype):
    radians = np.radians(sky[:, ::-1]).astype(dtype)
    for eps in (0.002, 0.01, 0.3):
        theirs = cluster.DBSCAN(eps=eps, min_samples=6, metric="haversine", algorithm="ball_tree")
        expected = theirs.fit(radians.astype(np.float64))
        found = epsflow.sweep(radians, eps, 6, metric="haversine", core=True)[0]
        np.testing.assert_array_equal(found.labels, expected.labels_)
        np.testing.assert_array_equal(found.core_sample_indices, expected.core_sample_indices_)


def test_great_circles_are_haversine_in_degrees_and_other_units(sky):
    theirs = cluster.DBSCAN(eps=np.radians(0.6), min_samples=6, metric="haversine", algorithm="ball_tree")
    expected = theirs.fit_predict(np.radians(sky[:, ::-1]))
    assert len(set(expected)) > 3
    for unit, eps in (
        ("deg", 0.6), ("arcmin", 36.0), ("arcsec", 2160.0), ("rad", np.radians(0.6)),
        ("km", np.radians(0.6) * 6371.0088),
    ):
        found = epsflow.DBSCAN(eps, min_samples=6, metric="greatcircle", metric_params={"unit": unit}).fit_predict(sky)
        np.testing.assert_array_equal(found, expected)
    swapped = epsflow.DBSCAN(0.6, min_samples=6, metric="greatcircle", metric_params={"latitude_first": True})
    np.testing.assert_array_equal(swapped.fit_predict(np.ascontiguousarray(sky[:, ::-1])), expected)


def test_cosine_and_scale():
    random = np.random.default_rng(2)
    X = random.normal(size=(400, 6)) + 1
    expected = cluster.DBSCAN(eps=0.1, min_samples=5, metric="cosine").fit_predict(X)
    assert len(set(expected)) > 1
    np.testing.assert_array_equal(epsflow.DBSCAN(0.1, min_samples=5, metric="cosine").fit_predict(X), expected)
    scale = [1, 0.5, 2, 0.01, 3, 1]
    expected = cluster.DBSCAN(eps=1.2, min_samples=5, algorithm="kd_tree").fit_predict(X * scale)
    found = epsflow.sweep(X, 1.2, 5, metric_params={"scale": scale})
    np.testing.assert_array_equal(found.labels(1.2, 5), expected)


@pytest.mark.parametrize(
    ("metric", "params"),
    [("manhattan", None), ("cityblock", None), ("chebyshev", None), ("minkowski", {"p": 3}), ("minkowski", {"p": 1.5})],
)
def test_norms_are_those_of_scikit_learn(metric, params):
    random = np.random.default_rng(5)
    X = random.normal(size=(500, 3))
    p = (params or {}).get("p")
    for eps in (0.3, 0.6):
        expected = cluster.DBSCAN(eps=eps, min_samples=5, metric=metric, p=p, algorithm="ball_tree").fit(X)
        assert len(set(expected.labels_)) > 1
        for fitted in (
            epsflow.DBSCAN(eps, min_samples=5, metric=metric, p=p).fit(X),
            epsflow.DBSCAN(eps, min_samples=5, metric=metric, metric_params=params).fit(X),
        ):
            np.testing.assert_array_equal(fitted.labels_, expected.labels_)
            np.testing.assert_array_equal(fitted.core_sample_indices_, expected.core_sample_indices_)
            np.testing.assert_array_equal(fitted.predict(X), expected.labels_)


@pytest.mark.parametrize("box", [[1.0, 1.0, None], [(-0.5, 0.5), None, 1.0], [1.0], 1.0])
def test_periodic_boxes(box):
    random = np.random.default_rng(6)
    sides = box if isinstance(box, list) else [box]
    sides = sides * 3 if len(sides) == 1 else sides
    X = random.random((300, 3))
    X += [side[0] if isinstance(side, tuple) else 0 for side in sides]
    t = np.abs(X[:, None] - X[None])
    for k, side in enumerate(sides):
        if side is not None:
            t[:, :, k] = np.minimum(t[:, :, k], 1 - t[:, :, k])
    for eps in (0.08, 0.13, 0.7):
        expected = cluster.DBSCAN(eps=eps, min_samples=4, metric="precomputed").fit_predict(np.sqrt((t**2).sum(axis=2)))
        np.testing.assert_array_equal(epsflow.sweep(X, eps, 4, metric_params={"box": box}).labels(eps, 4), expected)


def test_neighbors_and_data_sets_take_a_metric(sky):
    table = epsflow.neighbors(sky, 60, metric="greatcircle", metric_params={"unit": "km"}, distances=True)
    data = epsflow.Engine("cpu").load(sky, metric="greatcircle", metric_params={"unit": "km"})
    again = data.neighbors(60, distances=True)
    np.testing.assert_array_equal(table.indices, again.indices)
    lon, lat = np.radians(sky.T)
    i, j = table.nonzero()
    far = np.sin((lat[i] - lat[j]) / 2) ** 2 + np.cos(lat[i]) * np.cos(lat[j]) * np.sin((lon[i] - lon[j]) / 2) ** 2
    np.testing.assert_allclose(table[i, j], 6371.0088 * 2 * np.arcsin(np.sqrt(far)), atol=1e-4)
    assert data.sweep(60, 6)[0].n_clusters > 0


@pytest.mark.parametrize(
    ("metric", "params", "parts"),
    [
        (lambda a, b: 0, None, ["function", "haversine"]),
        ("precomputed", None, ["Precomputed matrix must be square"]),
        ("canberra", None, ["canberra", "euclidean"]),
        ("euclidean", {"p": 3}, ["p=3", "minkowski"]),
        ("minkowski", {"p": 0.5}, ["p", "0.5"]),
        ("greatcircle", {"box": [360, None]}, ["box", "unit"]),
        ("euclidean", {"box": [1, 0]}, ["box", "0", "None"]),
        ("euclidean", {"box": [1, (1, 2, 3)]}, ["box", "(1, 2, 3)"]),
        ("euclidean", {"box": [1, 1, 1]}, ["box", "3 sides", "2 columns"]),
        ("greatcircle", {"unit": "mile"}, ["unit", "mile", "km"]),
        ("euclidean", {"scale": [1]}, ["scale", "1 factor", "2 columns"]),
    ],
)
def test_metrics_that_are_not_there_are_refused(metric, params, parts):
    with pytest.raises(ValueError) as error:
        epsflow.DBSCAN(metric=metric, metric_params=params).fit(np.zeros((3, 2)))
    for part in parts:
        assert part in str(error.value)


@pytest.mark.parametrize(
    ("name", "value", "culprit"),
    [
        ("box", "44", "'44'"),
        ("box", b"44", "b'44'"),
        ("box", ["44", 44], "'44'"),
        ("box", ("4", "5"), "'4'"),
        ("box", [44, True], "True"),
        ("box", {44: 1, 45: 2}, "{44: 1, 45: 2}"),
        ("scale", {1, 2}, "{1, 2}"),
        ("scale", b"12", "b'12'"),
        ("scale", [np.True_, 2], repr(np.True_)),
        ("p", "3", "'3'"),
        ("p", np.timedelta64(3), repr(np.timedelta64(3))),
    ],
)
def test_what_is_no_number_is_refused(name, value, culprit):
    with pytest.raises(TypeError, match=re.escape(f"{name}={value!r}: {culprit} is no number")):
        epsflow.sweep(np.zeros((3, 2)), 1, 2, metric="minkowski", metric_params={name: value})


def test_p_and_a_single_weight_are_as_in_scikit_learn():
    random = np.random.default_rng(5)
    X = random.normal(size=(300, 3))
    for metric in ("euclidean", "manhattan"):  # these metrics have no p
        given = {"eps": 0.6, "min_samples": 5, "metric": metric, "p": 3}
        np.testing.assert_array_equal(epsflow.DBSCAN(**given).fit_predict(X), cluster.DBSCAN(**given).fit_predict(X))
    for weight in (2, np.float32(0.5)):
        expected = cluster.DBSCAN(0.6, min_samples=5).fit(X, sample_weight=weight).labels_
        np.testing.assert_array_equal(epsflow.DBSCAN(0.6, min_samples=5).fit(X, sample_weight=weight).labels_, expected)
        np.testing.assert_array_equal(epsflow.sweep(X, 0.6, 5, sample_weight=weight)[0].labels, expected)


def test_weights_are_those_of_scikit_learn():
    random = np.random.default_rng(4)
    X = random.normal(size=(600, 2))
    weights = random.integers(-4, 9, 600) / 4
    for eps in (0.05, 0.2):
        for min_samples in (1, 4, 9):
            expected = cluster.DBSCAN(eps=eps, min_samples=min_samples).fit(X, sample_weight=weights)
            found = epsflow.sweep(X, eps, min_samples, sample_weight=weights, core=True)[0]
            np.testing.assert_array_equal(found.labels, expected.labels_)
            np.testing.assert_array_equal(found.core_sample_indices, expected.core_sample_indices_)


def test_weights_that_cannot_be_are_refused():
    X, ones = np.zeros((4, 2)), np.ones(4)
    for weights, words in (([1, 2], "sample_weight"), ([1, np.nan, 1, 1], "point 1")):
        with pytest.raises(ValueError, match=words):
            epsflow.DBSCAN().fit(X, sample_weight=weights)
    for weights, words in (
        (np.ma.masked_array(ones, mask=[0, 1, 0, 0]), "sample_weight has masked values"),
        (ones * 1j, "dtype complex128"),
        (1j, "dtype complex128"),
        (ones.astype("datetime64[s]"), "dtype datetime64"),
        (["1", "1", "1", "1"], "dtype <U1"),
        (np.array([1, 1, 1, "1"], dtype=object), "dtype object"),
        (np.array([1, 1, 1, np.complex128(1)], dtype=object), "dtype object"),
        (np.array([1, 1, 1, None], dtype=object), "not all of it is numbers|point 3"),
    ):
        with pytest.raises(ValueError, match=words):
            epsflow.sweep(X, 0.1, 2, sample_weight=weights)
    expected = epsflow.sweep(X, 0.1, 2, sample_weight=ones)[0].n_core
    for weights in (np.ma.masked_array(ones), ones.astype(bool), [Decimal(1)] * 4, Fraction(1), True):
        assert epsflow.sweep(X, 0.1, 2, sample_weight=weights)[0].n_core == expected


def test_errors_of_a_callback_are_its_own():
    with pytest.raises(json.JSONDecodeError):
        epsflow.sweep(np.zeros((10, 2)), 1.0, 2, progress=lambda p: json.loads("{"))
