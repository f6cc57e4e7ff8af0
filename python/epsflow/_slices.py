"""Sweeps of many data sets at once: the slices of one array, or a list of arrays."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_weights
from ._astropy import frame_of
from ._catalog import as_column, catalog_columns
from ._columns import are_texts, has_masked
from ._docs import documented
from ._engine import Engine, engine_for
from ._frames import library_of
from ._labelled import as_frame, table_of
from ._loaded import Loaded
from ._parameters import as_choice, as_eps, as_flag, as_options, as_variants, find_variant
from ._results import Folder, FromPoints, Origin, load_folder, stored
from ._sweep import KEPT, SweepResult, VariantResult
from ._tasks import ProgressOption, in_order, run_task
from ._units import Input, in_columns_of, parse_input, warn_of_unit

_COUNTS = ("n_clusters", "n_noise", "n_core", "n_border", "largest")


@documented
class SlicedResult(FromPoints):
    """All variants of all slices, from `epsflow.sweep_many`, or `epsflow.load` of a sweep with --by or --by-file.

    A pickle contains the points, unless they are on a GPU.

    Attributes
    ----------
    keys : ndarray of shape (n_slices,)
        The key of each slice. With `by` it is its value of `by`, and with `width` the beginning of its interval; these
        ascend. For a list of arrays, or with `offsets`, it is the number of the slice, from 0. After `epsflow.load`, it
        is a number, or the name of a file (--by-file).
    sizes : ndarray of shape (n_slices,)
        The number of points of each slice.
    variants : list of (eps, min_samples)
        The variants that were run.
    {input}
    """

    def __init__(
        self, layout: SliceLayout, results: dict[tuple[float, int], Any], keep: str, unit: Any = None,
        given: Input | None = None, weights: Any = None, origin: Origin | None = None,
    ) -> None:
        """results: by variant, in the order of the slices. keep: "labels" or "summary". unit: of eps. given: the points
        in the order of their slices, or None if the result was loaded. weights: [n] in this order, or None."""
        self._layout = layout
        self._results = results
        self._keep = keep
        self._unit = unit
        self._given = given
        self._weights = weights
        super().__init__(origin)
        self.keys = layout.keys
        self.sizes = np.diff(layout.offsets)
        self.variants = list(results)

    def __len__(self) -> int:
        """The number of slices."""
        return len(self.keys)

    def _result(self, eps: float, min_samples: int) -> Any:
        """Returns the library's result of one variant. Raises KeyError if the sweep does not have it, ValueError if the
        unit of eps does not fit."""
        positions = {variant: i for i, variant in enumerate(self.variants)}
        return self._results[self.variants[find_variant(positions, eps, min_samples, self._unit)]]

    def _array(self, eps: float, min_samples: int, name: str) -> NDArray[Any]:
        """Returns an array of one variant in the order of the slices. name: "labels" or "core". Raises as _result(),
        and ValueError if the sweep did not keep the array."""
        if self._keep != "labels":
            raise ValueError(
                "the sweep kept counts alone, keep='summary', and no labels: sweep again with keep='labels'"
            )
        values = np.asarray(getattr(self._result(eps, min_samples), name))
        if name == "core" and len(values) != self._layout.offsets[-1]:
            raise ValueError("the sweep did not keep which points are core: run it with core=True")
        return values.view(np.bool_) if name == "core" else values

    def _chosen(self, eps: float, min_samples: int, name: str, slice: int | None) -> NDArray[Any]:
        """Returns an array of one variant: of one slice, or of all points in the order of X if slice is None. name: as
        for _array(). Raises as _array(), IndexError if there is no slice of this number (negative: from the end), and
        ValueError if a slice is given but the slices of the points are not known."""
        if slice is not None and not -len(self) <= slice < len(self):
            raise IndexError(f"there is no slice {slice}: there are {len(self)}")
        values = self._array(eps, min_samples, name)
        if slice is None:
            return self._layout.by_row(values)
        if not self._layout.known:
            raise ValueError(
                "the folder does not say which points are in which slice, as their rows are in another order: "
                "take those of labels(eps, min_samples) whose value in the input is that of the slice, "
                "or sort the input by it before it is swept"
            )
        first, last = self._layout.offsets[slice % len(self) :][:2]
        return values[first:last]

    def labels(self, eps: float, min_samples: int, slice: int | None = None) -> NDArray[np.int32]:
        """Return the labels of one variant: of all points in the order of X, or of one slice. They are -1 for noise.

        The clusters of each slice are numbered from 0. slice is the number of the slice, negative from the end. Raises
        KeyError if the sweep does not have the variant, IndexError if it does not have the slice, and ValueError if it
        was run with keep="summary". A folder does not store the slice of each row; if slice is given for a loaded
        result, and the rows of the input were not in the order of the slices, that is a ValueError, too.
        """
        return self._chosen(eps, min_samples, "labels", slice)

    def core(self, eps: float, min_samples: int, slice: int | None = None) -> NDArray[np.bool_]:
        """Return the mask of core points of one variant. Parameters, order and errors are as for `labels`.

        Raises ValueError also if the sweep was run without core=True, which keeps masks.
        """
        return self._chosen(eps, min_samples, "core", slice)

    @property
    def summary(self) -> Any:
        """A table with one row per slice and variant, slice by slice. Its columns are slice (the key), n_points, eps,
        min_samples, n_clusters, n_noise, n_core, n_border and largest (the number of points of the largest cluster).

        It is a pandas.DataFrame if pandas is installed, else a structured array.
        """
        n, v = len(self), len(self.variants)
        counts = [np.asarray(result.slices, np.int64).reshape(n, 5) for result in self._results.values()]
        columns: dict[str, Any] = {
            "slice": np.repeat(self.keys, v),
            "n_points": np.repeat(self.sizes, v),
            "eps": np.tile(np.array([e for e, _ in self.variants], np.float64), n),
            "min_samples": np.tile(np.array([m for _, m in self.variants], np.int64), n),
        }
        flat = np.stack(counts, axis=1).reshape(n * v, 5) if v else np.zeros((0, 5), np.int64)
        columns.update({name: flat[:, k] for k, name in enumerate(_COUNTS)})
        return as_frame(columns)

    def catalog(
        self, eps: float, min_samples: int, *, weights: Any = None, columns: dict[str, Any] | None = None
    ) -> Any:
        """Return a table of the clusters of all slices for one variant, as `epsflow.catalog` does for one data set.

        Its column `slice` has the key of each cluster's slice. weights has one value per point, in the order of X, and
        so has each value of columns, by the name of its column. The default weights are the weights of the sweep.
        Raises KeyError if the sweep does not have the variant, and ValueError if it was run with keep="summary", or if
        the result has no points on the host: if they are on a GPU or were there when it was pickled, or if it was
        loaded from a folder.
        """
        if self._given is None or not isinstance(self._given.points, np.ndarray):
            why = "was loaded or unpickled, and has no points" if self._given is None else "has its points on a GPU"
            raise ValueError(
                f"the result {why}: make the catalogue of each slice from its points and labels, "
                "epsflow.catalog(X, labels)"
            )
        points = self._given.points
        n = len(points)
        is_kept = len(np.asarray(self._result(eps, min_samples).core)) == n
        core = self._array(eps, min_samples, "core") if is_kept else None
        masses = self._weights if weights is None else self._layout.by_slice(as_weights(weights, n, "weights"))
        named = [
            (name, self._layout.by_slice(as_column(values, name, n)), False) for name, values in (columns or {}).items()
        ]
        labels = self._array(eps, min_samples, "labels")
        table = catalog_columns(points, self._given.metric, labels, core, masses, named, offsets=self._layout.offsets)
        table["slice"] = self.keys[table["slice"]]
        if "first_core" in table:
            table["first_core"] = self._layout.rows(table["first_core"])
        return as_frame(table)

    def __reduce__(self) -> Any:
        given = self._given
        if given is not None:
            given = given._replace(table=None) if isinstance(given.points, np.ndarray) else None
        results = {variant: stored(result) for variant, result in self._results.items()}
        return SlicedResult, (self._layout, results, self._keep, self._unit, given, self._weights, self._origin)

    def __repr__(self) -> str:
        return f"<epsflow.SlicedResult of {len(self)} slices and {len(self.variants)} variants>"


@dataclass(eq=False)
class SliceLayout:
    """The assignment of rows of X to slices. A position is the index of a row in the order of the slices."""

    keys: NDArray[Any]
    """[slices]"""
    offsets: NDArray[np.int64]
    """[slices + 1] slice s is at the positions from offsets[s] to offsets[s + 1]."""
    order: NDArray[Any] | None = None
    """[n] the row at each position; None if rows are in the order of the slices."""
    known: bool = True
    """False if results are in the order of the rows, and the slice of each row is not known."""

    def by_slice(self, values: NDArray[Any]) -> NDArray[Any]:
        """Returns values, which are in the order of the rows, in the order of the slices."""
        return values if self.order is None else np.ascontiguousarray(values[self.order])

    def by_row(self, values: NDArray[Any]) -> NDArray[Any]:
        """Returns values, which are in the order of the slices, in the order of the rows."""
        if self.order is None:
            return values
        rows = np.empty_like(values)
        rows[self.order] = values
        return rows

    def rows(self, positions: NDArray[Any]) -> NDArray[Any]:
        """Returns the rows at these positions."""
        return positions if self.order is None else self.order[positions].astype(positions.dtype)


@documented
def sweep_many(
    X: Any, eps: float | Iterable[float] | None = None, min_samples: int | Iterable[int] | None = None, *,
    by: Any = None, width: float | None = None, offsets: Any = None,
    variants: Iterable[tuple[float, int]] | None = None,
    metric: str = "euclidean", metric_params: dict[str, Any] | None = None, sample_weight: Any = None,
    core: bool = False, keep: str = "labels", progress: ProgressOption = None,
    backend: str = "auto", memory: int | str | None = None, threads: int | None = None, engine: Engine | None = None,
) -> SlicedResult:
    """Run DBSCAN on many data sets with every eps and every min_samples.

    It takes about as long as one data set with all the points. Points of different slices are never neighbours; each
    slice gets the labels that `epsflow.sweep` returns for it alone.

    Parameters
    ----------
    X : list of arrays or tables, or array or table of shape (n_samples, n_features)
        If X is a list, each array or table is a slice. Columns of tables are matched by name with the first table;
        arrays without names must have this order. Otherwise `by` or `offsets` defines the slices. Sparse points are an
        error. Points on a GPU must be one array, with `offsets`.
    {eps} {min_samples}
    by : array of shape (n_samples,), optional
        Points with the same value are a slice, in any order. Values are numbers, times, durations or texts.
    width : float, timedelta64 or timedelta, optional
        If given, a slice is not one value of `by` but an interval from a multiple of width up to the next, which is
        excluded. Times with a zone are converted to UTC for intervals and keys.
    offsets : array of int of shape (n_slices + 1,), optional
        Slice s is X[offsets[s]:offsets[s + 1]]. The first offset is 0, the last the number of points. Points on a GPU
        need offsets.
    {variants} {distance} {sample_weight}
        If X is a list, this is one array: the weights of the first array, then of the next, and so on.
    {core} {keep} {progress} {machine}

    Returns
    -------
    SlicedResult

    {errors}
    ValueError
        Also if slices are defined in two ways or in none, if tables of a list differ in columns or units, if a value of
        `by` is missing, if offsets descend or have another first or last value, or if points on a GPU come with `by` or
        in a list.

    Examples
    --------
    >>> found = epsflow.sweep_many(X, eps=[0.1, 0.2], min_samples=[5, 10], by=frame["time"])
    >>> found.summary
    >>> found.labels(0.2, 10, slice=3)
    """
    given, layout = _slices_of(X, by, width, offsets, metric, metric_params)
    asked = as_variants(eps, min_samples, variants, given.unit)
    run = as_options(core=as_flag(core, "core"), keep=as_choice(keep, "keep", "labels", KEPT))
    n = int(given.points.shape[0])
    weights = None if sample_weight is None else layout.by_slice(as_weights(sample_weight, n))
    of_engine = engine_for(engine, given, backend, memory, threads)
    if n > 0:
        warn_of_unit(given, min(e for e, _ in asked))
    data = Loaded(of_engine, given, [int(offset) for offset in layout.offsets])
    results: list[Any] = []
    run_task(_core.Dataset.start_sweep, data._data, asked, run, weights, progress=progress, on_results=results.extend)
    return SlicedResult(layout, in_order(results, asked), run["keep"], given.unit, given, weights)


def _slices_of(
    X: Any, by: Any, width: Any, offsets: Any, metric: str, metric_params: dict[str, Any] | None
) -> tuple[Input, SliceLayout]:
    """Returns the points in the order of their slices, and the slices. Parameters and errors as for sweep_many(), but
    offsets that descend or have another first or last value are detected only when the points are loaded."""
    if isinstance(X, Iterator):
        X = list(X)
    if isinstance(X, dict):
        raise TypeError(
            "X is a dict, and slices are known by their numbers: give their arrays as a list, list(X.values())"
        )
    listed = isinstance(X, (list, tuple)) and (len(X) == 0 or any(map(_is_data_set, X)))
    ways = [
        name for name, said in (("a list of arrays", listed), ("by", by is not None), ("offsets", offsets is not None))
        if said
    ]
    if len(ways) != 1:
        said = "in two ways, " + " and ".join(ways) if ways else "nowhere"
        raise ValueError(f"what the slices are is said {said}: give X as a list of arrays or tables, or by, or offsets")
    if width is not None and by is None:
        raise ValueError("width is about the values of by: give by as well")
    if listed:
        return _listed(X, metric, metric_params)
    given = parse_input(X, metric, metric_params)
    n = int(given.points.shape[0])
    if offsets is not None:
        starts = np.asarray(offsets)
        if starts.ndim != 1 or starts.dtype.kind not in "iu" or len(starts) == 0 or (starts < 0).any():
            raise ValueError(
                "offsets are whole numbers in one axis: 0, where each further slice begins, and the number of points"
            )
        return given, SliceLayout(np.arange(max(0, len(starts) - 1)), starts.astype(np.int64))
    if isinstance(given.points, _core.GpuPoints):
        raise ValueError(
            "by puts points in order, which is done on the host: give points on a GPU in the order of their slices, "
            "with offsets"
        )
    layout = _by(by, width, n)
    return given._replace(points=layout.by_slice(given.points)), layout


def _is_data_set(part: Any) -> bool:
    """Returns whether an element of the list X is a table or array of points. If none is, the list is one array."""
    return (
        len(getattr(part, "shape", ())) == 2 or table_of(part) is not None
        or library_of(part) in ("numpy", "geopandas") or frame_of(part) is not None
    )


def _listed(X: Sequence[Any], metric: str, metric_params: dict[str, Any] | None) -> tuple[Input, SliceLayout]:
    """Returns the points of all arrays and tables of X, one after the other, and a slice for each. Raises TypeError,
    ValueError if one is invalid or on a GPU, or if they differ in columns, units, frames or coordinate systems."""
    if not X:
        raise ValueError("X is an empty list: give at least one array")
    parts = [parse_input(part, metric, metric_params, f"X[{i}]") for i, part in enumerate(X)]
    if any(isinstance(part.points, _core.GpuPoints) for part in parts):
        raise ValueError(
            "X is a list of arrays on a GPU: put them one behind the other into one array, and give offsets"
        )
    names = [part.names for part in parts]
    named = (
        [i for i, own in enumerate(names) if own is not None and are_texts(own)]
        or [i for i, own in enumerate(names) if own is not None] or [0]
    )
    first, unnamed = named[0], sorted(set(range(len(parts))) - set(named))
    if unnamed and any(names[i] != names[first] for i in named):
        raise ValueError(
            f"X[{unnamed[0]}] has no names of columns, and the tables of X have theirs in different orders: "
            "give tables alone"
        )
    parts = [in_columns_of(parts[first], part, f"X[{i}]", f"X[{first}]") for i, part in enumerate(parts)]
    offsets = np.concatenate([[0], np.cumsum([len(part.points) for part in parts])]).astype(np.int64)
    points = np.ascontiguousarray(np.concatenate([part.points for part in parts]))
    return parts[first]._replace(points=points, table=None), SliceLayout(np.arange(len(parts)), offsets)


def _by(by: Any, width: Any, n: int) -> SliceLayout:
    """Returns the slices of rows by their values of `by` [n], or with a width by the intervals of these values. Keys
    ascend. Raises TypeError, ValueError if by or width is invalid, or if a value is missing."""
    values = np.asarray(by)
    if values.dtype.kind == "T":  # texts of variable length, which may be missing
        values = values.astype(object)
    if values.shape != (n,):
        raise ValueError(f"by.shape == {values.shape}, expected {(n,)}: one value for each sample")
    missing = np.flatnonzero(_is_missing(by, values))
    if len(missing):
        raise ValueError(f"by has no value in row {missing[0]}: every point is in a slice")
    if width is not None:
        values = _stretches(_as_plain(values), width)
    if values.dtype.kind == "f":  # the library makes their intervals
        keys, offsets, order = _core.slice_rows(
            np.ascontiguousarray(values, np.float64), 0.0 if width is None else as_eps(width, None, "width")
        )
    else:
        try:
            keys, codes = np.unique(values, return_inverse=True)
        except TypeError as error:
            raise TypeError(
                f"by has values that have no order: {error}; give numbers, times, durations or texts alone"
            ) from None
        _, offsets, order = _core.slice_rows(codes.astype(np.float64).reshape(-1), 0.0)
    return SliceLayout(keys, offsets.astype(np.int64), order if len(order) else None)


def _is_missing(by: Any, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Returns a mask of the missing values of by, which values is made of: masked, null, NaN, NaT or None."""
    kind = values.dtype.kind
    found = [by.mask] if has_masked(by) else []
    # pandas, Arrow and polars mark missing values, which conversion to an array loses.
    found += [getattr(by, way)() for way in ("isna", "is_null") if hasattr(by, way)]
    if kind in "fcmM":
        found.append(values != values)
    # NumPy makes "nan" of NaN among texts. pandas.NA has no truth value and is found by its type.
    if kind == "O" or isinstance(by, (list, tuple)):
        found.append([
            value is None or type(value).__name__ == "NAType" or bool(value != value)
            for value in (values if kind == "O" else by)
        ])
    missing = np.zeros(len(values), np.bool_)
    for mask in found:
        missing |= np.asarray(mask, np.bool_)
    return missing


def _as_plain(values: NDArray[Any]) -> NDArray[Any]:
    """Converts numbers, times (in UTC) and durations among objects to NumPy's types. Other values are unchanged. Raises
    TypeError if only some times have a zone."""
    if values.dtype.kind != "O":
        return values
    if len({value.tzinfo is None for value in values if isinstance(value, datetime.datetime)}) > 1:
        raise TypeError(
            "by has times with a zone and times without one, which have no order: give all of them a zone, or none"
        )
    try:
        plain = np.array([_plain_of(value) for value in values])
    except (TypeError, ValueError):
        return values
    return plain if plain.ndim == 1 and plain.dtype.kind in "iufmM" else values


def _plain_of(value: Any) -> Any:
    """Returns a time or duration of pandas or datetime as NumPy's, a time with a zone in UTC; others unchanged."""
    for way in ("to_datetime64", "to_timedelta64"):  # pandas' types have nanoseconds
        if hasattr(value, way):
            return getattr(value, way)()
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    if isinstance(value, datetime.timedelta):
        return np.timedelta64(value)
    return np.datetime64(value) if isinstance(value, datetime.date) else value


def _stretches(values: NDArray[Any], width: Any) -> NDArray[Any]:
    """Returns the beginning of the interval of each value: the multiple of width at or below it. Floating-point numbers
    are returned unchanged. Raises TypeError, ValueError if the width does not fit the values."""
    kind = values.dtype.kind
    if kind in "mM":
        step = _plain_of(width)
        if not isinstance(step, np.timedelta64) or np.datetime_data(step.dtype)[0] == "generic":
            raise TypeError(f"width is {width!r}; of times it is one, as numpy.timedelta64(5, 'm')")
        if not step > np.timedelta64(0):
            raise ValueError(f"width is {width}; it is a time above 0, as numpy.timedelta64(5, 'm')")
        unit, own = (np.datetime_data(dtype)[0] for dtype in (step.dtype, values.dtype))
        if kind == "M" and (unit in "YM") != (own in "YM"):  # months and years have no length in days
            values = values.astype(f"M8[{unit if unit in 'YM' else 'D'}]")
        begin = np.zeros((), values.dtype)
        return begin + (values - begin) // step * step
    if kind in "iub":
        whole = as_eps(width, None, "width")
        if whole != int(whole):
            raise ValueError(f"width is {width}, and by has whole numbers: give a whole width, or by as floats")
        values = values if values.dtype.itemsize == 8 else values.astype(np.int64)
        return values // int(whole) * int(whole)
    if kind != "f":
        raise ValueError(f"width is for numbers and times, and by has dtype {values.dtype}")
    return values


def load(folder: Folder, *, unfinished: bool = False) -> Any:
    """Load the results in a folder of `epsflow sweep`, `epsflow explore` or `SweepResult.save`, or in its sweep.h5.

    Labels and core masks in a folder are mapped from their files at the first use, and their checksums are verified
    then. Such a file, if damaged, raises ValueError: at once if it is missing or has a wrong size or header, otherwise
    at the first use. The files must not be changed while they are in use. Other files and sweep.h5 are read at once.

    Parameters
    ----------
    folder : str or path
        The folder, or the file sweep.h5.
    unfinished : bool
        Whether to load the variants that sweep.json lists if a run did not complete or is still running. With --by or
        --by-file they need slices.csv, which is written at the end.

    Returns
    -------
    SweepResult, or SlicedResult of a sweep with --by or --by-file
        A folder has no points. Labels of a single slice are available only if the rows of the input were in the order
        of the slices, as they are with --by-file.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist.
    ValueError
        If the folder has no results or damaged ones, or unfinished ones and unfinished is False, or if slices.csv of a
        sweep with --by or --by-file is not written yet. For sweep.h5, also if it is of such a sweep, whose folder must
        be loaded, or if h5py is not installed.
    """
    variants, origin, lineage, slices = load_folder(folder, as_flag(unfinished, "unfinished"))
    if slices is None:
        return SweepResult([VariantResult(v) for v in variants], origin, lineage=lineage)
    layout = SliceLayout(slices.keys, np.append(0, np.cumsum(slices.sizes)), known=slices.in_order)
    return SlicedResult(layout, {(v.eps, v.min_samples): v for v in variants}, "labels", origin=origin)
