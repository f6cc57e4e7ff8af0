"""Tests labels as a column of the input table. If a library is missing, its test skips."""

import gc
import pickle
import sys
import weakref

import numpy as np
import pytest

from checks import check_refused
from tables import TABLES, geo_frame, pandas_frame, xarray_dataset

import epsflow


def names_of(table):
    if hasattr(table, "data_vars"):
        return list(table.data_vars)
    return list(table.schema.names if hasattr(table, "num_rows") else getattr(table, "colnames", None) or table.columns)


@pytest.mark.parametrize("make", [*TABLES, geo_frame])
@pytest.mark.parametrize("core", [False, True])
def test_labels_beside_the_table_that_was_swept(points, make, core):
    X = make(points)
    before = names_of(X)
    data = epsflow.Engine("cpu").load(X)
    for result in (epsflow.sweep(X, [0.1, 0.2], [3, 5], core=core), data.sweep(0.1, 3, core=core)):
        found, variant = result.labelled(0.1, 3), result.variant(0.1, 3)
        assert type(found) is type(X) and variant.n_clusters > 1
        assert names_of(found) == [*before, "label", "core"][: None if core else -1] and names_of(X) == before
        for name in before:
            assert (np.asarray(found[name]) == np.asarray(X[name])).all()
        np.testing.assert_array_equal(np.asarray(found["label"]), variant.labels)
        assert np.asarray(found["label"]).dtype == np.int32
        if core:
            np.testing.assert_array_equal(np.asarray(found["core"]), variant.core)
            assert np.asarray(found["core"]).dtype == np.bool_
    other = result.labelled(0.1, 3, label_name="cluster", core_name="is_core")
    assert names_of(other) == [*before, "cluster", "is_core"][: None if core else -1]


@pytest.mark.parametrize("make", [*TABLES, geo_frame])
def test_names_that_are_taken(points, make):
    X = make(points, {"label": np.zeros(60), "core": np.zeros(60)})
    result = epsflow.sweep(X, 0.1, 3, core=True)
    assert names_of(result.labelled(0.1, 3, label_name="cluster", core_name="is_core"))[-2:] == ["cluster", "is_core"]
    check_refused(
        (lambda: result.labelled(0.1, 3), ValueError, "X has 'label' already.*label_name="),
        (lambda: result.labelled(0.1, 3, label_name="cluster"), ValueError, "X has 'core' already.*core_name="),
        (lambda: result.labelled(0.1, 3, label_name="a", core_name="a"), ValueError, "both 'a'"),
        (lambda: result.labelled(0.1, 3, label_name=5), TypeError, "label_name is 5"),
        (lambda: result.labelled(0.3, 3), KeyError, "none of the variants"),
    )


def test_names_that_several_levels_have(points):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(points, columns=pandas.MultiIndex.from_tuples([("label", "x"), ("a", "y")]))
    result = epsflow.sweep(X, 0.1, 3)
    with pytest.raises(ValueError, match="X has 'label' already.*label_name="):
        result.labelled(0.1, 3)
    found = result.labelled(0.1, 3, label_name="cluster")
    assert list(found) == [("label", "x"), ("a", "y"), ("cluster", "")]
    np.testing.assert_array_equal(found.iloc[:, :2].to_numpy(), points)


def test_no_value_is_shared_with_the_table(points):
    X = xarray_dataset(points)
    found = epsflow.sweep(X, 0.1, 3).labelled(0.1, 3)
    before = X["x"].values[0]
    found["x"].values[0] = 99
    assert X["x"].values[0] == before


def test_sparse_distances_are_no_table(points):
    sparse = pytest.importorskip("scipy.sparse")
    distances = np.abs(np.subtract.outer(points[:, 0], points[:, 0]))
    result = epsflow.sweep(sparse.csr_array(distances), 0.1, 3, metric="precomputed")
    with pytest.raises(ValueError, match="X is sparse distances, of which there is no table"):
        result.labelled(0.1, 3)


def test_labels_beside_the_columns_of_arrays(points, monkeypatch):
    pandas = pytest.importorskip("pandas")
    for X in (points, points.tolist(), points.astype(np.float32)):
        result = epsflow.sweep(X, 0.1, 3, core=True)
        found = result.labelled(0.1, 3)
        assert isinstance(found, pandas.DataFrame) and list(found) == ["x0", "x1", "label", "core"]
        np.testing.assert_array_equal(found[["x0", "x1"]].to_numpy(), np.asarray(X))
        np.testing.assert_array_equal(found["label"].to_numpy(), result[0].labels)
    found.loc[0, "x0"] = 5.0
    assert X[0, 0] != 5
    with pytest.raises(ValueError, match="X has 'x1' already"):
        result.labelled(0.1, 3, label_name="x1")
    monkeypatch.setitem(sys.modules, "pandas", None)
    structured = result.labelled(0.1, 3)
    assert structured.dtype == np.dtype([("x0", "f4"), ("x1", "f4"), ("label", "i4"), ("core", "?")])
    np.testing.assert_array_equal(structured["core"], result[0].core)
    np.testing.assert_array_equal(structured["x1"], X[:, 1])


def test_results_hold_the_table_itself(points):
    X = pandas_frame(points)
    kept = weakref.ref(X)
    result = epsflow.sweep(X, 0.1, 3)
    del X
    gc.collect()
    assert kept() is not None and list(result.labelled(0.1, 3)) == ["x", "y", "label"]
    kept().loc[60] = [0.5, 0.5]
    with pytest.raises(ValueError, match="X had 60 rows when it was clustered, and has 61 now"):
        result.labelled(0.1, 3)
    unpickled = pickle.loads(pickle.dumps(result))
    with pytest.raises(ValueError, match="loaded or unpickled.*has no X"):
        unpickled.labelled(0.1, 3)
    del result
    gc.collect()
    assert kept() is None
