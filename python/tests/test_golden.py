"""Compares labels of real data, read with the libraries of their users, with scikit-learn: all labels must be equal.
Cuts of hierarchies must give the core samples these labels.

EPSFLOW_TEST_DATA is the folder of the data. If it is not set, these tests skip.
"""

import csv
import functools
import hashlib
import os
import pathlib
import warnings

import numpy as np
import pytest

import epsflow

FOLDER = pathlib.Path(
    os.environ.get("EPSFLOW_TEST_DATA") or pathlib.Path(__file__).parents[2] / ".." / "shared" / "data"
)
GOLDEN = [("golden.csv", "."), ("golden_high.csv", "high")]


def variants_by_table():
    """Returns the inputs of the golden files: {(folder, file, table, columns): rows}."""
    wanted = {}
    for name, folder in GOLDEN:
        if not (FOLDER / name).exists():
            continue
        with open(FOLDER / name, newline="") as file:
            for row in csv.DictReader(file):
                wanted.setdefault((folder, row["file"], row["table"], row["columns"]), []).append(row)
    return wanted


@functools.lru_cache(maxsize=1)
def table_of(folder, file, table, columns):
    """Returns points as users have them: frames, tables, structured and plain arrays."""
    path = FOLDER / folder / file
    names = columns.split("+") if columns else []
    if ".fits" in file:
        read = pytest.importorskip("astropy.table").Table.read
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other columns have units that FITS lacks
            columns = read(path, hdu=int(table))[names]
        for name in names:
            # The known labels belong to plain numbers, so units are removed.
            columns[name].unit = None
        return columns
    if path.suffix == ".hdf5":
        with pytest.importorskip("h5py").File(path) as opened:
            return pytest.importorskip("pandas").DataFrame(opened[table][:])[names]
    if path.suffix == ".npy":
        array = np.load(path)
        return array[names] if names else array
    pandas = pytest.importorskip("pandas")
    if all(name.isdigit() for name in names):
        return pandas.read_csv(path, header=None, usecols=[int(name) for name in names])
    return pandas.read_csv(path, usecols=names)[names]


def test_that_there_are_data():
    if not variants_by_table():
        pytest.skip(f"no golden.csv in {FOLDER}: name its folder in EPSFLOW_TEST_DATA")


@pytest.mark.parametrize("key", variants_by_table(), ids=lambda key: "-".join(key[1:]))
def test_labels_are_the_known_ones(key):
    rows = variants_by_table()[key]
    points = table_of(*key)
    if isinstance(points, np.ndarray) and points.dtype.names:
        points = np.stack([points[name] for name in points.dtype.names], axis=1)
    dropped = [row for row in rows if row["dropped"] != "0"]
    if dropped:
        with pytest.raises(ValueError, match="drop_missing"):
            epsflow.sweep(points, eps=[1.0], min_samples=[4])
    points, kept = epsflow.drop_missing(points)
    assert len(kept) == int(rows[0]["rows"])
    variants = [(float(row["eps"]), int(row["minpts"])) for row in rows]
    results = epsflow.sweep(points, variants=variants, core=True)
    trees = {tree.min_samples: tree for tree in epsflow.hierarchy(points, {int(row["minpts"]) for row in rows})}
    for row, (eps, min_samples) in zip(rows, variants):
        labels = results.labels(eps=eps, min_samples=min_samples)
        assert hashlib.sha256(labels.astype("<i4").tobytes()).hexdigest() == row["labels_sha256"], (eps, min_samples)
        core = results.core_sample_indices(eps=eps, min_samples=min_samples)
        assert len(core) == int(row["core"])
        expected = np.full(len(labels), -1)
        expected[core] = labels[core]
        np.testing.assert_array_equal(trees[min_samples].cut(eps), expected)
