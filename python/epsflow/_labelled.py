"""Results as tables, and copies of tables with further columns."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._frames import library_of

Columns = dict[str, np.ndarray[Any, Any]]


def as_frame(columns: dict[str, Any]) -> Any:
    """Returns columns of equal length as a pandas.DataFrame if pandas is installed, else as a structured array."""
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    table = np.empty(len(next(iter(arrays.values()))), dtype=[(name, values.dtype) for name, values in arrays.items()])
    for name, values in arrays.items():
        table[name] = values
    try:
        import pandas
    except ImportError:
        return table
    return pandas.DataFrame(table)


def as_columns(columns: dict[str, Any]) -> Any:
    """Returns copies of columns as a pandas.DataFrame if pandas is installed, else as a dict."""
    copies = {name: values.copy() for name, values in columns.items()}
    try:
        import pandas
    except ImportError:
        return copies
    return pandas.DataFrame(copies)


def table_of(X: Any) -> Any:
    """Returns X if it is a table to which columns can be added, else None."""
    ways = ("assign", "with_columns", "append_column", "colnames")
    library = library_of(X)
    is_table = (
        isinstance(X, np.ndarray) if library == "numpy"
        else library is not None and any(hasattr(X, way) for way in ways)
    )
    return X if is_table else None


def columns_in(table: Any) -> list[Any]:
    """Returns the names of the columns of a table."""
    library = library_of(table)
    if library == "numpy":
        return list(table.dtype.names)
    if library == "xarray":
        return list(table.variables)
    return list(
        table.schema.names if library == "pyarrow" else table.colnames if library == "astropy" else table.columns
    )


def labelled(X: Any, columns: Columns) -> Any:
    """Returns a copy of a table, or a table of an array [n, d] with columns x0, x1, …, followed by the new columns.

    Raises ValueError if a name exists already, or if the number of rows of the table has changed.
    """
    library = library_of(X)
    if library is None:
        names = [f"x{k}" for k in range(X.shape[1])]
        _check(names, len(X), columns)
        return as_frame({**dict(zip(names, X.T)), **columns})
    if library == "xarray":
        dim = next(iter(X.data_vars.values())).dims[0]
        _check([*columns_in(X), *X.dims], X.sizes[dim], columns)
        return X.copy(deep=True).assign({name: (dim, values) for name, values in columns.items()})
    names = columns_in(X)
    if library in ("pandas", "geopandas"):
        names = list(X.columns.get_level_values(0))  # a new column gets its name in the first level
    _check(names, len(X), columns)
    if library == "numpy":
        made = np.empty(
            len(X),
            [*((name, X.dtype[name]) for name in names), *((name, values.dtype) for name, values in columns.items())],
        )
        for name in made.dtype.names or ():
            made[name] = columns[name] if name in columns else X[name]
        return made
    if library == "polars":
        return X.with_columns(*(sys.modules["polars"].Series(name, values) for name, values in columns.items()))
    if library == "pyarrow":
        for name, values in columns.items():
            X = X.append_column(name, sys.modules["pyarrow"].array(values))
        return X
    X = X.copy()
    levels = getattr(X.columns, "nlevels", 1)  # of names in pandas
    for name, values in columns.items():
        X[name if levels == 1 else (name, *[""] * (levels - 1))] = values
    return X


def _check(names: Sequence[Any], n: int, columns: Columns) -> None:
    for (name, values), way in zip(columns.items(), ("label_name", "core_name")):
        if name in names:
            raise ValueError(f"X has {name!r} already: give the column another name, labelled(…, {way}='…')")
        if len(values) != n:
            raise ValueError(f"X had {len(values)} rows when it was clustered, and has {n} now: sweep it again")
