"""The common style of all pictures. matplotlib is imported when the first one is drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

PALETTE = ("#332288", "#DDCC77", "#117733", "#CC6677", "#88CCEE", "#882255", "#44AA99", "#999933", "#AA4499")
"""The scheme "muted" of Paul Tol's technical note on colour schemes (SRON/EPS/TN/09-002), for any colour vision."""
NOISE_COLOR = "#999999"
INK = "#333333"
MARK = "#CC3311"
SEQUENCE = "cividis"  # blue to yellow, for any colour vision

_STYLE: dict[str, Any] = {
    "axes.edgecolor": "#888888",
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.0,
    "axes.labelsize": 9.0,
    "figure.dpi": 110.0,
    "figure.facecolor": "white",
    "font.size": 9.0,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "text.color": INK,
    "xtick.color": "#888888",
    "xtick.labelcolor": INK,
    "xtick.labelsize": 8.5,
    "ytick.color": "#888888",
    "ytick.labelcolor": INK,
    "ytick.labelsize": 8.5,
}


def require_matplotlib() -> Any:
    """Returns matplotlib. Raises ImportError with the command that installs it."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError(
            'pictures take matplotlib, which is not there: pip install "epsflow[plot]"', name="matplotlib"
        ) from error
    return matplotlib


@contextmanager
def style() -> Iterator[None]:
    # rc_context would reset all parameters, also the ones that a backend sets when it is loaded meanwhile. Then
    # notebooks would show no further figure.
    parameters = require_matplotlib().rcParams
    before = {name: parameters[name] for name in _STYLE}
    parameters.update(_STYLE)
    try:
        yield
    finally:
        parameters.update(before)


def new_figure(width: float = 6.4, height: float = 4.2) -> Any:
    """Returns a new figure of pyplot, so that notebooks show it. width, height: in inches."""
    require_matplotlib()
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), layout="constrained")


def axes_of(ax: Any, width: float = 6.4, height: float = 4.2) -> Any:
    """Returns ax, or the axes of a new figure if ax is None. width, height: the size of a new figure, in inches. Raises
    TypeError if ax is neither axes nor None."""
    if ax is None:
        return new_figure(width, height).add_subplot()
    if not hasattr(ax, "transData"):
        more = (
            ": take one of them, as axes[0]" if isinstance(ax, np.ndarray)
            else ", as those of matplotlib.pyplot.subplots()"
        )
        raise TypeError(f"ax is of type {type(ax).__name__}; it is the axes of a figure{more}")
    return ax


@contextmanager
def styled_axes(ax: Any, width: float = 6.4, height: float = 4.2) -> Iterator[Any]:
    """Holds the common style while something is drawn into the axes that axes_of() returns."""
    with style():
        yield axes_of(ax, width, height)


def figure_of(figure: Any, width: float, height: float) -> Any:
    """Returns the given figure, or a new one. Raises TypeError if it is not a figure."""
    if figure is None:
        return new_figure(width, height)
    if not hasattr(figure, "add_subplot"):
        raise TypeError(
            f"figure is of type {type(figure).__name__}; it is a figure of matplotlib, as "
            "matplotlib.pyplot.figure() makes one"
        )
    return figure


def say_empty(ax: Any, text: str) -> Any:
    """Writes a text in place of an empty picture, and returns the axes."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color=INK)
    ax.set(xticks=[], yticks=[])
    return ax


def with_unit(name: str, unit: Any) -> str:
    return f"{name} ({unit})" if unit is not None and str(unit) else name


def unit_of_eps(source: Any) -> str | None:
    """Returns the unit of eps of a result, as a text such as "km"; None if eps is a number without a unit."""
    unit = getattr(source, "_unit", None)
    if unit is not None:
        return str(unit)
    said = re.search(r"eps in (\S+?)(,|$)", str(getattr(source, "metric", "")))
    return said.group(1) if said else None


def log_ticks(axis: Any) -> None:
    """Sets ticks of a logarithmic axis, without minor ones. Labels are decimals down to 0.0001: 0.02, not 2 × 10⁻²."""
    from matplotlib import ticker

    low, high = sorted(axis.get_view_interval())
    axis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0) if high < 150 * low else (1.0,)))
    axis.set_major_formatter(
        ticker.FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1000 else f"{value:.3g}")
    )
    axis.set_minor_locator(ticker.NullLocator())


def shown(number: float) -> str:
    """Formats a count in full, and other numbers with three significant digits."""
    return f"{number:,}" if isinstance(number, (int, np.integer)) else f"{number:.3g}"
