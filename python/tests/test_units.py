"""Tests the warning that the unit of eps is probably wrong."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import epsflow

RANDOM = np.random.default_rng(9)


def field(width, height) -> np.ndarray:
    """Returns longitudes and latitudes in degrees, including two corners."""
    found = RANDOM.uniform(size=(300, 2)) * [width, height]
    found[:2] = [[0, 0], [width, height]]
    return found + [95, 16]


def warnings_of(X, eps, metric="greatcircle", **params) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        epsflow.sweep(X, eps, 4, metric=metric, metric_params=params or None)
    assert all(w.category is UserWarning and w.filename == __file__ for w in caught)
    return [str(w.message) for w in caught]


def test_what_was_seen_and_what_to_write():
    X = field(10, 8)
    (text,) = warnings_of(X, 0.3, unit="rad")
    assert "eps == 0.3 is taken in rad" in text
    assert "it is 17.2 degrees, and the points span 10 degrees of longitude and 8 of latitude" in text
    assert "write metric_params={'unit': 'deg'} or metric_params={'unit': 'arcmin'}" in text
    (text,) = warnings_of(X, 30)
    assert "eps == 30.0 is taken in deg" in text and "'rad'" not in text and "metric_params={'unit': 'km'}" in text
    (text,) = warnings_of(X, 30000, unit="km")
    assert text.endswith("write metric_params={'unit': 'arcsec'}")
    assert warnings_of(X, 1e6, unit="arcsec")[0].endswith("write it in arcsec")
    radians = np.radians(X[:, ::-1])
    (text,) = warnings_of(radians, 0.3, "haversine")
    assert "eps == 0.3 is taken in rad" in text
    assert "write eps=numpy.radians(0.3) for deg or " in text and "eps=0.3 / 6371.0088 for km" in text
    assert warnings_of(radians, np.radians(0.3), "haversine") == []


def test_what_is_not_warned_of():
    X = field(10, 8)
    assert warnings_of(X, [1, 300]) == []  # the smallest eps has the right unit
    assert warnings_of(X, 300, "euclidean") == []
    swapped = np.ascontiguousarray(X[:, ::-1], np.float32)
    assert len(warnings_of(swapped, 10.01, latitude_first=True)) == 1
    assert warnings_of(swapped, 9.99, latitude_first=True) == []
    cap = np.column_stack([RANDOM.uniform(-180, 180, 300), RANDOM.uniform(89, 90, 300)])
    assert warnings_of(cap, 3) == []
    assert warnings_of(np.empty((0, 2)), 1) == []


def test_wherever_there_is_an_eps():
    X = field(10, 8)
    data = epsflow.Engine("cpu").load(X, metric="greatcircle")
    for call in (
        lambda: epsflow.neighbors(X, 30, metric="greatcircle"),
        lambda: epsflow.DBSCAN(30, metric="greatcircle").fit(X),
        lambda: epsflow.DBSCAN(30, metric="greatcircle").fit_predict(X),
        lambda: epsflow.dbscan(X, 30, metric="greatcircle"),
        lambda: data.sweep(30, 4),
        lambda: data.neighbors(30),
    ):
        with pytest.warns(UserWarning, match="is taken in deg") as caught:
            call()
        assert [w.filename for w in caught] == [__file__]
