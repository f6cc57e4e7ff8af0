"""Distances that the caller has already: metric='precomputed', dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import as_weights
from ._engine import Engine, engine_for
from ._metrics import EUCLIDEAN
from ._parameters import as_bytes, as_choice, as_options, as_threads
from ._tasks import ProgressOption, log, python_errors, wait_for
from ._units import Given


def is_sparse(X: Any) -> bool:
    """Whether X is a matrix or an array of scipy.sparse."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def is_precomputed(metric: Any) -> bool:
    return isinstance(metric, str) and metric == "precomputed"


def made_dense(X: Any, memory: Any, name: str = "X") -> Any:
    """X, or as a dense array what is sparse, with a notice. Raises MemoryError where it takes more than the memory."""
    if not is_sparse(X):
        return X
    n, d = X.shape
    size, limit = 8 * n * d, as_bytes(memory) or _core.machine_memory() // 2
    if size > limit:
        raise MemoryError(
            f"{name} is sparse, and dense, as points are searched, it takes {size} bytes, more than the memory of {limit}: raise memory, or "
            "reduce the dimensions first"
        )
    log.warning("%s is sparse and was made dense, %d x %d: points are searched so", name, n, d)
    return X.toarray()


def as_distances(X: Any, name: str = "X") -> Any:
    """X as a C-contiguous [n, n] array of float32 or float64, or as a csr_array of float64 with sorted rows and its whole diagonal.
    Raises TypeError, ValueError for what is not square."""
    if is_sparse(X):
        _require_square(X.shape, name)
        return _with_diagonal(X.tocsr().astype(np.float64, copy=False))
    array = np.asarray(X)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} is of dtype {array.dtype}; distances are numbers")
    _require_square(array.shape, name)
    wanted = np.float32 if array.dtype == np.float32 else np.float64
    return np.ascontiguousarray(array, dtype=wanted)


def _require_square(shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"Precomputed matrix must be square. {name} is a {'x'.join(map(str, shape))} matrix, of n points n x n are wanted")


def _with_diagonal(table: Any) -> Any:
    """A copy with sorted rows in which each point is its own neighbour, at the distance 0 where X has none."""
    table = table.copy()
    table.sum_duplicates()
    missing = np.ones(table.shape[0], dtype=bool)
    rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    missing[rows[rows == table.indices]] = False
    if missing.any():
        lacking = np.flatnonzero(missing)
        rows, columns = np.concatenate([rows, lacking]), np.concatenate([table.indices, lacking])
        data = np.concatenate([table.data, np.zeros(len(lacking))])
        order = np.lexsort((columns, rows))
        offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=table.shape[0]))])
        table = type(table)((data[order], columns[order], offsets), shape=table.shape)
        table.has_sorted_indices = True
    return table


def of_the_cpu(engine: Engine | None, backend: Any, memory: Any, threads: Any, threads_name: str = "threads") -> dict[str, Any]:
    """memory and threads of a run on the CPU, those of the engine where there is one. Raises ValueError for backend='gpu'."""
    if engine is not None:
        made = engine_for(engine, Given(np.empty((0, 1)), EUCLIDEAN), backend, memory, threads, threads_name)
        return {name: made._arguments[name] for name in ("memory", "threads")}
    if as_choice(backend, "backend") == "gpu":
        raise ValueError("metric='precomputed' is clustered on the CPU, and backend='gpu' asks for a GPU: leave one of them out")
    return {"memory": memory, "threads": as_threads(threads, threads_name) or None}


def cluster_distances(
    distances: Any,
    variants: list[tuple[float, int]],
    sample_weight: Any,
    core: bool,
    progress: ProgressOption,
    options: dict[str, Any],
    directed: bool = False,
) -> list[Any]:
    """A result of the library for each variant, in order; distances: as as_distances() gives them; options: of_the_cpu()'s; directed: take
    rows that are not symmetric, too, as scikit-learn does."""
    weights = None if sample_weight is None else as_weights(sample_weight, distances.shape[0])
    with python_errors():
        if is_sparse(distances):
            offsets = distances.indptr.astype(np.uint64)
            ids = distances.indices.astype(np.uint32)
            task = _core.start_table(offsets, ids, distances.data, variants, weights, core, directed, as_options(**options))
        else:
            largest = max(eps for eps, _ in variants)
            task = _core.start_distances(distances, largest, variants, weights, core, directed, as_options(**options))
    results: list[Any] = []
    wait_for(task, progress, results.extend)
    found = {(result.eps, result.min_samples): result for result in results}
    return [found[variant] for variant in variants]
