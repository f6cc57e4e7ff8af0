"""Tracks: clusters in successive slices, such as maps, with their continuations, merges and splits."""

from __future__ import annotations

import csv
import datetime
import os
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_host_points
from ._catalog import as_mask, require_labels
from ._columns import has_masked
from ._compare import as_labels
from ._docs import documented
from ._frames import metric_of
from ._gpu_arrays import on_host
from ._labelled import as_columns
from ._parameters import as_choice, as_eps, as_flag, as_options
from ._tasks import made_by


class TrackEvent(NamedTuple):
    """A change between a frame and the one before it.

    Attributes
    ----------
    event : str
        "birth": a feature of the later frame without a link to the earlier one. "continuation": two features that are
        linked to each other and to no other. "merge": a feature of the later frame that is linked to several of the
        earlier one. "split": a feature of the earlier frame that is linked to several of the later one. "death": a
        feature of the earlier frame without a link to the later one. A feature may take part in a merge and in a split
        at the same time.
    frame : int
        The later frame.
    time : object
        The time of the later frame.
    before, after : tuple of int
        The features of the earlier and of the later frame, by their numbers in the column "feature" of `Tracks.table`.
        before is empty for a birth, and after for a death.
    """

    event: str
    frame: int
    time: Any
    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Tracks:
    """Clusters from slice to slice, in the terms of the package tobac.

    A cluster of one slice is a feature, a chain of features is a cell, and cells that are connected by merges and
    splits are a track.

    Attributes
    ----------
    n_features, n_cells, n_tracks : int
    times : ndarray of shape (n_slices,)
        The time of each slice. The index of a slice is its frame.
    features : ndarray of shape (n_samples,)
        The number of the feature of each point, 0 for noise.
    """

    n_features: int
    n_cells: int
    n_tracks: int
    times: NDArray[Any]
    features: NDArray[np.uint32]
    _table: dict[str, NDArray[Any]] = field(repr=False)
    _links: dict[str, NDArray[Any]] = field(repr=False)
    _events: list[tuple[str, int, tuple[int, ...], tuple[int, ...]]] = field(repr=False)

    @property
    def table(self) -> Any:
        """One row per feature, with the columns that tobac's functions expect of features and tracks.

        "frame": the slice, from 0. "idx": the feature within its frame, from 1. "num": its number of points. "feature":
        its number, from 1. "time": the time of the slice; "timestr": the same as text. "y" and "x": its mean
        position, the second column of X (0 if there is none) and the first, or latitude and longitude if the metric
        takes these. "hdim_1" and "hdim_2": equal to "y" and "x"; give tobac dxy=1. "lat" and "lon": in degrees, only
        for metrics of the sphere. "cell" and "track": from 1. "time_cell": the time since the cell began. "label": its
        label in its slice. If X has three or more columns, also "z" and "vdim", the third, except for metrics of the
        sphere. If X is None, the table has none of these columns of positions.

        The table is a pandas.DataFrame if pandas is installed, else a dict of arrays.
        """
        return as_columns(self._table)

    @property
    def links(self) -> Any:
        """One row per pair of linked features.

        "before" and "after": the numbers of the two features. "before_points" and "after_points": for each of them, the
        number of its points that cause the link. If features are matched by ids, both are the number of common ids. If
        they are matched by core points, each is the number of core points within eps of a core point of the other
        feature. "same_cell": whether the cell of "before" continues in "after".

        The table is a pandas.DataFrame if pandas is installed, else a dict of arrays.
        """
        return as_columns(self._links)

    @property
    def events(self) -> list[TrackEvent]:
        """Births, continuations, merges, splits and deaths, in this order within each frame.

        There are no births in the first frame and no deaths after the last, because the slices outside are unknown."""
        times = self.times
        return [TrackEvent(event, frame, times[frame], before, after) for event, frame, before, after in self._events]

    def to_csv(self, path: Union[str, os.PathLike[str]], *, overwrite: bool = False) -> None:
        """Write the table as CSV. pandas.read_csv(path, parse_dates=["time"]) reads it for tobac.

        Parameters
        ----------
        path : str or path
        overwrite : bool
            Whether to replace a file of this name.

        Raises
        ------
        FileExistsError
            If the file exists and overwrite is False.
        OSError
            If the file cannot be written.
        TypeError
            If overwrite is neither True nor False.
        """
        mode = "w" if as_flag(overwrite, "overwrite") else "x"
        columns = {name: _as_texts(values) for name, values in self._table.items()}
        try:
            file = open(path, mode, newline="", encoding="utf-8")
        except FileExistsError:
            raise FileExistsError(
                f"{os.fspath(path)} is there already: choose another name, or say to_csv(…, overwrite=True)"
            ) from None
        with file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values()))


@documented
def tracks(
    X: Any, labels: Any, times: Any, *, slices: Any = None, match: str = "cores", eps: Any = None, core: Any = None,
    ids: Any = None, least_share: float = 0.0,
    metric: str = "euclidean", metric_params: dict[str, Any] | None = None, threads: int | None = None,
) -> Tracks:
    """Follow clusters from slice to slice: their beginnings, continuations, merges, splits and ends.

    A slice consists of all points of one time. Clusters of successive slices are linked if they have core points within
    eps of each other, or ids in common. A cell continues along links: of the later features that are linked to one,
    only the feature that shares most core points or ids with it may continue its cell, of several the first. A feature
    that may continue several cells continues the one with which it shares most, of several the one with the smallest
    number. Features that are connected by links form a track. No slice is skipped: a cluster that is missing in one
    slice ends there, and is new afterwards.

    Parameters
    ----------
    X : array or table of shape (n_samples, n_features)
        The points of all slices, as `epsflow.sweep` takes them, or None if match="ids" and no positions are needed.
    labels : array of shape (n_samples,)
        The cluster of each point in its slice, -1 for noise. Each slice is clustered on its own, so labels of different
        slices may be equal.
    times : array of shape (n_samples,)
        The time of each point, ascending: numbers, datetime64 or datetime.
    slices : array, optional
        The times of all slices, ascending, if slices without points exist. The default is the times that occur.
    match : {"cores", "ids"}
        "cores": clusters are linked if a core point of one is within eps of a core point of the other. "ids": clusters
        are linked if they have ids in common.
    eps : float
        The distance for match="cores", in the unit that `epsflow.sweep` takes.
    core : array of shape (n_samples,), optional
        The core mask for match="cores", as `VariantResult.core`. If labels is a variant, its mask is the default.
    ids : array of shape (n_samples,), optional
        The identity of each point for match="ids", such as the number of its pixel or the name of its station, as whole
        numbers or texts. An id occurs only once in the clusters of one slice.
    least_share : float
        The smallest share of links that are kept, from 0 (all) to 1. The share is the fraction of a feature's ids or
        core points that it has in common with the other feature; the larger of the two fractions counts. So a small
        feature that merges into a large one has its full share.
    {distance}
        Mean positions respect the metric: unit vectors on the sphere, the shorter way round in a periodic box. It may
        be any metric that `epsflow.sweep` takes, except "precomputed".
    {threads}

    Returns
    -------
    Tracks

    {errors}
    ValueError
        Also if times do not ascend, are missing, or are not in `slices`, if a core point is noise, or if an id occurs
        twice in the clusters of one slice.
    TypeError
        Also if match="cores" comes without eps or core, or with ids; or match="ids" without ids, or with eps.

    Examples
    --------
    >>> labels, core = np.empty(len(X), int), np.zeros(len(X), bool)
    >>> for time in np.unique(times):
    ...     rows = times == time
    ...     variant = epsflow.sweep(X[rows], eps=0.5, min_samples=8, core=True)[0]
    ...     labels[rows], core[rows] = variant.labels, variant.core
    >>> found = epsflow.tracks(X, labels, times, core=core, eps=0.5)
    >>> found.to_csv("tracks.csv")
    >>> [event for event in found.events if event.event == "merge"]
    """
    match = as_choice(match, "match", "cores")
    words = metric_of(X, metric, metric_params)
    points = None if X is None else as_host_points(on_host(X), words)
    of_points = as_labels(labels, "labels")
    n = len(of_points)
    if points is not None:
        require_labels(len(points), n)
    by_time, starts = _as_slices(times, slices, n)
    radius, mask, codes, names = 0.0, None, None, None
    if match == "cores":
        if points is None:
            raise ValueError("X is None, and match='cores' goes by distances: give points, or match='ids' with ids")
        if eps is None:
            raise TypeError(
                "match='cores' needs eps, within which core points are linked: that of the clustering, or larger where "
                "clusters move"
            )
        if ids is not None:
            raise TypeError("ids are of match='ids': say so, or leave them out")
        radius = as_eps(eps, words.eps_unit)
        mask = _as_core(core, labels, n)
    elif match == "ids":
        if ids is None:
            raise TypeError("match='ids' needs ids: what each point is, such as the number of its pixel")
        if eps is not None:
            raise TypeError("eps is of match='cores': leave it out with match='ids'")
        codes, names = _as_ids(ids, n)
        mask = None if core is None else _as_core(core, labels, n)
    share = _as_share(least_share)
    options = as_options(threads=threads)
    try:
        given = _core.Points(points, words, of_points, mask)
        found = made_by(_core.start_tracks, given, starts, codes, (match, radius, share), options)
    except ValueError as error:
        if names is None:
            raise
        raise ValueError(_with_name(str(error), names)) from None
    n_cells, n_tracks, table, links, events, features = found
    links["same_cell"] = links["same_cell"].view(np.bool_)
    return Tracks(
        len(table["frame"]), n_cells, n_tracks, by_time, features, _in_tobacs_order(table, by_time, points, words),
        links, events,
    )


def _in_tobacs_order(
    found: dict[str, NDArray[Any]], by_time: NDArray[Any], points: NDArray[Any] | None, metric: Any
) -> dict[str, NDArray[Any]]:
    """Returns the columns of the features in tobac's order. found: columns of the library. by_time: the time of each
    frame. points: None for tracks without coordinates. metric: a result of metric_of()."""
    on_sphere = metric.name in ("greatcircle", "haversine")
    has_z = points is not None and points.shape[1] > 2 and not on_sphere
    time = by_time[found["frame"]] if len(by_time) else by_time
    first = np.full(int(found["cell"].max(initial=0)) + 1, len(time), dtype=np.int64)
    np.minimum.at(first, found["cell"], np.arange(len(time)))
    table = {"frame": found["frame"], "idx": found["idx"]}
    if points is not None:
        table.update({"vdim": found["z"]} if has_z else {}, hdim_1=found["y"], hdim_2=found["x"])
    # tobac writes times as YYYY-MM-DD HH:MM:SS.
    texts = _as_texts(time.astype("datetime64[s]") if time.dtype.kind == "M" else time)
    table.update(num=found["num"], feature=found["feature"], time=time, timestr=np.array(texts, dtype=object))
    if points is not None:
        table.update({"z": found["z"]} if has_z else {}, y=found["y"], x=found["x"])
    if points is not None and on_sphere:
        table.update(lat=found["lat"], lon=found["lon"])
    table.update(
        cell=found["cell"], track=found["track"], time_cell=time - time[first[found["cell"]]], label=found["label"]
    )
    return table


def _as_slices(times: Any, slices: Any, n: int) -> tuple[NDArray[Any], NDArray[np.uint64]]:
    """times: [n] of the points, ascending. slices: of all slices, strictly ascending; None for those that occur.
    Returns the times of the slices, and [slices + 1] the first row of each, then n. Raises TypeError, ValueError."""
    of_points = _as_times(times, "times")
    if len(of_points) != n:
        raise ValueError(f"there are {n} labels and {len(of_points)} times: give the time of each point")
    _refuse_descent(
        of_points, "times", "row",
        "sort all rows by time, as numpy.argsort(times, kind='stable') says, or take each slice once",
    )
    if slices is None:
        is_new = np.ones(n, dtype=bool)
        is_new[1:] = of_points[1:] != of_points[:-1]
        every = of_points[is_new]
    else:
        every = _as_times(slices, "slices")
        if (every.dtype.kind == "M") != (of_points.dtype.kind == "M") and n > 0:
            raise TypeError(
                f"slices has dtype {every.dtype} and times {of_points.dtype}: give both as numbers, "
                "or both as datetime64"
            )
        _refuse_descent(every, "slices", "index", "give each slice once, in order of time", strictly=True)
        at = np.searchsorted(every, of_points)
        is_none = np.ones(n, dtype=bool)
        is_there = at < len(every)
        is_none[is_there] = every[at[is_there]] != of_points[is_there]
        if is_none.any():
            row = int(np.argmax(is_none))
            raise ValueError(
                f"row {row} has the time {of_points[row]}, which is none of slices: give the times of all slices, "
                "or leave slices out"
            )
    starts = np.append(np.searchsorted(of_points, every), n).astype(np.uint64)
    return every, starts


def _as_times(times: Any, name: str) -> NDArray[Any]:
    """Returns times [n] as whole numbers, float64 or datetime64. Raises TypeError, ValueError, also for gaps."""
    remedy = "give numbers, or datetime64 as numpy.array(…, dtype='datetime64[s]') makes it"
    if has_masked(times):
        raise ValueError(f"{name} has masked values, and each point has a time: leave such rows out")
    array = np.asarray(on_host(times))
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}, and is a time for each point: of shape (n_samples,)")
    if array.dtype.kind == "O" and all(isinstance(value, datetime.datetime) for value in array):
        zones = [i for i, value in enumerate(array) if value.tzinfo is not None]
        if zones:
            raise TypeError(
                f"{name} has a time zone at row {zones[0]}: convert all to UTC and leave the zone out, "
                "as times.tz_convert('UTC').tz_localize(None) does"
            )
        array = array.astype("datetime64[us]")
    if array.size == 0 and array.dtype.kind not in "M":
        array = array.astype(np.float64)
    if array.dtype.kind == "M":
        missing = np.isnat(array)
        array = _in_nanoseconds(array)
    elif array.dtype.kind in "iu":
        missing = np.zeros(len(array), dtype=bool)
    elif array.dtype.kind == "f":
        array = array.astype(np.float64)
        missing = ~np.isfinite(array)
    else:
        raise TypeError(f"{name} has dtype {array.dtype}, and times are numbers or datetime64: {remedy}")
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(f"{name} has {array[row]} at row {row}, and each point has a time: leave such rows out")
    return array


def _in_nanoseconds(times: NDArray[Any]) -> NDArray[Any]:
    """Converts to nanoseconds, as in tobac and older pandas, if all years are in 1678 to 2261, else to microseconds."""
    years = times.astype("datetime64[Y]").astype(np.int64)[~np.isnat(times)] + 1970
    fits = years.size == 0 or years.min() >= 1678 and years.max() <= 2261
    return times.astype("datetime64[ns]" if fits else "datetime64[us]")


def _refuse_descent(times: NDArray[Any], name: str, what: str, remedy: str, strictly: bool = False) -> None:
    """Raises ValueError if times descend; with strictly, also if two are equal. name, what, remedy: words for it."""
    wrong = times[1:] <= times[:-1] if strictly else times[1:] < times[:-1]
    if wrong.any():
        row = int(np.argmax(wrong)) + 1
        raise ValueError(f"{name} has {times[row]} at {what} {row}, after {times[row - 1]}: {remedy}")


def _as_core(core: Any, labels: Any, n: int) -> NDArray[np.uint8]:
    """Returns the core mask [n] on the host, from `labels` if core is None. Raises TypeError if neither has it,
    ValueError for another shape, and as as_mask()."""
    if core is None:
        core = getattr(labels, "core", None)
    if core is None:
        raise TypeError(
            "match='cores' needs core: whether each point is core, as sweep(…, core=True) tells it; "
            "or match='ids', with ids"
        )
    array = np.asarray(on_host(core))
    if array.dtype.kind in "iu" and array.ndim == 1 and array.shape != (n,):
        raise ValueError(
            f"core has {len(array)} values and there are {n} labels: give a mask, which of indices is "
            f"numpy.isin(numpy.arange({n}), core)"
        )
    if array.shape != (n,):
        raise ValueError(f"core has shape {array.shape}, and there are {n} labels: give True or False for each point")
    return as_mask(core, n)


def _as_ids(ids: Any, n: int) -> tuple[NDArray[np.int64], NDArray[Any] | None]:
    """Returns ids as int64, and None or the values that these stand for.

    Integers below 2**63 are returned as they are, with None. For texts and larger integers, returns the index of each
    id among the sorted distinct values, and these values. Raises ValueError for masked ids and for another shape than
    (n,), TypeError for other types."""
    if has_masked(ids):
        raise ValueError("ids has masked values: give an id for each point")
    array = np.asarray(on_host(ids))
    if array.shape != (n,):
        raise ValueError(f"ids has shape {array.shape}, and there are {n} labels: give an id for each point")
    if array.dtype.kind == "i" or array.dtype.kind == "u" and (array.size == 0 or array.max() < 2**63):
        return np.ascontiguousarray(array, dtype=np.int64), None
    if array.dtype.kind in "uUS" or array.dtype.kind == "O" and all(isinstance(value, str) for value in array):
        names, codes = np.unique(array, return_inverse=True)
        return codes.reshape(n).astype(np.int64), names
    if n == 0:
        return np.zeros(0, dtype=np.int64), None
    raise TypeError(f"ids has dtype {array.dtype}, and ids are whole numbers or texts")


def _with_name(text: str, names: NDArray[Any]) -> str:
    """Replaces the index of an id in an error of the library by the id."""
    before, same, after = text.partition("have the same id, ")
    index, colon, rest = after.partition(":")
    return f"{before}{same}{names[int(index)]}{colon}{rest}" if index.isdigit() and int(index) < len(names) else text


def _as_share(share: Any) -> float:
    if isinstance(share, (bool, np.bool_)) or not isinstance(share, (int, float, np.integer, np.floating)):
        raise TypeError(f"least_share is {share!r}, of type {type(share).__name__}; it is a number from 0 to 1")
    if not 0 <= share <= 1:
        raise ValueError(f"least_share == {share!r}, must be from 0 to 1")
    return float(share)


def _as_texts(values: NDArray[Any]) -> list[str]:
    """Returns values as they are written in CSV."""
    if values.dtype.kind == "M":
        seconds = values.astype("datetime64[s]")
        texts = (seconds if (values == seconds).all() else values).astype(str)
        return [text.replace("T", " ") for text in texts.tolist()]
    if values.dtype.kind == "m":
        return [_duration(value) for value in values.astype("timedelta64[us]").tolist()]
    return [repr(value) if isinstance(value, float) else str(value) for value in values.tolist()]


def _duration(since: datetime.timedelta) -> str:
    """Returns a duration as pandas writes it: 0 days 00:05:00."""
    seconds = since - datetime.timedelta(days=since.days)
    text = str(datetime.datetime.min + seconds).split(" ")[1]
    return f"{since.days} days {text}"
