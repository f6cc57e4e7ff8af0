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

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As `epsflow.sweep` does.
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
    offsets = table.offsets.view(np.int64)
    ids = table.ids
    values = table.distances if distances else np.ones(len(ids), dtype=np.bool_)
    try:
        from scipy.sparse import csr_array
    except ImportError:
        return (offsets, ids, values) if distances else (offsets, ids)
    n = len(data)
    # scipy wants indices of one type with the offsets, and signed ones.
    result = csr_array((values, ids.astype(np.int64), offsets), shape=(n, n))
    result.has_sorted_indices = True
    result.has_canonical_format = True
    return result


neighbors_loaded.__qualname__ = "Dataset.neighbors"  # which errors of arguments name
