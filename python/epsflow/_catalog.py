"""Catalogues: a row for each cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_host_points, as_weights
from ._compare import as_labels
from ._frames import library_of, metric_of
from ._gpu_arrays import is_on_gpu, to_host
from ._labelled import table_of
from ._parameters import as_options
from ._tables import as_frame
from ._tasks import python_errors, run_task

Columns = Mapping[str, Any]


def catalog(
    X: Any,
    labels: Any,
    *,
    core: Any = None,
    weights: Any = None,
    columns: Columns | Any = None,
    metric: str = "euclidean",
    metric_params: dict[str, Any] | None = None,
    threads: int | None = None,
) -> Any:
    """What a labelling says of each of its clusters, a row for each.

    Parameters
    ----------
    X : array or table of shape (n_samples, n_features)
        As `epsflow.sweep` takes it.
    labels : array of shape (n_samples,), or an object with labels
        As `epsflow.compare` takes them: -1 for noise. Of a variant or an estimator which points are core is taken as well, where it
        knows them.
    core : array of bool of shape (n_samples,), optional
        Which points are core.
    weights : array of shape (n_samples,), optional
        Masses, of 0 and more, by which centres, spreads and radii are weighted.
    columns : dict of str to array, or list of str, optional
        What else to sum up of each cluster: further columns by name, or, where X is a table, names of its columns. NaN counts for nothing.
    metric, metric_params
        As `epsflow.sweep` takes them. In a periodic box a cluster across a face is in one piece; on a sphere centres are mean directions.
    threads : int, optional

    Returns
    -------
    table
        A pandas.DataFrame, or a structured array where pandas is not there: cluster, size; core and first_core (where core points are
        known); weight_total (with weights); of each coordinate NAME_center, NAME_spread (standard deviation), NAME_lower and NAME_upper;
        radius, the root mean square of the distances to the centre, in the unit of eps; of each further column NAME_mean, NAME_sum,
        NAME_min and NAME_max.

    Raises
    ------
    ValueError, TypeError, MemoryError
        As `epsflow.sweep` and `epsflow.compare` do, and ValueError for weights below 0 and for columns of another length or that are
        not numbers.

    Examples
    --------
    >>> result = epsflow.sweep(X, eps=0.2, min_samples=10, core=True)
    >>> epsflow.catalog(X, result.variant(0.2, 10), columns={"vtec": vtec})
    """
    words = metric_of(X, metric, metric_params)
    points = as_host_points(to_host(X) if is_on_gpu(X) else X, words)
    of_points = as_labels(labels, "labels")
    if len(of_points) != len(points):
        raise ValueError(f"there are {len(points)} points and {len(of_points)} labels: give one for each")
    mask = core_of(labels) if core is None else np.asarray(core)
    return as_frame(catalog_columns(points, words, of_points, mask, weights, columns_of(X, columns, len(points)), names_of(X, points), threads=threads))


def members(labels: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """The points in the order of their clusters, without noise.

    Parameters
    ----------
    labels : array of shape (n_samples,), or an object with labels
        As `epsflow.compare` takes them.

    Returns
    -------
    points : ndarray of shape (n_clustered,)
        Indices of points: those of cluster `clusters[k]` are points[offsets[k]:offsets[k + 1]], ascending.
    offsets : ndarray of shape (n_clusters + 1,)
    clusters : ndarray of shape (n_clusters,)
        The labels of the clusters, ascending.

    Raises
    ------
    ValueError, TypeError
        For what are no labels.
    """
    with python_errors():
        points, offsets, clusters = _core.order_by_cluster(np.ascontiguousarray(as_labels(labels, "labels"), np.int32))
    return points.astype(np.int64), offsets.astype(np.int64), clusters


def core_of(labelled: Any) -> NDArray[Any] | None:
    """Which points are core, where what has labels knows them."""
    indices = getattr(labelled, "core_sample_indices_", None)
    if indices is not None:
        mask = np.zeros(len(labelled.labels_), np.bool_)
        mask[indices] = True
        return mask
    held = getattr(getattr(labelled, "_result", None), "core", None)
    return None if held is None or len(held) == 0 else np.asarray(held)


def names_of(X: Any, points: Any) -> list[str]:
    """Of the columns, where X is a table of nothing else."""
    if library_of(X) not in ("pandas", "polars"):
        return []
    names = [str(name) for name in X.columns]
    return names if len(names) == points.shape[1] else []


Column = tuple[str, NDArray[np.float64], bool]
"""Name, values, and whether their mean is weighted."""


def columns_of(X: Any, columns: Columns | Any, n: int) -> list[Column]:
    """Raises ValueError, TypeError for what is no column of n numbers."""
    if columns is None:
        return []
    if not isinstance(columns, Mapping):
        table = table_of(X)
        if table is None or isinstance(columns, str):
            raise TypeError("columns is a dict of names and arrays; names alone are for an X that is a table, as a list")
        missing = [name for name in columns if name not in list(table.columns)]
        if missing:
            raise ValueError(f"X has no column {missing[0]!r}; it has {', '.join(map(str, table.columns))}")
        columns = {str(name): table[name] for name in columns}
    return [(str(name), as_column(values, str(name), n), False) for name, values in columns.items()]


def as_column(values: Any, name: str, n: int) -> NDArray[np.float64]:
    array = np.asarray(to_host(values) if is_on_gpu(values) else values)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"the column {name!r} has dtype {array.dtype}, and what is summed up are numbers")
    if array.shape != (n,):
        raise ValueError(f"the column {name!r} has the shape {array.shape}, expected {(n,)}: one value for each sample")
    return np.ascontiguousarray(array, dtype=np.float64)


def catalog_columns(
    points: Any,
    words: Any,
    labels: NDArray[np.int32],
    core: NDArray[Any] | None,
    weights: Any = None,
    columns: list[Column] | None = None,
    names: list[str] | None = None,
    *,
    offsets: Any = (),
    threads: int | None = None,
) -> dict[str, Any]:
    """The columns of the table. offsets: of slices, each of which counts its clusters from 0."""
    n = len(points)
    mask = np.zeros(0, np.uint8) if core is None else np.ascontiguousarray(core).view(np.uint8)
    if core is not None and mask.shape != (n,):
        raise ValueError(f"core.shape == {mask.shape}, expected {(n,)}: one entry for each sample, of bool")
    masses = None if weights is None else as_weights(weights, n, "weights")
    task = run_task(
        _core.start_catalog,
        points,
        words,
        np.ascontiguousarray(labels, np.int32),
        mask,
        masses,
        columns or [],
        [int(offset) for offset in offsets],
        names or [],
        as_options(threads=threads),
    )
    table: dict[str, Any] = {}
    for name, values, _ in _core.take_table(task):
        if name in table:
            raise ValueError(f"two columns of the catalogue would be called {name!r}: give one of them another name")
        table[name] = np.asarray(values)
    return table
