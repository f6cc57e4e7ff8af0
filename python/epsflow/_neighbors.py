"""Tables of neighbours as a result of their own."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._loaded import Loaded, method
from ._parameters import as_eps, as_flag, as_folder
from ._tasks import ProgressOption, made_by
from ._units import warn_of_unit


@method
def neighbors_loaded(data: Loaded, eps: float, *, distances: bool = False, progress: ProgressOption = None) -> Any:
    eps = as_eps(eps, data._given.unit)
    warn_of_unit(data._given, eps)
    table = made_by(data._data.start_neighbors, eps, as_flag(distances, "distances"), progress=progress)
    # The rows are in SciPy's canonical format.
    return _as_table(
        table.offsets.view(np.int64), table.ids, table.distances if distances else None, eps, canonical=True
    )


def read_neighbors(file: str | os.PathLike[str]) -> Any:
    """Read the table of neighbours in an HDF5 file that `epsflow neighbors … --out` wrote.

    Parameters
    ----------
    file : str or path

    Returns
    -------
    scipy.sparse.csr_array of shape (n_samples, n_samples)
        As `epsflow.neighbors` returns it, with distances if the file has them (--distances), else with the value True.
        Without SciPy, a tuple of arrays, (offsets, ids) or (offsets, ids, distances).

    Raises
    ------
    ImportError
        If h5py is not installed.
    OSError
        If the file cannot be opened.
    ValueError
        If the file is damaged or is not a table of neighbours.

    Examples
    --------
    >>> table = epsflow.read_neighbors("table.h5")
    >>> result = epsflow.sweep(table, [0.1, table.epsflow_eps], 10, metric="precomputed")
    """
    path = as_folder(file, "file")
    with open(path, "rb") as opened:
        if opened.read(8) != b"\x89HDF\r\n\x1a\n":
            raise ValueError(
                f"{path} is no HDF5, in which `epsflow neighbors … --distances --out` writes tables of neighbours"
            )
    try:
        import h5py
    except ImportError as error:
        raise ImportError(f"{path} takes h5py, which is not there: pip install h5py", name="h5py") from error
    try:
        with h5py.File(path, "r") as opened:
            eps = as_eps(float(opened["offsets"].attrs["eps"]))
            offsets, ids = _column(opened["offsets"], np.uint64), _column(opened["ids"], np.uint32)
            distances = _column(opened["distances"], np.float64) if "distances" in opened else None
        n = len(offsets) - 1
        # SciPy does not check offsets and would read beyond its arrays.
        if n < 0 or offsets[0] != 0 or offsets[-1] != len(ids) or (offsets[1:] < offsets[:-1]).any():
            raise ValueError(f"its offsets do not ascend from 0 to the number of its ids, {len(ids)}")
        if (ids >= n).any():
            raise ValueError(f"it has {n} rows, and an id is {ids.max()}")
        if distances is not None and len(distances) != len(ids):
            raise ValueError(f"it has {len(ids)} ids and {len(distances)} distances")
    except (LookupError, TypeError, ValueError, OverflowError, OSError) as error:
        raise ValueError(
            f"{path} is no table of neighbours of epsflow, or is damaged: {error}; "
            "`epsflow neighbors … --distances --out` writes it anew"
        ) from None
    return _as_table(offsets.view(np.int64), ids, distances, eps)


def _column(stored: Any, dtype: Any) -> NDArray[Any]:
    """Returns values [n] of a data set of h5py as dtype. Raises TypeError unless it has one dimension and a type that
    numpy.can_cast() accepts, such as int64 for float64, which rounds it."""
    values = np.asarray(stored[()])
    if values.ndim != 1 or not np.can_cast(values.dtype, dtype):
        raise TypeError(f"{stored.name} is of type {values.dtype} and shape {values.shape}")
    return values.astype(dtype, copy=False)


def _as_table(offsets: Any, ids: Any, distances: Any, eps: float, canonical: bool = False) -> Any:
    """Returns the result of `neighbors`: a csr_array with the attribute epsflow_eps, or a tuple of the arrays without
    SciPy. distances: None for a table without distances. canonical: whether its rows are known to ascend."""
    values = np.ones(len(ids), dtype=np.bool_) if distances is None else distances
    try:
        from scipy.sparse import csr_array
    except ImportError:
        return (offsets, ids) if distances is None else (offsets, ids, values)
    n = len(offsets) - 1
    # SciPy requires signed indices of the same type as the offsets.
    table = csr_array((values, ids.astype(np.int64), offsets), shape=(n, n))
    if canonical:
        table.has_sorted_indices = True
        table.has_canonical_format = True
    table.epsflow_eps = eps
    return table
