"""Reports: results as a page for a browser. report/ writes it, for the program and for this package."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._catalog import names_of
from ._parameters import as_flag, as_folder
from ._results import Folder
from ._tasks import ProgressOption, run_task


@dataclass
class Reported:
    """The content of a page."""

    points: Any
    metric: Any
    under: str
    """The metric in words."""
    command: str
    hints: tuple[str, str]
    """Code that computes a recommendation, and code that computes the whole catalogue of a cell."""
    table: Any = None
    """The table that the points were given as, or None."""
    cells: list[Any] = field(default_factory=list)
    """Each as epsflow._core.Result, without labels if the sweep kept none."""
    lineage: Any = None
    """epsflow._core.Lineage, or None."""
    data: Any = None
    """The loaded points, if labels of every cell of the lineage are to be computed."""
    weights: NDArray[np.float64] | None = None
    scores: list[tuple[float, int, float]] = field(default_factory=list)
    """eps, min_samples and score of cells."""
    advice: str = ""
    recommended: NDArray[np.int32] | None = None
    """The labels of the recommendation, if its clusters have an eps each."""


def catalog_hint(metric: str, how: str) -> str:
    """Returns code for the catalogue of a cell; the page fills in eps and minpts. metric, how: code of further
    arguments of catalog() and of sweep(), each with a comma before it, or empty."""
    return f"epsflow.catalog(X, epsflow.sweep(X, eps={{eps}}, min_samples={{minpts}}{how})[0]{metric})"


def write_report(file: Folder, of: Reported, overwrite: bool, progress: ProgressOption = None) -> None:
    """Writes the page. Raises FileExistsError if the file exists and overwrite is False, ValueError if its name does
    not end in .html or .htm or if points are not in an array on the host, TypeError, OSError."""
    from importlib.metadata import version

    path = Path(as_folder(file, "file"))
    replace = as_flag(overwrite, "overwrite")
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(
            f"file is {str(path)!r}, and a report is a page for a browser: give it a name that ends in .html"
        )
    if path.exists() and not replace:
        raise FileExistsError(f"{path} is there already: give another name, or overwrite=True")
    if not isinstance(of.points, np.ndarray):
        raise ValueError("there are no points on the host to show: a report needs the array that was clustered")
    n, d = of.points.shape
    provenance = [
        ("Input", f"an array of {n} × {d} {of.points.dtype} in Python"),
        ("Checksum", _core.checksum_of(of.points)),
        ("Metric", of.under or "euclidean"),
        ("Program", f"epsflow {version('epsflow')}, Python {platform.python_version()}"),
        ("Machine", f"{platform.machine()}, {platform.system()}"),
        ("Made", datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")),
    ]
    names = [] if of.table is None else names_of(of.table, of.points)
    subject = _core.Subject(f"{n:,} points", provenance, of.command, of.hints, names)
    cells = [(cell, np.ascontiguousarray(cell.labels, np.int32)) for cell in of.cells]
    recommended = np.empty(0, np.int32) if of.recommended is None else of.recommended
    points = _core.Points(of.points, of.metric, weights=of.weights)
    grid = of.lineage, of.data, of.scores, of.advice, recommended
    run_task(_core.start_report, str(path), replace, points, subject, cells, grid, progress=progress)
