"""Distances that the caller has computed: metric='precomputed', dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import as_weights
from ._astropy import has_unit
from ._columns import has_masked
from ._parameters import as_bytes, as_options
from ._tasks import ProgressOption, in_order, log, python_errors, wait_for


def is_sparse(X: Any) -> bool:
    """Returns whether X is a matrix or an array of scipy.sparse."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def is_precomputed(metric: Any) -> bool:
    return isinstance(metric, str) and metric == "precomputed"


def check_exclusive(given: dict[str, bool]) -> None:
    """Raises ValueError for parameters that only apply to a search of points. given: whether each is given."""
    beside = [name for name, is_given in given.items() if is_given]
    if beside:
        out = "it" if len(beside) == 1 else "them"
        raise ValueError(
            f"{' and '.join(beside)} beside metric='precomputed': there are no points to search; leave {out} out"
        )


def to_dense(X: Any, memory: Any, engine: Any = None) -> Any:
    """Returns a sparse X as a dense array, and logs a warning; returns any other X unchanged. Raises ValueError if a
    sparse X is not two-dimensional, and MemoryError if the array exceeds the memory of the engine or, without one,
    `memory`, which is half of the machine's memory if it is None."""
    if not is_sparse(X):
        return X
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead: X is sparse and has the shape {X.shape}")
    size = X.shape[0] * X.shape[1] * X.dtype.itemsize
    limit = (
        int(engine._engine.memory) if hasattr(engine, "_engine")
        else as_bytes(memory) or int(_core.machine_memory()) // 2
    )
    if size > limit:
        raise MemoryError(
            f"X is sparse, and points are searched as dense arrays, which takes {_mib(size)}, "
            f"more than the memory of {_mib(limit)}: raise memory, or reduce the dimensions first"
        )
    log.warning("X is sparse and was made dense, %d x %d: points are searched so", *X.shape)
    return X.toarray()


def _mib(size: int) -> str:
    return f"{size / 2**20:,.1f} MiB"


def as_distances(X: Any) -> Any:
    """Returns X, in float32 if it is float32, else in float64: as a C-contiguous [n, n] array or, if X is sparse, as a
    csr_array or csr_matrix with sorted rows and a full diagonal. Raises TypeError if the values are bool or not
    numbers, and ValueError if X is not square, has a unit, or has masked values, or if its indptr descends. Does not
    check whether values are negative or NaN."""
    if has_masked(X):
        raise ValueError("X has masked distances: fill them, X.filled(numpy.inf) for pairs that are no neighbours")
    if has_unit(X):
        raise ValueError(
            f"X is in {X.unit}, and distances are taken as numbers, in the unit of eps: give X.to_value('{X.unit}')"
        )
    table: Any = X.tocsr() if is_sparse(X) else np.asarray(X)
    # SciPy has not checked indptr, and would read beyond its arrays.
    if is_sparse(X) and (np.diff(table.indptr) < 0).any():
        row = int(np.argmax(np.diff(table.indptr) < 0))
        raise ValueError(
            f"X.indptr falls after row {row}, from {table.indptr[row]} to {table.indptr[row + 1]}: it must ascend"
        )
    if table.dtype.kind == "O":
        table = np.asarray(X, dtype=np.float64)
    if table.dtype.kind == "b":
        raise TypeError(
            "X is of dtype bool, which says who is a neighbour and not how far: give distances, as neighbors(…, "
            "distances=True) does"
        )
    if table.dtype.kind not in "fiu":
        raise TypeError(f"X is of dtype {table.dtype}; distances are numbers")
    if len(table.shape) != 2 or table.shape[0] != table.shape[1]:
        raise ValueError(
            f"Precomputed matrix must be square. X has the shape {table.shape}; of n points n x n distances are wanted"
        )
    wanted = np.float32 if table.dtype == np.float32 else np.float64
    if is_sparse(X):
        return _with_diagonal(table.astype(wanted, copy=False))
    return np.ascontiguousarray(table, dtype=wanted)


def is_symmetric(table: Any) -> bool:
    """Returns True if opposite distances of a [n, n] array or sparse matrix are equal, or differ by rounding. A sparse
    matrix must store both of them or neither."""
    own, opposite = table, table.T
    if is_sparse(table):
        both = table.tocsr(copy=True), table.T.tocsr()
        for one in both:
            one.sum_duplicates()
        if not all(np.array_equal(*(getattr(one, name) for one in both)) for name in ("indptr", "indices")):
            return False
        own, opposite = (one.data for one in both)
    return np.allclose(own, opposite, rtol=1e-7, atol=1e-9)


def refuse_beyond_table(X: Any, eps: list[float]) -> None:
    """Raises ValueError if X is a table that `neighbors` made and an eps is larger than the one that it was made for,
    because longer distances are missing from it. Accepts any other X."""
    made_for = getattr(X, "epsflow_eps", None) if is_sparse(X) else None
    if made_for is not None and max(eps) > made_for:
        raise ValueError(
            f"X is a table of neighbours within eps={made_for!r}, and eps={max(eps)!r} is larger, so that it lacks "
            f"some: make it with that eps, neighbors(…, {max(eps)!r}, distances=True), or, where its distances were "
            "changed since, `del X.epsflow_eps`"
        )


def _with_diagonal(table: Any) -> Any:
    """Returns a copy with rows sorted by column, in which each point is its own neighbour. Missing diagonal entries
    become 0; repeated entries are added, as SciPy does."""
    table = table.copy()
    table.sum_duplicates()
    missing = np.ones(table.shape[0], dtype=bool)
    rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    missing[rows[rows == table.indices]] = False
    if missing.any():
        lacking = np.flatnonzero(missing)
        rows, columns = np.concatenate([rows, lacking]), np.concatenate([table.indices, lacking])
        data = np.concatenate([table.data, np.zeros(len(lacking), table.dtype)])
        order = np.lexsort((columns, rows))
        offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=table.shape[0]))])
        table = type(table)((data[order], columns[order], offsets), shape=table.shape)
        table.has_sorted_indices = True
    return table


def cluster_distances(
    distances: Any, variants: list[tuple[float, int]], sample_weight: Any, core: bool, progress: ProgressOption,
    options: dict[str, Any], directed: bool = False,
) -> list[Any]:
    """Returns the library's result for each variant, in their order. distances: from as_distances(). options: from
    cpu_options(). directed: accept rows that are not symmetric, as scikit-learn does. Raises ValueError for a distance
    that is negative or NaN, for rows that are not symmetric unless directed, and for invalid weights; MemoryError."""
    weights = None if sample_weight is None else as_weights(sample_weight, distances.shape[0])
    run = _core.TableRun(weights, core, directed)
    single = distances.dtype == np.float32  # then eps is rounded to float32, as NumPy does in scikit-learn
    with python_errors():
        if is_sparse(distances):
            offsets = distances.indptr.astype(np.uint64)
            ids = distances.indices.astype(np.uint32)
            values = np.ascontiguousarray(distances.data, dtype=np.float64)
            task = _core.start_table((offsets, ids, values), single, variants, run, as_options(**options))
        else:
            largest = max(eps for eps, _ in variants)
            task = _core.start_distances(distances, largest, variants, run, as_options(**options))
    results: list[Any] = []
    wait_for(task, progress, results.extend)
    return list(in_order(results, variants).values())
