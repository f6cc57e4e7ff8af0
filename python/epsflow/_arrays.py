"""Converts points to the arrays that _core requires: float32 or float64, row-major, in native byte order."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._astropy import has_unit
from ._columns import has_masked, is_complex, is_time, refuse_beyond, refuse_inexact
from ._frames import from_table, metric_of
from ._gpu_arrays import on_host, refuse_on_gpu
from ._metrics import EUCLIDEAN, Metric

Points = NDArray[Any]
AnyPoints = Union[Points, _core.GpuPoints]


def as_host_points(X: Any, metric: Metric = EUCLIDEAN, name: str = "X") -> Points:
    """Returns X as a C-contiguous [n, d] array of float32 or float64. If X is such an array, it is not copied.

    X may also be a table of pandas, polars, Arrow, xarray or astropy, points of geopandas, or directions of astropy
    (SkyCoord). Angles with a unit are converted to the unit of the metric. Whole numbers up to 2**53, booleans and
    float16 become float64. name: the name of X in errors. Raises TypeError if X is on a GPU or of a type that is not
    converted, such as a sparse matrix or a text. Raises ValueError for invalid shapes, units and values, such as
    complex numbers, times, masked values and whole numbers beyond 2**53. NaN and infinity are detected when the points
    are loaded.
    """
    refuse_on_gpu(X, name)
    return as_array(from_table(X, metric, name)[0], name)


def as_array(X: Any, name: str = "X") -> Points:
    """Returns the array to which as_host_points() converts X. X must be on the host and must not be a table. name: the
    name of X in errors. Raises TypeError or ValueError for an invalid X, as as_host_points()."""
    array = as_plain(X, name)
    if array.dtype.kind not in "fiub":
        array = _from_objects(array, name)
    if array.ndim != 2:
        remedy = (
            f". Reshape your data either using {name}.reshape(-1, 1) if it has a single feature or "
            f"{name}.reshape(1, -1) if it contains a single sample."
            if array.ndim == 1 else ", and points are rows of coordinates"
        )
        raise ValueError(f"Expected 2D array, got {array.ndim}D array instead: {name} has shape {array.shape}{remedy}")
    if array.shape[1] == 0:
        raise ValueError(f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required: {name} has no columns")
    wanted = np.float32 if array.dtype.kind == "f" and array.dtype.itemsize == 4 else np.float64
    return np.ascontiguousarray(array, dtype=wanted)


def as_plain(X: Any, name: str = "X") -> NDArray[Any]:
    """Returns X, which is not a table, as an array of any type. Raises TypeError for a sparse matrix and for a text.
    Raises ValueError for values that conversion to numbers would change: masked and complex values, times, a list of
    items with masked values or units, and whole numbers beyond 2**53. These numbers, and times in an array of objects,
    are detected only if the array has two axes."""
    if hasattr(X, "tocsr") and hasattr(X, "nnz"):
        raise TypeError(
            f"Sparse data was passed as {name}, but dense data is required: use {name}.toarray(), "
            "or reduce the dimensions first"
        )
    if isinstance(X, (list, tuple)):
        _refuse_parts(X, name)
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        rows = int(np.count_nonzero(np.ma.getmaskarray(X).reshape(len(X), -1).any(axis=1)))
        raise ValueError(
            f"{name} has masked values in {rows} rows, which have no place in a clustering: leave them out with "
            f"points, rows = epsflow.drop_missing({name})"
        )
    if isinstance(X, str):
        raise TypeError(f"{name} is a string; points are an array of shape (n_samples, n_features)")
    array = np.asarray(X)
    times = [array.dtype] if array.dtype.kind in "mM" else []
    if array.dtype.kind == "O" and array.ndim == 2:
        times = [value.dtype for value in array.flat if is_time(value)]
    if array.dtype.kind == "c" or array.dtype.kind == "O" and any(map(is_complex, array.flat)):
        raise ValueError(
            f"Complex data not supported: {name} has dtype {array.dtype}; give real and imaginary parts as columns"
        )
    if times:
        since = f"({name} - {name}.min())" if times[0].kind == "M" else name
        raise ValueError(
            f"{name} has dtype {times[0]}, and a time is no coordinate before its unit is chosen: give numbers, "
            f"such as {since} / numpy.timedelta64(1, 's')"
        )
    if array.ndim == 2:
        for k in range(array.shape[1] if array.dtype.kind in "iu" else 0):
            refuse_inexact(array[:, k], k)
        for i, value in enumerate(array.flat if array.dtype.kind in "OUS" else ()):
            refuse_beyond(value, i % array.shape[1])
        # NumPy has converted whole numbers in a list with fractions to floats already.
        if isinstance(X, (list, tuple)) and array.dtype.kind == "f":
            for row in np.flatnonzero((np.abs(array) >= 2**53).any(axis=1)):
                for k, value in enumerate(X[row]):
                    refuse_beyond(value, k)
    return array


def _refuse_parts(X: Sequence[Any], name: str) -> None:
    """Raises ValueError if an item of a list or tuple has masked values or a unit, which NumPy would drop."""
    for i, part in enumerate(X):
        if has_masked(part):
            raise ValueError(
                f"{name} is a {type(X).__name__} whose item {i} has masked values: give numpy.ma.stack({name})"
            )
        if has_unit(part):
            raise ValueError(
                f"{name} is a {type(X).__name__} whose item {i} is in {part.unit}, and units in a {type(X).__name__} "
                f"are not looked at: make one array of it, in one unit, as astropy.units.Quantity({name}) does"
            )


def drop_missing(
    X: Any, *, metric: str = "euclidean", metric_params: dict[str, Any] | None = None
) -> tuple[Points, NDArray[np.intp]]:
    """Drop rows with missing values.

    Parameters
    ----------
    X : array or table of shape (n_samples, n_features)
        Points as `epsflow.sweep` takes them, but neither sparse nor on a GPU.
    metric, metric_params
        The metric of a later sweep, if X has names of columns or units that depend on it. The returned points have the
        order and the units that this metric takes.

    Returns
    -------
    points : ndarray of shape (n, n_features)
        X without the rows that have a masked value, a null, NaN or an infinity.
    rows : ndarray of shape (n,)
        The indices of the remaining rows of X.

    Raises
    ------
    TypeError, ValueError
        If X is invalid, sparse or on a GPU.

    Examples
    --------
    >>> points, rows = epsflow.drop_missing(X)
    >>> labels = np.full(len(X), -1)
    >>> labels[rows] = epsflow.DBSCAN(eps=0.3).fit_predict(points)
    """
    X, _ = from_table(X, metric_of(X, metric, metric_params), masked=True)
    masked = isinstance(X, np.ma.MaskedArray)
    points = as_host_points(X.filled(0) if masked else X)
    whole = np.isfinite(points).all(axis=1)
    if masked:
        whole &= ~np.ma.getmaskarray(X).any(axis=1)
    return points[whole], np.flatnonzero(whole)


def _from_objects(array: NDArray[Any], name: str) -> NDArray[Any]:
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} has dtype {array.dtype}, and not all of it is numbers: {error}") from None


def as_weights(sample_weight: Any, n: int, name: str = "sample_weight") -> Points:
    """Returns weights [n] as float64; one number is the weight of all points. Raises ValueError for another number of
    weights, and for values that are not real numbers. NaN and infinity are detected later."""
    if isinstance(sample_weight, Real):
        return np.full(n, float(sample_weight), dtype=np.float64)
    if has_masked(sample_weight):
        raise ValueError(f"{name} has masked values: fill them, or leave their points out")
    if has_unit(sample_weight):
        raise ValueError(
            f"{name} is in {sample_weight.unit}, and weights are numbers without a unit, as min_samples is one: "
            "divide by one"
        )
    weights = np.asarray(on_host(sample_weight))
    if weights.dtype.kind == "O" and not any(
        isinstance(w, (str, bytes)) or is_time(w) or is_complex(w) for w in weights.flat
    ):
        weights = _from_objects(weights, name)
    if weights.dtype.kind not in "fiub":
        raise ValueError(f"{name} has dtype {weights.dtype}, and weights are real numbers")
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(f"{name}.shape == {weights.shape}, expected {(n,)}: one weight for each sample")
    return weights
