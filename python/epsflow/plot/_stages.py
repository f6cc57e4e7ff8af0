"""The stages of a sweep over time, from its trace."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._docs import documented
from .._parameters import as_folder
from ._style import PALETTE, say_empty, styled_axes


class _Spans(NamedTuple):
    name: str
    thread: NDArray[np.int64]
    begin: NDArray[np.float64]
    """Times are in seconds."""
    length: NDArray[np.float64]


@documented
def stages(trace: Any, *, ax: Any = None) -> Any:
    """Draw the stages of a sweep over time: one row per stage, with a strip of bars for each thread.

    The label of a row includes the time of its stage, summed over threads. Stages that run in parallel overlap in time.
    No stage ran at times without a bar in any row.

    Parameters
    ----------
    trace : str, path or dict
        The trace.json that `epsflow sweep` writes, a results folder that has it, or its content from json.load.
    {ax}

    {axes}

    Raises
    ------
    FileNotFoundError
        If the file does not exist, or the folder has no trace.json.
    ValueError, TypeError
        If `trace` is not a trace of epsflow.
    {matplotlib}
    """
    found = _spans_of(trace)
    with styled_axes(ax, 7.2, 0.9 + 0.42 * max(len(found), 3)) as ax:
        if not found:
            return say_empty(ax, "no stages: the trace is empty")
        for row, spans in enumerate(found):
            threads = np.unique(spans.thread)
            height = 0.8 / len(threads)
            for i, thread in enumerate(threads):
                chosen = spans.thread == thread
                bars = np.column_stack([spans.begin[chosen], spans.length[chosen]])
                # The edge makes short bars visible.
                ax.broken_barh(
                    bars, (row - 0.4 + i * height, 0.9 * height), color=PALETTE[row % len(PALETTE)], linewidth=0.8
                )
        ax.set_yticks(
            range(len(found)), labels=[f"{spans.name}  {_shown(float(spans.length.sum()))}" for spans in found]
        )
        end = max(float((spans.begin + spans.length).max()) for spans in found)
        ax.set(ylim=(len(found) - 0.4, -0.6), xlim=(0, end or 1.0), xlabel="time (s)")
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color="#DDDDDD", linewidth=0.6)
        ax.set_axisbelow(True)
    return ax


def _shown(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def _spans_of(trace: Any) -> list[_Spans]:
    """Returns the spans of each stage, in the order in which stages begin."""
    where = "trace"
    if not isinstance(trace, dict):
        path = Path(as_folder(trace, "trace"))
        if path.is_dir():
            path = path / "trace.json"
            if not path.is_file():
                raise FileNotFoundError(
                    f"{path.parent} has no trace.json: `epsflow sweep … --out` writes it, and save() does not"
                )
        where = os.fspath(path)
        try:
            trace = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{where} is no trace of epsflow, or is damaged: {error}") from None
    try:
        events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        if any(type(event["tid"]) is not int for event in events):
            raise TypeError("a tid is no whole number")
        rows = [(str(event["name"]), event["tid"], float(event["ts"]), float(event["dur"])) for event in events]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{where} is no trace of epsflow, or is damaged: {type(error).__name__}: {error}") from None
    rows.sort(key=lambda row: row[2])
    found = []
    for name in dict.fromkeys(row[0] for row in rows):
        _, thread, begin, length = zip(*(row for row in rows if row[0] == name))
        found.append(_Spans(name, np.array(thread), np.array(begin) / 1e6, np.array(length) / 1e6))
    return found
