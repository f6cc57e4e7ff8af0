"""Catalogues: tables with one row per cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_host_points, as_weights
from ._columns import has_masked
from ._compare import as_labels, labels_of
from ._docs import documented
from ._frames import library_of
from ._gpu_arrays import as_gpu_values, on_host, to_host
from ._labelled import columns_in, table_of
from ._parameters import as_options
from ._tasks import made_by, python_errors

Columns = Mapping[str, Any]


@documented
def members(labels: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Return the points in the order of their clusters, without noise.

    Parameters
    ----------
    {labels}

    Returns
    -------
    points : ndarray of shape (n_clustered,)
        Indices of points. The points of cluster `clusters[k]` are points[offsets[k]:offsets[k + 1]], ascending.
    offsets : ndarray of shape (n_clusters + 1,)
        The first entry of each cluster in `points`, and n_clustered.
    clusters : ndarray of shape (n_clusters,)
        The labels of the clusters, ascending.

    Raises
    ------
    ValueError, TypeError
        If labels are invalid.
    """
    with python_errors():
        points, offsets, clusters = _core.order_by_cluster(np.ascontiguousarray(as_labels(labels, "labels"), np.int32))
    return points.astype(np.int64), offsets.astype(np.int64), clusters


def catalog_on_host(
    X: Any, metric: Any, labels: Any, core: Any = None, weights: Any = None, columns: Columns | Any = None,
    threads: int | None = None,
) -> dict[str, Any]:
    """Returns the columns of `epsflow.catalog`, by name, for points on the host. metric: from metric_of()."""
    points = as_host_points(X, metric)
    of_points = as_labels(labels, "labels")
    require_labels(len(points), len(of_points))
    mask = core_of(labels) if core is None else core
    given = columns_of(X, columns, len(points))
    return catalog_columns(points, metric, of_points, mask, weights, given, names_of(X, points), threads=threads)


def catalog_on_gpu(
    engine: Any, points: _core.GpuPoints, metric: Any, labels: Any, core: Any = None, weights: Any = None,
    columns: Columns | Any = None,
) -> dict[str, Any]:
    """Returns the columns of `epsflow.catalog`, by name, for points on the GPU of an engine. Other arrays on that GPU
    are not copied if they have DLPack, are contiguous, and are of type int32 (labels), of one byte (core) or of type
    float64 (weights, columns); else they are converted on the host. metric: a result of metric_of(). Raises as
    `epsflow.catalog`."""
    n = len(points)
    found = labels_of(labels, "labels")
    of_points = as_gpu_values(found, "int32") or as_values(as_labels(found, "labels"))
    require_labels(n, len(of_points))
    mask = core_of(labels) if core is None else core
    of_core = None if mask is None else as_gpu_values(mask, "mask") or as_values(as_mask(mask, n))
    masses = (
        None if weights is None else as_gpu_values(weights, "float64") or as_values(as_weights(weights, n, "weights"))
    )
    named = [
        (name, as_gpu_values(values, "float64") or as_values(as_column(values, name, n)), False)
        for name, values in named_of(points, columns)
    ]
    return _table_of(made_by(_core.start_gpu_catalog, engine, points, metric, (of_points, of_core, masses), named))


def as_values(array: NDArray[Any]) -> _core.Values:
    return _core.values(array, array)


def as_mask(core: Any, n: int) -> NDArray[np.uint8]:
    """Returns a mask [n] of uint8, 1 for True. core: [n] booleans, or whole numbers 0 and 1.

    Raises ValueError if the shape is not [n] or if values are masked, and TypeError for other types and numbers.
    """
    if has_masked(core):
        raise ValueError("core has masked values, and is True or False for each point")
    mask = np.asarray(on_host(core))
    if mask.shape != (n,):
        indices = (
            f"; if these are indices, give numpy.isin(numpy.arange({n}), core)"
            if mask.dtype.kind in "iu" and mask.ndim == 1 else ""
        )
        raise ValueError(f"core.shape == {mask.shape}, expected {(n,)}: one entry for each sample, of bool{indices}")
    if mask.dtype.kind == "O" and all(isinstance(value, (bool, np.bool_)) for value in mask):
        mask = mask.astype(np.bool_)
    if n > 0 and mask.dtype.kind != "b" and not (mask.dtype.kind in "iu" and ((mask == 0) | (mask == 1)).all()):
        raise TypeError(f"core has dtype {mask.dtype}, and is True or False for each point, or 1 and 0")
    return np.ascontiguousarray(mask, dtype=np.uint8)


def require_labels(points: int, labels: int) -> None:
    """Raises ValueError if the numbers of points and labels differ."""
    if points != labels:
        raise ValueError(f"there are {points} points and {labels} labels: give one for each")


def core_of(labelled: Any) -> Any:
    """Returns the core mask of a variant or of an estimator, or None if it has none. The mask is on a GPU if it is the
    mask of a variant that has it there; otherwise it is on the host."""
    indices = getattr(labelled, "core_sample_indices_", None)
    if indices is not None:
        mask = np.zeros(len(labelled.labels_), np.bool_)
        mask[to_host(indices)] = True
        return mask
    result = getattr(labelled, "_result", None)
    if getattr(result, "gpu_core", None) is not None:
        return labelled.core
    held = getattr(result, "core", None)
    return None if held is None or len(held) == 0 else np.asarray(held)


def names_of(X: Any, points: Any) -> list[str]:
    """Returns the names of the columns if X is a table of pandas or polars in which every column is a coordinate, else
    an empty list. points: [n, d] the points that were read from X."""
    if library_of(X) not in ("pandas", "polars"):
        return []
    names = [str(name) for name in X.columns]
    return names if len(names) == points.shape[1] else []


Column = tuple[str, NDArray[np.float64], bool]
"""The name, the values, and whether the mean is weighted."""


def columns_of(X: Any, columns: Columns | Any, n: int) -> list[Column]:
    """Returns the columns to summarize, on the host. X, columns: as named_of() takes them. n: the number of points.
    Raises ValueError, TypeError as named_of() and as_column()."""
    return [(name, as_column(values, name, n), False) for name, values in named_of(X, columns)]


def named_of(X: Any, columns: Columns | Any) -> list[tuple[str, Any]]:
    """Returns pairs of names and values. columns: a dict of them, a list of columns of the table X, or None. Raises
    TypeError if columns is a list and X is not a table, or if columns is a text; ValueError if X lacks a column."""
    if columns is None:
        return []
    if not isinstance(columns, Mapping):
        table = table_of(X)
        if table is None or isinstance(columns, str):
            raise TypeError(
                "columns is a dict of names and arrays; names alone are for an X that is a table, as a list"
            )
        columns, there = list(columns), columns_in(table)
        missing = [name for name in columns if name not in there]
        if missing:
            raise ValueError(f"X has no column {missing[0]!r}; it has {', '.join(map(str, there))}")
        columns = {str(name): table[name] for name in columns}
    return [(str(name), values) for name, values in columns.items()]


def as_column(values: Any, name: str, n: int) -> NDArray[np.float64]:
    """Returns values [n] as float64 on the host. Raises ValueError for other shapes and types. name: in errors."""
    array = np.asarray(on_host(values))
    if array.dtype.kind not in "fiub":
        raise ValueError(f"the column {name!r} has dtype {array.dtype}, and what is summed up are numbers")
    if array.shape != (n,):
        raise ValueError(f"the column {name!r} has the shape {array.shape}, expected {(n,)}: one value for each sample")
    return np.ascontiguousarray(array, dtype=np.float64)


def catalog_columns(
    points: Any, metric: Any, labels: NDArray[np.int32], core: NDArray[Any] | None, weights: Any = None,
    columns: list[Column] | None = None, names: list[str] | None = None, *, offsets: Any = (),
    threads: int | None = None,
) -> dict[str, Any]:
    """Returns the columns of the catalogue by their names.

    points, labels, core, weights: one row or value for each point. metric: a result of metric_of(). columns: further
    columns to summarize. names: the names of the coordinates. offsets: [slices + 1] the first point of each slice, and
    n; the labels of each slice must then begin at 0. Empty for points without slices. Raises ValueError if an array
    does not fit the points, if two columns have the same name, or if a weight is below 0 or not finite; errors for
    `core` as as_mask().
    """
    n = len(points)
    mask = None if core is None else as_mask(core, n)
    masses = None if weights is None else as_weights(weights, n, "weights")
    given = _core.Points(points, metric, np.ascontiguousarray(labels, np.int32), mask, masses)
    starts = [int(offset) for offset in offsets]
    options = as_options(threads=threads)
    return _table_of(made_by(_core.start_catalog, given, columns or [], starts, names or [], options))


def _table_of(columns: list[Any]) -> dict[str, Any]:
    """Returns columns by name. Raises ValueError if two columns have the same name."""
    table: dict[str, Any] = {}
    for name, values, _ in columns:
        if name in table:
            raise ValueError(f"two columns of the catalogue would be called {name!r}: give one of them another name")
        table[name] = np.asarray(values)
    return table
