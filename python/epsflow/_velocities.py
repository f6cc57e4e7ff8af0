"""Sweeps of one data set with many velocities, to find the velocities that bring points together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_host_points, as_weights
from ._docs import documented
from ._engine import Engine, engine_for
from ._functions import sweep
from ._gpu_arrays import refuse_on_gpu
from ._labelled import as_frame
from ._metrics import EUCLIDEAN
from ._parameters import as_count, as_variants
from ._tasks import ProgressOption, made_by
from ._units import Input, components_of, parse_input


class VelocityResult:
    """All variants for all velocities. `epsflow.sweep_velocities` returns it.

    Attributes
    ----------
    velocities : ndarray of shape (n_velocities, n_features)
        The velocities, in the unit of X per unit of the times.
    variants : list of (eps, min_samples)
    summary : pandas.DataFrame, or structured array without pandas
        One row per velocity and variant, sorted by these: velocity (its number), eps, min_samples, n_clusters, n_noise,
        n_core, n_border, largest.
    clusters : pandas.DataFrame, or structured array without pandas
        One row per cluster of at least min_size points: velocity, eps, min_samples, first_core (the row of X of its
        first core point, which identifies the cluster), core, size.
    """

    def __init__(
        self, engine: Engine, points: NDArray[Any], times: NDArray[np.float64], velocities: NDArray[np.float64],
        variants: list[tuple[float, int]], found: Any,
    ) -> None:
        self._engine = engine
        self._points = points.copy()
        self._times = times.copy()
        self.velocities = velocities
        self.variants = variants
        counted, listed = found
        self.summary = _sorted(counted, ("velocity", "eps", "min_samples"))
        self.clusters = _sorted(listed, ("velocity", "eps", "min_samples", "first_core"))

    def __len__(self) -> int:
        """The number of velocities."""
        return len(self.velocities)

    def points(self, velocity: int) -> NDArray[np.float64]:
        """Return X − times · velocity: the positions at time 0 if all points have the velocity with this number.

        Raises IndexError if there are not that many velocities. A negative number counts from the end.
        """
        if not -len(self) <= velocity < len(self):
            raise IndexError(f"there is no velocity {velocity}: there are {len(self)}")
        return np.asarray(self._points.astype(np.float64) - self._times[:, None] * self.velocities[velocity])

    def labels(self, velocity: int, eps: float, min_samples: int) -> NDArray[np.int32]:
        """Run DBSCAN on `points(velocity)` and return the labels. eps and min_samples need not be in `variants`.

        They are on the points of X, in its order. Raises IndexError if `velocity` is out of range, and the errors of
        `epsflow.sweep`.
        """
        found = sweep(self.points(velocity), eps, min_samples, engine=self._engine)
        return np.asarray(found.labels(eps, min_samples))

    def __repr__(self) -> str:
        return f"<epsflow.VelocityResult of {len(self)} velocities and {len(self.variants)} variants>"


@documented
def sweep_velocities(
    X: Any, times: Any, velocities: Any, eps: float | Iterable[float] | None = None,
    min_samples: int | Iterable[int] | None = None, *,
    variants: Iterable[tuple[float, int]] | None = None, min_size: int = 1, progress: ProgressOption = None,
    backend: str = "auto", memory: int | str | None = None, threads: int | None = None, engine: Engine | None = None,
) -> VelocityResult:
    """Run DBSCAN on moving points for every velocity, to find velocities that bring many points together.

    Under the velocity u a point x that was seen at the time t is clustered at x − t · u. There, all detections of an
    object that moves with u are at one position. So detections of several nights are linked to asteroids.

    Parameters
    ----------
    X : array or table of shape (n_samples, n_features)
        The position at which each point was seen. Arrays on a GPU are not accepted (TypeError).
    times : array of shape (n_samples,)
        The time at which each point was seen, as numbers with any origin.
    velocities : array of shape (n_velocities, n_features)
        Velocities in units of X per unit of times. Columns of a table are matched by the names of X's columns, with or
        without a leading v.
    eps : float, or several
        The maximum distance between two neighbours, as a number in the unit of X. A distance of exactly eps counts. A
        quantity with a unit raises ValueError.
    {min_samples} {variants}
    min_size : int
        Smaller clusters are counted in `summary` but not listed in `clusters`.
    {progress} {machine}

    Returns
    -------
    VelocityResult

    {errors}
    ValueError
        Also if times or velocities have another shape or are not finite.

    Notes
    -----
    No labels are kept, because n_velocities · n_samples often exceeds the memory. `VelocityResult.labels` computes them
    again for one velocity. The complexity without the clustering is O(n_velocities · n_samples).

    Examples
    --------
    >>> grid = np.stack(np.meshgrid(np.linspace(-0.1, 0.1, 300), np.linspace(-0.1, 0.1, 300)), axis=-1).reshape(-1, 2)
    >>> found = epsflow.sweep_velocities(X, nights, grid, eps=0.005, min_samples=5)
    >>> found.clusters.sort_values("size")
    """
    refuse_on_gpu(X)
    given = parse_input(X, "euclidean", None)
    points = as_host_points(given.points)
    n, d = points.shape
    of_points = as_weights(times, n, "times")
    wanted = np.ascontiguousarray(
        as_host_points(components_of(given, velocities, "velocities"), name="velocities"), dtype=np.float64
    )
    if wanted.shape[1] != d:
        raise ValueError(f"velocities.shape == {wanted.shape}, and X has {d} columns: give a component for each")
    asked = as_variants(eps, min_samples, variants)
    of_all = np.broadcast_to(points[:1], (n * len(wanted), d)) if n else points
    of_engine = engine_for(engine, Input(of_all, EUCLIDEAN), backend, memory, threads)
    moving = (points, of_points, wanted.reshape(-1))
    least = as_count(min_size, "min_size")
    found = made_by(_core.start_velocities, of_engine._engine, *moving, asked, least, progress=progress)
    return VelocityResult(of_engine, points, of_points, wanted, asked, found)


def _sorted(columns: dict[str, Any], by: tuple[str, ...]) -> Any:
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    order = np.lexsort([arrays[name] for name in reversed(by)])
    return as_frame({name: values[order] for name, values in arrays.items()})
