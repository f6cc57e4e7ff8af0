"""Columns of tables: into one array, or refused by their names."""

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
    """A table, column by column, so that those which are no coordinates are never looked at."""

    names: list[Any]
    read: Callable[[int], Any]
    """The numbers of a column, missing ones NaN; or, as a text, what it holds instead."""
    rows: int
    remedy: str
    """How to leave out columns, in the words of the table's library."""


def in_one(columns: Sequence[Any], n: int) -> NDArray[Any]:
    """[n, d], float32 where every column is."""
    arrays = [np.asarray(column) for column in columns]
    wanted = np.float32 if arrays and all(a.dtype == np.float32 for a in arrays) else np.float64
    points = np.empty((n, len(arrays)), dtype=wanted)
    for i, array in enumerate(arrays):
        points[:, i] = array
    return points


def order_of(names: Sequence[Any] | None, wanted: Sequence[Any] | None) -> list[int] | None:
    """Where each of the wanted names is among names; None unless these are the same names, each once."""
    if names is None or wanted is None or len(set(names)) < len(names) or set(names) != set(wanted):
        return None
    return [list(names).index(column) for column in wanted]


def are_texts(names: Sequence[Any]) -> bool:
    return all(isinstance(column, str) for column in names)


def refuse_columns(name: str, refused: Sequence[tuple[str, str]], remedy: str) -> None:
    """refused: columns that are no numbers, with what they hold."""
    if not refused:
        return
    listed = ", ".join(f"'{column}' ({holds})" for column, holds in refused[:4])
    more = f" and {len(refused) - 4} more" if len(refused) > 4 else ""
    plural = "columns that are" if len(refused) > 1 else "a column that is"
    no_number = "no numbers" if len(refused) > 1 else "no number"
    raise ValueError(f"{name} has {plural} {no_number}, {listed}{more}: leave out what is no coordinate, {remedy}")


def has_masked(values: Any) -> bool:
    """Of arrays of NumPy and of astropy; other things have other masks."""
    mask = getattr(values, "mask", None)
    return isinstance(mask, (np.ndarray, np.bool_)) and bool(np.any(mask))


def is_time(value: Any) -> bool:
    """One that NumPy makes a number of, in whichever unit it has."""
    return isinstance(value, (np.datetime64, np.timedelta64))


def is_complex(value: Any) -> bool:
    return isinstance(value, (complex, np.complexfloating))


def refuse_inexact(values: Any, column: Any) -> Any:
    """values, whole numbers or others. Raises ValueError for those that two of them may become one float64 of."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and (dtype.kind not in "iu" or dtype.itemsize < 8):
        return values
    for value in (values.min(), values.max()) if len(values) else ():
        refuse_beyond(value, column)
    return values


def refuse_beyond(value: Any, column: Any) -> None:
    """Of whole numbers, also as text, and decimals; others, and None, are none."""
    if isinstance(value, (str, bytes)):
        try:
            value = int(value)
        except ValueError:
            return
    exact = isinstance(value, (int, np.integer)) or isinstance(value, Decimal) and value.is_finite()
    if exact and not -_MOST_EXACT <= int(value) <= _MOST_EXACT:
        raise ValueError(
            f"column {column!r} has {value}, and beyond 2**53 different whole numbers become one in float64: subtract an offset first"
        )
