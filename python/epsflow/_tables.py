"""Tables that results are given as."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_frame(columns: dict[str, Any]) -> Any:
    """Columns of one length as a pandas.DataFrame where pandas is there, else as a structured array."""
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    table = np.empty(len(next(iter(arrays.values()))), dtype=[(name, values.dtype) for name, values in arrays.items()])
    for name, values in arrays.items():
        table[name] = values
    try:
        import pandas
    except ImportError:
        return table
    return pandas.DataFrame(table)
