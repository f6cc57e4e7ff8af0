"""Columns of tables: into one array, or refused by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def in_one(columns: Sequence[Any], n: int) -> NDArray[Any]:
    """[n, d], float32 where every column is."""
    arrays = [np.asarray(column) for column in columns]
    wanted = np.float32 if arrays and all(a.dtype == np.float32 for a in arrays) else np.float64
    points = np.empty((n, len(arrays)), dtype=wanted)
    for i, array in enumerate(arrays):
        points[:, i] = array
    return points


def refuse_columns(name: str, refused: Sequence[tuple[str, str]], remedy: str) -> None:
    """refused: columns that are no numbers, with what they hold."""
    if not refused:
        return
    listed = ", ".join(f"'{column}' ({holds})" for column, holds in refused[:4])
    more = f" and {len(refused) - 4} more" if len(refused) > 4 else ""
    plural = "columns that are" if len(refused) > 1 else "a column that is"
    no_number = "no numbers" if len(refused) > 1 else "no number"
    raise ValueError(f"{name} has {plural} {no_number}, {listed}{more}: leave out what is no coordinate, {remedy}")
