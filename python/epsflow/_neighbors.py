"""The neighbour table as a product of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._engine import Dataset, Engine, engine_for
from ._parameters import as_eps, as_flag
from ._precomputed import made_dense
from ._tasks import ProgressOption, python_errors, wait_for
from ._units import as_given, warn_of_unit


def neighbors(
    X: Any,
    eps: float,
    *,
    distances: bool = False,
    metric: str = "euclidean",
    metric_params: dict[str, Any] | None = None,
    progress: ProgressOption = None,
    backend: str = "auto",
    memory: int | str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
) -> Any:
    """All neighbours of all points within eps, each point its own.

    Parameters
    ----------
    X, metric, metric_params, progress, backend, memory, threads, engine
        As `epsflow.sweep` takes them.
    eps : float
        A distance of exactly eps counts.
    distances : bool
        Whether to compute the distances, in the unit of eps: of "greatcircle" that which metric_params names, of "haversine" radians,
        else that of the coordinates.

    Returns
    -------
    scipy.sparse.csr_array of shape (n_samples, n_samples)
        Rows sorted, offsets of 64 bits; its values are True, or the distances (a distance of 0 is stored as one). Where SciPy is not
        there, a tuple (offsets, ids) or (offsets, ids, distances) of arrays.

        With distances, `epsflow.sweep` takes it by metric="precomputed", under every eps up to its own. That is its attribute
        epsflow_eps, a float; larger ones are refused. What SciPy makes of it, a copy, too, has no such attribute, and nothing is refused.

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As `epsflow.sweep` does.

    Examples
    --------
    >>> table = epsflow.neighbors(X, 0.3, distances=True)
    >>> result = epsflow.sweep(table, [0.1, 0.2, 0.3], 10, metric="precomputed")
    """
    given = as_given(made_dense(X, memory, engine), metric, metric_params)
    eps = as_eps(eps, given.unit)
    return neighbors_loaded(Dataset(engine_for(engine, given, backend, memory, threads), given), eps, distances, progress)


def neighbors_loaded(data: Dataset, eps: float, distances: bool = False, progress: ProgressOption = None) -> Any:
    eps = as_eps(eps, data._given.unit)
    warn_of_unit(data._given, eps)
    with python_errors():
        task = data._data.start_neighbors(eps, as_flag(distances, "distances"))
    wait_for(task, progress)
    table = task.take_neighbors()
    return _as_table(table.offsets.view(np.int64), table.ids, table.distances if distances else None, eps)


neighbors_loaded.__qualname__ = "Dataset.neighbors"  # which errors of arguments name


def _as_table(offsets: Any, ids: Any, distances: Any, eps: float) -> Any:
    """What `neighbors` returns."""
    values = np.ones(len(ids), dtype=np.bool_) if distances is None else distances
    try:
        from scipy.sparse import csr_array
    except ImportError:
        return (offsets, ids) if distances is None else (offsets, ids, values)
    n = len(offsets) - 1
    # scipy wants indices of one type with the offsets, and signed ones.
    table = csr_array((values, ids.astype(np.int64), offsets), shape=(n, n))
    table.has_sorted_indices = True
    table.has_canonical_format = True
    table.epsflow_eps = eps
    return table
