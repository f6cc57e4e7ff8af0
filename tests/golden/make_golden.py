#!/usr/bin/env python3
"""Makes the small golden set in this folder: generated points, and their labels by sklearn.cluster.DBSCAN.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install scikit-learn
    /tmp/golden/bin/python tests/golden/make_golden.py

Writes for each set NAME.npy (the points, n × d) and NAME.labels.npy (int8: the n labels of each variant, one after the
other), and golden.csv, a row per variant: set, precision, dims, eps, minpts, clusters, noise, core. No distance of two
points of a set lies within 1e-9 (relative) of any of its eps. Otherwise the labels would depend on rounding, and this
script fails.
The generator is seeded, but another NumPy or scikit-learn may give other points; the files are the reference.
"""
import csv
import pathlib

import numpy as np
import sklearn
from scipy.spatial.distance import pdist
from sklearn.cluster import DBSCAN

FOLDER = pathlib.Path(__file__).resolve().parent
EDGE = 1e-9


def blobs(random, n, dims, centres, deviation, noise):
    """Returns Gaussian blobs in the unit cube, and a share of uniform noise."""
    at = random.uniform(0, 1, (centres, dims))
    points = at[random.integers(0, centres, n)] + random.normal(0, deviation, (n, dims))
    loose = random.uniform(0, 1, n) < noise
    points[loose] = random.uniform(0, 1, (loose.sum(), dims))
    return points


def quantised(random, n):
    """Returns points on a lattice: there are many equal distances and duplicates, but no distance equals an eps."""
    return np.round(blobs(random, n, 2, 8, 0.06, 0.2), 2)


def chains(random, n):
    """Returns two spirals whose adjacent points are barely within reach, and thin bridges of noise."""
    turn = np.sort(random.uniform(0.5, 3.0, n // 2)) * 2 * np.pi
    arm = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)])
    points = np.vstack([arm, -arm]) + random.normal(0, 0.08, (2 * (n // 2), 2))
    return points[random.permutation(len(points))]


def duplicates(random, n):
    """Returns a few places, each many times."""
    places = random.uniform(-5, 5, (max(4, n // 12), 3))
    return places[random.integers(0, len(places), n)]


def galaxies(random, n):
    """Returns coordinates far from the origin, with scales that differ by axis."""
    points = blobs(random, n, 3, 15, 0.02, 0.3)
    return points * [60, 40, 0.2] + [140, -20, 1e3]


SETS = [
    # The fields are name, points, precision, eps, minpts.
    ("blobs_2d_f64", lambda r: blobs(r, 650, 2, 10, 0.03, 0.15), "<f8", (0.012, 0.025, 0.05, 0.11), (2, 4, 10, 40)),
    ("blobs_2d_f32", lambda r: blobs(r, 650, 2, 10, 0.03, 0.15), "<f4", (0.012, 0.025, 0.05, 0.11), (2, 4, 10, 40)),
    ("blobs_3d_f64", lambda r: blobs(r, 600, 3, 8, 0.05, 0.2), "<f8", (0.03, 0.06, 0.12, 0.3), (2, 3, 8, 25)),
    ("blobs_3d_f32", lambda r: blobs(r, 500, 3, 8, 0.05, 0.2), "<f4", (0.03, 0.06, 0.12, 0.3), (2, 3, 8, 25)),
    ("quantised_2d_f64", lambda r: quantised(r, 600), "<f8", (0.0055, 0.0105, 0.0145, 0.033), (2, 5, 9, 30)),
    ("quantised_2d_f32", lambda r: quantised(r, 600), "<f4", (0.0055, 0.0105, 0.0145, 0.033), (2, 5, 9, 30)),
    ("chains_2d_f64", lambda r: chains(r, 500), "<f8", (0.4, 0.7, 1.3), (2, 3, 4, 12)),
    ("duplicates_3d_f64", lambda r: duplicates(r, 500), "<f8", (1e-6, 0.9, 1.7), (2, 11, 14, 60)),
    ("line_1d_f64", lambda r: np.sort(r.exponential(1, 500))[::-1].reshape(-1, 1) ** 2, "<f8", (0.02, 0.1, 1),
     (1, 2, 6, 50)),
    ("line_1d_f32", lambda r: r.normal(0, 10, 400).reshape(-1, 1), "<f4", (0.2, 0.6, 2.0), (1, 2, 6, 50)),
    ("blobs_8d_f64", lambda r: blobs(r, 300, 8, 5, 0.06, 0.1), "<f8", (0.12, 0.2, 0.35, 0.8), (2, 4, 10, 40)),
    ("blobs_8d_f32", lambda r: blobs(r, 300, 8, 5, 0.06, 0.1), "<f4", (0.12, 0.2, 0.35, 0.8), (2, 4, 10, 40)),
    ("offset_3d_f64", lambda r: galaxies(r, 500), "<f8", (0.3, 0.8, 2.0, 6.0), (2, 4, 10, 40)),
]


def check_edges(name, points, all_eps):
    distances = pdist(points)
    for eps in all_eps:
        nearest = np.abs(distances / eps - 1).min()
        if nearest < EDGE:
            raise SystemExit(f"{name}: a distance lies within {nearest:.1e} of eps {eps}; choose another eps or seed")


def main():
    rows = []
    for seed, (name, make, precision, all_eps, all_minpts) in enumerate(SETS):
        points = np.ascontiguousarray(make(np.random.default_rng(1000 + seed)).astype(precision))
        exact = points.astype("<f8")  # float32 coordinates, float64 distances
        check_edges(name, exact, all_eps)
        labels = []
        for eps in all_eps:
            for minpts in all_minpts:
                found = DBSCAN(eps=eps, min_samples=minpts, algorithm="kd_tree").fit(exact)
                rows.append([name, precision, points.shape[1], repr(eps), minpts, found.labels_.max() + 1,
                             np.count_nonzero(found.labels_ < 0), len(found.core_sample_indices_)])
                labels.append(found.labels_)
        np.save(FOLDER / f"{name}.npy", points)
        if max(map(np.max, labels)) > 127:
            raise SystemExit(f"{name}: more clusters than a byte can number, which keeps the files small")
        np.save(FOLDER / f"{name}.labels.npy", np.concatenate(labels).astype("i1"))
    with open(FOLDER / "golden.csv", "w", newline="") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(["set", "precision", "dims", "eps", "minpts", "clusters", "noise", "core"])
        writer.writerows(rows)
    print(f"{len(SETS)} sets, {len(rows)} labellings by scikit-learn {sklearn.__version__}, "
          f"{sum(f.stat().st_size for f in FOLDER.iterdir()) >> 10} KiB")


if __name__ == "__main__":
    main()
