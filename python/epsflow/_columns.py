"""Columns of tables are joined into one array, or refused by their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_EXACT = 2**53


@dataclass
class Columns:
    """A table that is read column by column, so that columns that are not coordinates are never read."""

    names: list[Any]
    read: Callable[[int], Any]
    """Returns the numbers of the column at an index of `names`, with NaN for missing ones, or a text that describes the
    values of a column without numbers."""
    rows: int
    """The number of rows."""
    remedy: str
    """The end of an error: words with code that selects columns with the table's library."""


def in_one(columns: Sequence[Any], n: int) -> NDArray[Any]:
    """Returns columns as an array [n, d]: float32 if every column is float32, else float64."""
    arrays = [np.asarray(column) for column in columns]
    wanted = np.float32 if arrays and all(a.dtype == np.float32 for a in arrays) else np.float64
    points = np.empty((n, len(arrays)), dtype=wanted)
    for i, array in enumerate(arrays):
        points[:, i] = array
    return points


def order_of(names: Sequence[Any] | None, wanted: Sequence[Any] | None) -> list[int] | None:
    """Returns the position in names of each wanted name; None if one is None, names repeat, or the sets differ."""
    if names is None or wanted is None or len(set(names)) < len(names) or set(names) != set(wanted):
        return None
    return [list(names).index(column) for column in wanted]


def are_texts(names: Sequence[Any]) -> bool:
    return all(isinstance(column, str) for column in names)


def refuse_columns(name: str, refused: Sequence[tuple[str, str]], remedy: str) -> None:
    """Raises ValueError if there are refused columns. refused: their names and descriptions of their values."""
    if not refused:
        return
    listed = ", ".join(f"'{column}' ({holds})" for column, holds in refused[:4])
    more = f" and {len(refused) - 4} more" if len(refused) > 4 else ""
    kind = "columns that are no numbers" if len(refused) > 1 else "a column that is no number"
    raise ValueError(f"{name} has {kind}, {listed}{more}: leave out what is no coordinate, {remedy}")


def has_masked(values: Any) -> bool:
    """Returns whether an array of NumPy or astropy has masked values. Masks of other libraries are ignored."""
    mask = getattr(values, "mask", None)
    return isinstance(mask, (np.ndarray, np.bool_)) and bool(np.any(mask))


def is_time(value: Any) -> bool:
    """Returns whether value is a time or duration of NumPy. NumPy converts it to a number that depends on its unit."""
    return isinstance(value, (np.datetime64, np.timedelta64))


def is_complex(value: Any) -> bool:
    return isinstance(value, (complex, np.complexfloating))


def refuse_inexact(values: Any, column: Any) -> Any:
    """Returns values, an array or column, unchanged. Raises ValueError if they are integers or of type decimal.Decimal,
    and one is above 2**53 or below -2**53, because float64 cannot distinguish all of these. NumPy arrays of objects are
    not checked. column: the name of the column in errors."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and (dtype.kind not in "iu" or dtype.itemsize < 8):
        return values
    for value in (values.min(), values.max()) if len(values) else ():
        refuse_beyond(value, column)
    return values


def refuse_beyond(value: Any, column: Any) -> None:
    """Raises ValueError for whole numbers (also as text) and decimals beyond 2**53. Other values are ignored."""
    if isinstance(value, (str, bytes)):
        try:
            value = int(value)
        except ValueError:
            return
    exact = isinstance(value, (int, np.integer)) or isinstance(value, Decimal) and value.is_finite()
    if exact and not -_MOST_EXACT <= int(value) <= _MOST_EXACT:
        raise ValueError(
            f"column {column!r} has {value}, and beyond 2**53 different whole numbers become one in float64: "
            "subtract an offset first"
        )
