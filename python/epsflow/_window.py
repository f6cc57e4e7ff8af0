"""A window over a stream of points, whose clusters keep their ids."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_host_points, as_weights
from ._docs import documented
from ._frames import library_of, metric_of
from ._gpu_arrays import OUTPUTS, as_output, on_host
from ._labelled import as_columns
from ._parameters import as_choice, as_count, as_options, as_variants, find_variant
from ._precomputed import is_sparse
from ._tasks import made_by, python_errors
from ._units import parse_input

_NO_LIMIT = 2**32 - 2


class ClusterEvent(NamedTuple):
    """A change of clusters in a step of a window.

    Attributes
    ----------
    event : str
        "born": a cluster that shares core points with none before the step. "continued": a cluster before the step and
        one after it that share core points with each other and with no other. "merged": a cluster that shares core
        points with several before the step. "split": a cluster before the step that shares core points with several
        after it. "ended": a cluster before the step that shares core points with none after it. A cluster may take part
        in a merge and in a split at the same time.
    before, after : tuple of int
        The ids of the clusters before and after the step. before is empty for "born", and after for "ended".
    sizes_before, sizes_after : tuple of int
        Their numbers of points.
    """

    event: str
    before: tuple[int, ...]
    sizes_before: tuple[int, ...]
    after: tuple[int, ...]
    sizes_after: tuple[int, ...]


class StepResult(NamedTuple):
    """The outcome of a step of a window.

    Attributes
    ----------
    ids : ndarray of shape (n_arrived,)
        The ids of the points that arrived.
    n_too_old, n_too_many : int
        How many of these did not enter: they were older than max_age, or max_points later ones entered.
    n_left : int
        How many points that were in the window before the step left it.
    from_scratch : bool
        Whether all points were clustered anew. Otherwise the last clustering was continued (see `Window.step`).
    """

    ids: NDArray[np.int64]
    n_too_old: int
    n_too_many: int
    n_left: int
    from_scratch: bool


class WindowClusters:
    """The clusters of one eps and min_samples in a window. The values are those after its last step. Before the first
    step, its properties raise ValueError."""

    def __init__(self, window: Window, position: int) -> None:
        self._window = window
        self._position = position

    def _made(self) -> Any:
        made = self._window._made
        if made is None:
            raise ValueError("the window has had no points: call its step() with some")
        return made

    def _on_gpu(self) -> Any:
        """Returns an object with the arrays `labels` and `core` of the last step on the GPU. Returns None if the output
        is "numpy" or the window is empty."""
        if self._window._output == "numpy" or len(self._window) == 0:
            return None
        return self._made().on_gpu(self._position)

    @property
    def labels(self) -> Any:
        """[n_samples] the cluster of each point in the order of arrival, from 0, and -1 for noise: the labels of
        `epsflow.DBSCAN` for `Window.points`. An ndarray, or an array of the library that `output` names."""
        held = self._on_gpu()
        if held is not None:
            return as_output(lambda: held.labels, "<i4", self._window._output)
        return np.asarray(self._made().labels(self._position))

    @property
    def cluster_ids(self) -> NDArray[np.int64]:
        """[n_samples] the id of the cluster of each point, -1 for noise. A cluster that continues in a step keeps its
        id. Raises ValueError if `output` leaves labels on the GPU."""
        if self._on_gpu() is not None:
            raise ValueError(
                f"output={self._window._output!r} leaves labels on the GPU: take clusters['id'] at the labels there"
            )
        return np.asarray(np.append(self._columns()[0], -1)[self.labels])

    @property
    def core(self) -> Any:
        """[n_samples] whether each point is a core point; an array like the labels."""
        held = self._on_gpu()
        if held is not None:
            return as_output(lambda: held.core, "|b1", self._window._output)
        return np.asarray(self._made().core(self._position)).view(np.bool_)

    @property
    def clusters(self) -> Any:
        """One row per cluster, in the order of the labels, as a pandas.DataFrame if pandas is installed, else a dict of
        arrays: "id", "n_points", "n_core", "first_core" (the id of its first core point)."""
        return as_columns(dict(zip(("id", "n_points", "n_core", "first_core"), self._columns())))

    @property
    def events(self) -> list[ClusterEvent]:
        """The changes of the last step: births, continuations, merges, splits and ends, in this order."""
        return [ClusterEvent(*change) for change in self._made().changes(self._position)]

    def _columns(self) -> list[NDArray[np.int64]]:
        return [np.asarray(column) for column in self._made().clusters(self._position)]


@documented
class Window:
    """Exact DBSCAN over points that arrive and leave, with clusters that keep their ids.

    After each step the labels equal the labels of a run over the points in the window. Of the clusters that share core
    points with one before the step, only the one that shares most may have its id; of several, the one with the oldest
    core point. A cluster that may have several ids has the id of the cluster with which it shares most core points; of
    several, the smallest. No id is used twice. Several threads may use a window; its steps go one after another. A copy
    goes on as the window does; it has no events until its next step.

    Parameters
    ----------
    eps : float, or several
        The maximum distance between two neighbours, as a number in the unit of the metric. A distance of exactly eps
        counts. A quantity with a unit raises ValueError.
    {min_samples} {variants}
    max_age : float or timedelta, optional
        Points leave once they are older than the latest time by more than this: seconds if times are dates, else the
        unit of the times.
    max_points : int, optional
        The points that arrived first leave if there are more than this.
    {distance}
    backend : {"auto", "cpu", "gpu"}
        The device that runs the work. "auto" is the GPU if there is one, else the CPU. Only the CPU continues a
        clustering (see `step`). In the memory of a GPU points stay from step to step.
    output : {"numpy", "cupy", "torch", "jax", "dlpack"}
        All values except "numpy" leave labels on the GPU, as arrays of that library ("dlpack": as objects that any
        library with DLPack can take). It takes a GPU, and the metric euclidean, greatcircle, haversine or cosine,
        without a box; otherwise the first step raises ValueError. Labels of an empty window are an ndarray.
    {memory} {threads}

    Attributes
    ----------
    variants : list of (eps, min_samples)
    results : list of WindowClusters
        The clusters of each variant. If there is one, the window has its properties itself.

    Examples
    --------
    >>> window = epsflow.Window(0.1, 10, max_points=20_000)
    >>> for X in frames:
    ...     window.step(X)
    ...     print(window.clusters, window.events)
    """

    def __init__(
        self, eps: float | Iterable[float] | None = None, min_samples: int | Iterable[int] | None = None, *,
        variants: Iterable[tuple[float, int]] | None = None,
        max_age: float | datetime.timedelta | None = None, max_points: int | None = None,
        metric: str = "euclidean", metric_params: dict[str, Any] | None = None,
        backend: str = "auto", output: str = "numpy", memory: int | str | None = None, threads: int | None = None,
    ) -> None:
        self.variants = as_variants(eps, min_samples, variants)
        self._metric = (metric, metric_params)
        self._max_age = max_age
        if not _as_number(max_age) >= 0:
            raise ValueError(f"max_age is {max_age!r}; it is a number from 0 on")
        self._max_points = _NO_LIMIT if max_points is None else as_count(max_points, "max_points")
        self._engine = as_options(backend=backend, memory=memory, threads=threads)
        self._output = as_choice(output, "output", "numpy", OUTPUTS)
        self._made: Any = None
        self._clock: str | None = None
        self._has_weights = False
        self._n_features: int | None = None

    @property
    def results(self) -> list[WindowClusters]:
        return [WindowClusters(self, position) for position in range(len(self.variants))]

    def result(self, eps: float, min_samples: int) -> WindowClusters:
        """Return the clusters of one variant. Raises KeyError if the window does not have it."""
        positions = {variant: position for position, variant in enumerate(self.variants)}
        return WindowClusters(self, find_variant(positions, eps, min_samples))

    def __getattr__(self, name: str) -> Any:
        if name not in ("labels", "cluster_ids", "core", "clusters", "events"):
            raise AttributeError(f"Window has no attribute {name!r}")
        if len(self.variants) > 1:
            raise AttributeError(
                f"the window has {len(self.variants)} variants, and each has {name}: take one, "
                f"result(eps, min_samples).{name}"
            )
        return getattr(WindowClusters(self, 0), name)

    @documented
    def step(
        self, X: Any = None, *, times: Any = None, sample_weight: Any = None, leave: Any = None, now: Any = None
    ) -> StepResult:
        """Let points arrive and leave.

        Once at most one point in 20 changes in each of several steps, the last clustering is continued, which is faster
        than a run over all points, and gives the same labels. This is possible on the CPU, for at most three columns,
        with the metrics euclidean, greatcircle, haversine and cosine, without a box and without weights. Otherwise each
        step clusters all points. If the step raises, the window is as before.

        Parameters
        ----------
        X : array or table of shape (n_samples, n_features), optional
            The points that arrive, as `epsflow.sweep` takes them, but not sparse; the window copies them. Points on a
            GPU are copied to the host. None if no points arrive. The first step needs X.
        times : array of shape (n_samples,) or str, optional
            The time of each point, in any order: numbers, or dates as datetime64 or datetime. A text is the name of a
            column of the table X. Either all steps have times, or none.
        {sample_weight}
            Either all steps have weights, or none. With weights all points are clustered in every step.
        leave : array of int, optional
            The ids of points that leave. Each must be in the window before the step, and occur once.
        now : float or datetime, optional
            A time that counts as the latest for max_age, unless a point or an earlier `now` is later.

        Returns
        -------
        StepResult

        {errors}
        """
        if isinstance(times, str):
            X, times = _without_column(X, times)
        points, m = None, 0
        if X is not None and (is_sparse(X) or not hasattr(X, "__len__") or len(X) > 0 or self._made is None):
            points = self._read(X)
            m = len(points)
        is_begun = self._made is not None
        values, clock = _as_times(times, m, self._clock, is_begun)
        late = None
        if now is not None:
            (late,), clock = _as_times([now], 1, clock, True)
        weights = None if sample_weight is None else as_weights(sample_weight, m)
        leaving = None if leave is None else _as_ids(leave)
        if not is_begun:
            if points is None:
                raise ValueError("the window has no points yet: the first step needs some, X")
            self._make(points.shape[1], clock, weights is not None)
        try:
            found = made_by(
                self._made.start_step, points,
                np.empty(0) if values is None and clock is not None else values,
                np.empty(0) if weights is None and self._has_weights else weights, leaving,
                None if late is None else float(late),
            )
        except BaseException:
            if not is_begun and len(self) == 0:  # nothing entered, and the next first step may be of another kind
                self._made = self._clock = self._n_features = None
            raise
        first, arrived, too_old, too_many, left, from_scratch = found
        ids = np.arange(first, first + arrived, dtype=np.int64)
        return StepResult(ids, too_old, too_many, left, from_scratch)

    def _read(self, X: Any) -> Any:
        given = parse_input(on_host(X), *self._metric)
        if self._n_features is not None and given.points.shape[1] != self._n_features:
            raise ValueError(
                f"X has {given.points.shape[1]} features, and the window has {self._n_features}: "
                "all points of a window have the same"
            )
        return as_host_points(given.points)

    def _make(self, n_features: int, clock: str | None, weighted: bool, state: Any = None) -> None:
        if self._max_age is not None and clock is None:
            raise ValueError("max_age needs the times of the points: give times")
        if clock == "numbers" and isinstance(self._max_age, (datetime.timedelta, np.timedelta64)):
            raise ValueError(f"max_age is {self._max_age!r}, and times are numbers: give a number, in their unit")
        age = _as_number(self._max_age)
        most = (age if clock in (None, "numbers") else age * 1e6, self._max_points)
        with python_errors():
            options = _core.WindowOptions(
                self.variants, metric_of(None, *self._metric), weighted, clock is not None, most, self._engine,
                self._output != "numpy",
            )
            made = _core.make_window(n_features, options) if state is None else _core.restored_window(options, state)
        self._made, self._clock, self._has_weights, self._n_features = made, clock, weighted, n_features

    def __len__(self) -> int:
        """The number of points."""
        return 0 if self._made is None else len(self._made)

    @property
    def ids(self) -> NDArray[np.int64]:
        """[n_samples] the ids of the points: their numbers in the order of arrival, from 0."""
        return np.empty(0, np.int64) if self._made is None else np.asarray(self._made.ids()).astype(np.int64)

    @property
    def points(self) -> NDArray[np.float64]:
        """[n_samples, n_features] the points in the order of arrival."""
        if self._made is None:
            return np.empty((0, 0))
        return np.asarray(self._made.points()).reshape(-1, self._n_features or 1)

    @property
    def times(self) -> Any:
        """[n_samples] the times of the points: numbers, or datetime64 in microseconds, in UTC if they were given with a
        zone. None if points have no times, and before the first step."""
        if self._made is None or self._clock is None:
            return None
        times = np.asarray(self._made.times())
        return times if self._clock == "numbers" else times.astype("datetime64[us]")

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self), _made=None)
        if self._made is not None:
            saved = self._made.state()
            variants = [(following, np.array(ids)) for following, ids in saved[7]]
            state["_saved"] = (*saved[:3], *(np.array(part) for part in saved[3:7]), variants)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.pop("_saved", None)
        self.__dict__.update(state)
        if saved is not None:
            self._make(self._n_features or 1, self._clock, self._has_weights, saved)

    def __repr__(self) -> str:
        return f"<epsflow.Window of {len(self)} points, {len(self.variants)} variants>"


def _as_number(age: Any) -> float:
    """Returns an age as a number: infinity for None, the seconds of a timedelta, a number unchanged. The number is in
    the unit of the times, or in seconds if the times are dates."""
    if age is None:
        return float("inf")
    if isinstance(age, datetime.timedelta):
        return age.total_seconds()
    if isinstance(age, np.timedelta64):
        return float(age / np.timedelta64(1, "s"))
    return float(age)


def _as_times(times: Any, m: int, clock: str | None, is_begun: bool) -> tuple[Any, str | None]:
    """Returns times as float64 [m] and their kind: "numbers", "dates", or "dates with a zone". Without times returns
    None and `clock`.

    Dates become microseconds since 1970, in UTC if they have a zone. clock: the kind of earlier times, or None.
    is_begun: whether there were earlier steps. Raises ValueError if points have times and earlier ones had none, or the
    other way round; if the kind is mixed or changes; if a time is NaN, NaT, infinite, or a whole number beyond ±2**53;
    or if there are not m times. Raises TypeError if they are neither numbers nor dates.
    """
    if times is None or (m == 0 and np.size(times) == 0):
        if clock is not None and m > 0:
            raise ValueError("the points of earlier steps had times, and these have none: give times")
        return None, clock
    if is_begun and clock is None:
        raise ValueError("the points of earlier steps had no times: leave times out, or begin a new window")
    values, kind = _numbers_of(times)
    if values.shape != (m,):
        raise ValueError(f"times has the shape {values.shape}, and {m} points arrive: give one time for each")
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad) > 0:
        raise ValueError(f"times[{bad[0]}] is missing or infinite: give the time of each point, or leave the point out")
    if clock is not None and kind != clock:
        raise ValueError(f"times are {kind}, and those of earlier steps were {clock}: convert these to the same")
    return values, kind


def _numbers_of(times: Any) -> tuple[NDArray[np.float64], str]:
    kind = "dates"
    dates = getattr(times, "dt", times)  # of a Series of pandas
    if getattr(dates, "tz", None) is not None:
        times, kind = dates.tz_convert(None), "dates with a zone"
    values = np.asarray(times)
    if values.dtype == object:
        for time in values:
            if not isinstance(time, datetime.datetime):
                raise TypeError(f"times has {time!r}, of type {type(time).__name__}; times are numbers or dates")
        aware = {getattr(time, "tzinfo", None) is not None for time in values}
        if len(aware) > 1:
            raise ValueError("some times have a zone and others have none: give all of them one, or none")
        if aware == {True}:
            utc = datetime.timezone.utc
            values, kind = np.array([time.astimezone(utc).replace(tzinfo=None) for time in values]), "dates with a zone"
        values = values.astype("datetime64[us]")
    if values.dtype.kind == "M":
        # Microseconds since 1970 are whole numbers that float64 holds exactly.
        exact = values.astype("datetime64[us]")
        return np.where(np.isnat(exact), np.nan, exact.astype(np.int64).astype(np.float64)), kind
    if values.dtype.kind not in "iuf":
        raise TypeError(f"times are of dtype {values.dtype}; they are numbers or dates")
    if values.dtype.kind in "iu" and values.size > 0 and np.abs(values.astype(np.float64)).max() > 2**53:
        raise ValueError("times are whole numbers above 2^53, which float64 rounds: give dates, or a coarser unit")
    return np.ascontiguousarray(values, np.float64), "numbers"


def _as_ids(leave: Any) -> NDArray[np.uint64]:
    ids = np.asarray(leave)
    if ids.size == 0:
        return np.empty(0, np.uint64)
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise TypeError(f"leave is an array of {ids.dtype} with the shape {ids.shape}; it is a list of ids of points")
    if ids.min() < 0:
        raise ValueError(f"leave has the id {ids.min()}, and ids are numbers from 0 on")
    return np.ascontiguousarray(ids, np.uint64)


def _without_column(X: Any, name: str) -> tuple[Any, Any]:
    library = library_of(X)
    if library in ("pandas", "geopandas"):
        return X.drop(columns=[name]), X[name]
    if library == "polars":
        return X.drop(name), X[name].to_numpy()
    raise TypeError(
        f"times={name!r} names a column of a table of pandas or polars, and X is of type {type(X).__name__}: "
        "give an array of times"
    )
