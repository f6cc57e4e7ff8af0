"""Many data sets at once: the slices of one array, or a list of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_weights
from ._catalog import as_column, catalog_columns
from ._engine import Engine, engine_for
from ._loaded import Loaded
from ._parameters import as_choice, as_eps, as_flag, as_options, as_variants, find_variant
from ._tables import as_frame
from ._tasks import ProgressOption, run_task
from ._units import Given, as_given, warn_of_unit

_COUNTS = ("n_clusters", "n_noise", "n_core", "n_border", "largest")


class SlicedResult:
    """All variants of all slices. `epsflow.sweep_many` makes it.

    Attributes
    ----------
    keys : ndarray of shape (n_slices,)
        What each slice is called: its value of `by`, or its number.
    sizes : ndarray of shape (n_slices,)
        Points of each slice.
    variants : list of (eps, min_samples)
    """

    def __init__(self, given: Given, rows: _Rows, results: dict[tuple[float, int], Any], keep: str, weights: Any) -> None:
        self._given = given
        self._rows = rows
        self._results = results
        self._keep = keep
        self._weights = weights
        self.keys = rows.keys
        self.sizes = np.diff(rows.offsets)
        self.variants = list(results)

    def __len__(self) -> int:
        """Slices."""
        return len(self.keys)

    def _result(self, eps: float, min_samples: int) -> Any:
        places = {variant: i for i, variant in enumerate(self.variants)}
        return self._results[self.variants[find_variant(places, eps, min_samples, self._given.unit)]]

    def _array(self, eps: float, min_samples: int, name: str) -> NDArray[Any]:
        """By place."""
        if self._keep != "labels":
            raise ValueError("the sweep kept counts alone, keep='summary', and no labels: sweep again with keep='labels'")
        values = np.asarray(getattr(self._result(eps, min_samples), name))
        if name == "core" and len(values) != self._rows.offsets[-1]:
            raise ValueError("the sweep did not keep which points are core: run it with core=True")
        return values.view(np.bool_) if name == "core" else values

    def _slice(self, slice: int | None, values: NDArray[Any]) -> NDArray[Any]:
        if slice is None:
            return self._rows.by_row(values)
        first, last = self._rows.offsets[slice], self._rows.offsets[slice + 1]
        return values[first:last]

    def labels(self, eps: float, min_samples: int, slice: int | None = None) -> NDArray[np.int32]:
        """The labels of one variant, those of each slice counted from 0: of all points in their order, or of one slice by its number.

        Raises KeyError for a variant that was not asked for, IndexError for a slice that is not there.
        """
        return self._slice(self._number(slice), self._array(eps, min_samples, "labels"))

    def core(self, eps: float, min_samples: int, slice: int | None = None) -> NDArray[np.bool_]:
        """Which points are core, likewise. Raises ValueError where the sweep was not asked for them (core=True)."""
        return self._slice(self._number(slice), self._array(eps, min_samples, "core"))

    def _number(self, slice: int | None) -> int | None:
        if slice is None:
            return None
        if not -len(self) <= slice < len(self):
            raise IndexError(f"there is no slice {slice}: there are {len(self)}")
        return slice % len(self)

    @property
    def summary(self) -> Any:
        """A row for each slice and variant, slice by slice: slice, n_points, eps, min_samples, and the counts."""
        n, v = len(self), len(self.variants)
        counts = np.stack([np.asarray(r.slices).reshape(n, 5) for r in self._results.values()], axis=1) if v else np.zeros((n, 0, 5))
        columns: dict[str, Any] = {
            "slice": np.repeat(self.keys, v),
            "n_points": np.repeat(self.sizes, v),
            "eps": np.tile(np.array([e for e, _ in self.variants], np.float64), n),
            "min_samples": np.tile(np.array([m for _, m in self.variants], np.int64), n),
        }
        flat = counts.reshape(n * v, 5).astype(np.int64)
        columns.update({name: flat[:, k] for k, name in enumerate(_COUNTS)})
        return as_frame(columns)

    def catalog(self, eps: float, min_samples: int, *, weights: Any = None, columns: dict[str, Any] | None = None) -> Any:
        """The clusters of all slices under one variant, as `epsflow.catalog` has them, with a first column `slice`.

        weights and columns are by point, in the order of X. The weights of the sweep are taken where none are given.
        """
        points = self._given.points
        n = len(points)
        core = self._array(eps, min_samples, "core") if len(np.asarray(self._result(eps, min_samples).core)) == n else None
        masses = self._weights if weights is None else self._rows.by_place(as_weights(weights, n, "weights"))
        named = [(name, self._rows.by_place(as_column(values, name, n)), False) for name, values in (columns or {}).items()]
        labels = self._array(eps, min_samples, "labels")
        table = catalog_columns(points, self._given.metric, labels, core, masses, named, offsets=self._rows.offsets)
        table["slice"] = self.keys[table["slice"]]
        if core is not None:
            table["first_core"] = self._rows.rows(table["first_core"])
        return as_frame(table)

    def __repr__(self) -> str:
        return f"<epsflow.SlicedResult of {len(self)} slices and {len(self.variants)} variants>"


class _Rows:
    """Which rows are in which slice."""

    def __init__(self, keys: NDArray[Any], offsets: NDArray[np.int64], order: NDArray[Any] | None = None) -> None:
        self.keys = keys
        self.offsets = offsets
        self.order = order
        """[n] the row at each place; None where rows are in order."""

    def by_place(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.order is None else np.ascontiguousarray(values[self.order])

    def by_row(self, values: NDArray[Any]) -> NDArray[Any]:
        if self.order is None:
            return values
        rows = np.empty_like(values)
        rows[self.order] = values
        return rows

    def rows(self, places: NDArray[Any]) -> NDArray[Any]:
        return places if self.order is None else self.order[places].astype(places.dtype)


def sweep_many(
    X: Any,
    eps: float | Iterable[float] | None = None,
    min_samples: int | Iterable[int] | None = None,
    *,
    by: Any = None,
    width: float | None = None,
    offsets: Any = None,
    variants: Iterable[tuple[float, int]] | None = None,
    metric: str = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample_weight: Any = None,
    core: bool = False,
    keep: str = "labels",
    progress: ProgressOption = None,
    backend: str = "auto",
    memory: int | str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
) -> SlicedResult:
    """DBSCAN of many data sets under every eps with every min_samples, in about the time of one that is as large as all together.

    Points of different slices are never neighbours; each slice gets the labels that `epsflow.sweep` of it alone would give.

    Parameters
    ----------
    X : list of arrays, or array or table of shape (n_samples, n_features)
        A list: each array is a slice. Otherwise `by` or `offsets` says what the slices are.
    eps, min_samples, variants, metric, metric_params, sample_weight, core, keep, progress, backend, memory, threads, engine
        As `epsflow.sweep` takes them. sample_weight: [n_samples]; of a list, of the arrays one behind the other.
    by : array of shape (n_samples,), optional
        Points of one value are a slice, whatever their order: numbers, times (datetime64) or texts.
    width : float or timedelta64, optional
        With `by`: a slice for each stretch from a whole multiple of it up to the next, instead of for each value.
    offsets : array of int of shape (n_slices + 1,), optional
        Slice s is X[offsets[s]:offsets[s + 1]].

    Returns
    -------
    SlicedResult

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As `epsflow.sweep` does, and ValueError where slices are said in two ways or in none, for values of `by` that are missing, and
        for offsets that descend or do not end with the points.

    Examples
    --------
    >>> found = epsflow.sweep_many(X, eps=[0.1, 0.2], min_samples=[5, 10], by=frame["time"])
    >>> found.summary
    >>> found.labels(0.2, 10, slice=3)
    """
    given, rows = _slices_of(X, by, width, offsets, metric, metric_params)
    asked = as_variants(eps, min_samples, variants, given.unit)
    if as_choice(keep, "keep", "labels") not in ("labels", "summary"):
        raise ValueError(f"keep={keep!r} is none of 'labels', 'summary'")
    run = as_options(core=as_flag(core, "core"), keep=keep)
    n = int(given.points.shape[0])
    weights = None if sample_weight is None else rows.by_place(as_weights(sample_weight, n))
    of_engine = engine_for(engine, given, backend, memory, threads)
    if n > 0:
        warn_of_unit(given, min(e for e, _ in asked))
    data = Loaded(of_engine, given, [int(offset) for offset in rows.offsets])
    found: dict[tuple[float, int], Any] = {}

    def add(results: list[Any]) -> None:
        for result in results:
            found[float(result.eps), int(result.min_samples)] = result

    run_task(_core.Dataset.start_sweep, data._data, asked, run, weights, progress=progress, on_results=add)
    return SlicedResult(given, rows, {variant: found[variant] for variant in asked}, run["keep"], weights)


def _slices_of(
    X: Any, by: Any, width: Any, offsets: Any, metric: str, metric_params: dict[str, Any] | None
) -> tuple[Given, _Rows]:
    listed = isinstance(X, (list, tuple)) and all(getattr(part, "ndim", 0) == 2 for part in X)
    ways = [name for name, said in (("a list of arrays", listed), ("by", by is not None), ("offsets", offsets is not None)) if said]
    if len(ways) != 1:
        said = "in two ways, " + " and ".join(ways) if ways else "nowhere"
        raise ValueError(f"what the slices are is said {said}: give X as a list of arrays, or by, or offsets")
    if width is not None and by is None:
        raise ValueError("width is about the values of by: give by as well")
    if listed:
        return _listed(X, metric, metric_params)
    given = as_given(X, metric, metric_params)
    n = int(given.points.shape[0])
    if offsets is not None:
        places = np.asarray(offsets)
        if places.ndim != 1 or places.dtype.kind not in "iu" or len(places) == 0 or (places < 0).any():
            raise ValueError("offsets are whole numbers in one axis: 0, where each further slice begins, and the number of points")
        return given, _Rows(np.arange(max(0, len(places) - 1)), places.astype(np.int64))
    if isinstance(given.points, _core.GpuPoints):
        raise ValueError("by puts points in order, which is done on the host: give points on a GPU in the order of their slices, with offsets")
    keys, places, order = _by(by, width, n)
    rows = _Rows(keys, places, order)
    return given._replace(points=rows.by_place(given.points)), rows


def _listed(X: Sequence[Any], metric: str, metric_params: dict[str, Any] | None) -> tuple[Given, _Rows]:
    if not X:
        raise ValueError("X is an empty list: give at least one array")
    parts = [as_given(part, metric, metric_params) for part in X]
    if any(isinstance(part.points, _core.GpuPoints) for part in parts):
        raise ValueError("X is a list of arrays on a GPU: put them one behind the other into one array, and give offsets")
    dims = {part.points.shape[1] for part in parts}
    if len(dims) > 1:
        raise ValueError(f"the arrays of X have {' and '.join(map(str, sorted(dims)))} columns: slices have the same")
    offsets = np.concatenate([[0], np.cumsum([len(part.points) for part in parts])]).astype(np.int64)
    points = np.ascontiguousarray(np.concatenate([part.points for part in parts]))
    return parts[0]._replace(points=points, table=None), _Rows(np.arange(len(parts)), offsets)


def _as_width(width: Any) -> float:
    """0 where there is none."""
    return 0.0 if width is None else as_eps(width, None, "width")


def _by(by: Any, width: Any, n: int) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[Any] | None]:
    """Keys, offsets and order."""
    values = np.asarray(by)
    if values.shape != (n,):
        raise ValueError(f"by.shape == {values.shape}, expected {(n,)}: one value for each sample")
    if values.dtype.kind == "M":
        if np.isnat(values).any():
            raise ValueError(f"by has no time (NaT) in row {int(np.flatnonzero(np.isnat(values))[0])}: every point is in a slice")
        if width is not None:
            step = width
            if not isinstance(step, np.timedelta64):
                raise TypeError(f"width is {width!r}; of times it is one, as numpy.timedelta64(5, 'm')")
            if not step > np.timedelta64(0):
                raise ValueError(f"width is {width}; it is a time above 0, as numpy.timedelta64(5, 'm')")
            begin = np.zeros((), values.dtype)
            values = begin + (values - begin) // step * step
    elif values.dtype.kind == "f":
        keys, offsets, order = _core.slice_rows(np.ascontiguousarray(values, np.float64), _as_width(width))
        return keys, offsets.astype(np.int64), order if len(order) else None
    elif values.dtype.kind in "iub" and width is not None:
        step = _as_width(width)
        if step != int(step):
            raise ValueError(f"width is {width}, and by has whole numbers: give a whole width, or by as floats")
        values = values // int(step) * int(step)
    elif width is not None:
        raise ValueError(f"width is for numbers and times, and by has dtype {values.dtype}")
    missing = [i for i, value in enumerate(values) if value is None or value != value] if values.dtype.kind == "O" else []
    if missing:
        raise ValueError(f"by has no value in row {missing[0]}: every point is in a slice")
    keys, codes = np.unique(values, return_inverse=True)
    _, offsets, order = _core.slice_rows(codes.astype(np.float64).reshape(-1), 0.0)
    return keys, offsets.astype(np.int64), order if len(order) else None
