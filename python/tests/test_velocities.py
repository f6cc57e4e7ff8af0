"""Tests one data set under many velocities."""

import epsflow
import numpy as np
import pytest


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_counts_are_those_of_a_loop(kind):
    draw = np.random.default_rng(4)
    X, times = draw.uniform(0, 3, (150, 2)).astype(kind), draw.uniform(0, 2, 150)
    velocities = draw.uniform(-1, 1, (9, 2))
    found = epsflow.sweep_velocities(X, times, velocities, variants=[(0.3, 4), (0.2, 3)], min_size=5)
    assert found.variants == [(0.3, 4), (0.2, 3)] and len(found) == 9
    for v, u in enumerate(velocities):
        moved = X.astype(np.float64) - times[:, None] * u
        np.testing.assert_array_equal(found.points(v), moved)
        for eps, min_samples in found.variants:
            alone = epsflow.sweep(moved, eps, min_samples, core=True)[0]
            row = found.summary[(found.summary.velocity == v) & (found.summary.eps == eps)].iloc[0]
            counts = (row.n_clusters, row.n_noise, row.n_core, row.n_border)
            assert counts == (alone.n_clusters, alone.n_noise, alone.n_core, alone.n_border)
            catalog = epsflow.catalog(moved, alone)
            assert row.largest == catalog["size"].max()
            listed = found.clusters[(found.clusters.velocity == v) & (found.clusters.eps == eps)]
            for name in ("first_core", "core", "size"):
                np.testing.assert_array_equal(listed[name], catalog[name][catalog["size"] >= 5])
            np.testing.assert_array_equal(found.labels(v, eps, min_samples), alone.labels)


def test_what_is_wrong_is_named():
    X, times = np.zeros((3, 2)), np.arange(3)
    for bad, message in (
        ({"times": [0, 1]}, r"times.shape == \(2,\)"),
        ({"velocities": [[0, 1, 2]]}, "X has 2 columns"),
        ({"times": [0, np.nan, 1]}, "time 1 is NaN"),
        ({"velocities": [[0, 1], [np.inf, 0]]}, "velocity 1 is infinite"),
        ({"min_size": 0}, "min_size"),
        ({"eps": -1}, "eps"),
    ):
        given = {"times": times, "velocities": [[0, 0]], "eps": 1, "min_samples": 2, **bad}
        with pytest.raises(ValueError, match=message):
            epsflow.sweep_velocities(X, **given)
    found = epsflow.sweep_velocities(X, times, [[0, 0]], 1, 2)
    with pytest.raises(IndexError, match="no velocity 1"):
        found.labels(1, 1, 2)
    assert len(epsflow.sweep_velocities(X[:0], times[:0], [[0, 0]], 1, 2).clusters) == 0
