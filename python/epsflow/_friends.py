"""Friends of friends: groups of points that are linked, in the words of cosmology."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_host_points, as_weights
from ._catalog import as_column, catalog_of_points, columns_of
from ._engine import Engine, engine_for
from ._frames import metric_of
from ._gpu_arrays import is_on_gpu, to_host
from ._loaded import Loaded
from ._parameters import as_choice, as_count, as_eps
from ._tables import as_frame
from ._tasks import python_errors, run_task
from ._units import Given


class Groups:
    """Groups of friends. `epsflow.friends_of_friends` makes it.

    Attributes
    ----------
    labels : ndarray of int32 of shape (n_samples,)
        The group of each point, in the numbers of `dialect`.
    n_groups : int
    linking_length : float
    dialect : str
    """

    def __init__(
        self,
        labels: NDArray[np.int32],
        n_groups: int,
        linking_length: float,
        dialect: str,
        of: dict[str, Any],
    ) -> None:
        self._numbers = labels
        self.n_groups = n_groups
        self.linking_length = linking_length
        self.dialect = dialect
        self.labels: NDArray[np.int32] = np.asarray(_core.translate_groups(labels, dialect))
        self._of = of

    @property
    def catalog(self) -> Any:
        """A row for each group, largest first or by first point: a pandas.DataFrame, or a structured array where pandas is not there.

        group, size, first_core (its first point), weight_total (with weights), and of the coordinates centre (of mass), spread, ends and
        radius as `epsflow.catalog` has them; with velocity also vx_mean, … In the dialect nbodykit the columns are those of its FOF
        catalogue: CMPosition, CMVelocity (with velocity) and Length, in a structured array whose row 0 stands for points in no group.
        """
        of = self._of
        core = self._numbers >= 0
        velocity = [(name, values, True) for name, values in zip(("vx", "vy", "vz"), of["velocity"])]
        columns = velocity + of["columns"]
        table = catalog_of_points(of["points"], of["metric"], self._numbers, core, of["weights"], columns)
        if self.dialect == "nbodykit":
            return _nbodykit(table, of["points"].shape[1], bool(velocity))
        first = 0 if self.dialect == "epsflow" else 1
        names = list(table.columns) if hasattr(table, "columns") else list(table.dtype.names)
        made = {"group": np.asarray(table["cluster"]) + first}
        made.update({name: np.asarray(table[name]) for name in names if name != "cluster"})
        return as_frame(made)

    def __repr__(self) -> str:
        return f"<epsflow.Groups: {self.n_groups} at the linking length {self.linking_length:g}>"


def _nbodykit(table: Any, dims: int, moves: bool) -> NDArray[Any]:
    groups = len(np.asarray(table["cluster"]))
    fields: list[Any] = [("CMPosition", np.float64, (dims,))]
    if moves:
        fields.append(("CMVelocity", np.float64, (dims,)))
    made = np.zeros(groups + 1, [*fields, ("Length", np.int64)])
    axes = [name for name in (table.columns if hasattr(table, "columns") else table.dtype.names) if str(name).endswith("_center")]
    for k, name in enumerate(axes):
        made["CMPosition"][1:, k] = np.asarray(table[name])
        if moves:
            made["CMVelocity"][1:, k] = np.asarray(table[f"{('vx', 'vy', 'vz')[k]}_mean"])
    made["CMPosition"][0] = np.nan
    if moves:
        made["CMVelocity"][0] = np.nan
    made["Length"][1:] = np.asarray(table["size"])
    return made


def friends_of_friends(
    X: Any,
    linking_length: float | None = None,
    *,
    b: float | None = None,
    box: Any = None,
    min_size: int = 2,
    weights: Any = None,
    velocity: Any = None,
    columns: Any = None,
    ids: str = "size",
    dialect: str = "epsflow",
    metric: str = "euclidean",
    metric_params: dict[str, Any] | None = None,
    backend: str = "auto",
    memory: int | str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
) -> Groups:
    """Groups of points that are linked: every two that are no farther apart than the linking length, and what hangs together.

    This is DBSCAN with min_samples=2, in the words of cosmology.

    Parameters
    ----------
    X : array or table of shape (n_samples, n_features)
        As `epsflow.sweep` takes it.
    linking_length : float, optional
    b : float, optional
        Instead of it: a fraction of the mean separation (volume / n_samples)^(1 / n_features) of points that fill `box`.
    box : float or sequence, optional
        The periodic box, as "box" in the metric_params of `epsflow.sweep`: its length, or one for each column.
    min_size : int
        Points of the smallest group; smaller ones are dissolved.
    weights : array of shape (n_samples,), optional
        Masses. They weight the catalogue, and not who is whose friend.
    velocity : array of shape (n_samples, n_features), optional
        For the catalogue.
    columns : dict of str to array, optional
        Further columns that the catalogue sums up, as `epsflow.catalog` takes them.
    ids : {"size", "first"}
        What groups are numbered by: their size, the largest first, or their first point.
    dialect : {"epsflow", "swift", "nbodykit"}
        Numbers of groups, and of points in none: from 0 and -1; from 1 and 2147483647; from 1 and 0.
    metric, metric_params, backend, memory, threads, engine
        As `epsflow.sweep` takes them.

    Returns
    -------
    Groups

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As `epsflow.sweep` does, and ValueError where neither or both of linking_length and b are given, for b without a closed box, for
        masses below 0, and for another dialect.

    Examples
    --------
    >>> groups = epsflow.friends_of_friends(X, b=0.2, box=250.0, min_size=32, weights=mass)
    >>> groups.catalog
    """
    if (linking_length is None) == (b is None):
        raise ValueError("say how far friends are apart by one of linking_length and b")
    params = dict(metric_params or {})
    if box is not None:
        if "box" in params:
            raise ValueError("box is given, and in metric_params as well: give it once")
        params["box"] = box
    words = metric_of(X, metric, params or None)
    least = as_count(min_size, "min_size", 1)
    points = as_host_points(to_host(X) if is_on_gpu(X) else X, words)
    n, d = points.shape
    if linking_length is None:
        fraction = as_eps(b, None, "b")
        with python_errors():
            length = fraction * _core.mean_separation(words, d, n)
    else:
        length = as_eps(linking_length, None, "linking_length")
    as_choice(dialect, "dialect", "epsflow")
    masses = None if weights is None else as_weights(weights, n, "weights")
    moves: list[NDArray[np.float64]] = []
    if velocity is not None:
        of_points = np.asarray(to_host(velocity) if is_on_gpu(velocity) else velocity)
        if of_points.shape != (n, d) or d > 3:
            raise ValueError(f"velocity.shape == {of_points.shape}, expected {(n, d)}, in up to three dimensions: one for each sample")
        moves = [as_column(of_points[:, k], "velocity", n) for k in range(d)]
    held = {"points": points, "metric": words, "weights": masses, "velocity": moves, "columns": columns_of(X, columns, n)}
    given = Given(points, words)
    data = Loaded(engine_for(engine, given, backend, memory, threads), given)
    found: list[Any] = []
    run_task(_core.Dataset.start_sweep, data._data, [(length, 1 if least < 2 else 2)], {}, None, on_results=found.extend)
    with python_errors():
        labels, count = _core.settle_groups(found[0].labels, found[0].clusters, least, as_choice(ids, "ids", "size"))
        return Groups(np.asarray(labels), int(count), float(length), dialect, held)
