"""Grids of eps and min_samples as heat maps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._docs import documented
from .._explore import Exploration
from .._labelled import columns_in
from .._lineage import Lineage
from .._parameters import require_one_of
from .._sweep import SweepResult
from ._style import INK, SEQUENCE, say_empty, shown, styled_axes, unit_of_eps, with_unit

_COLUMNS = {"clusters": "n_clusters", "noise": "n_noise", "core": "n_core", "border": "n_border", "largest": "largest"}
WORDS = {
    "clusters": "clusters",
    "noise": "noise (% of the points)",
    "core": "core points (% of the points)",
    "border": "border points (% of the points)",
    "largest": "largest cluster (% of the points)",
    "stability": "stability (score of explore)",
}
_MOST_WRITTEN = 120  # the most cells in which values are written
_MOST_TICKS = 10

Marks = list[tuple[float, int]]
"""(eps, min_samples) of the recommended cell and its alternatives."""


class Grid(NamedTuple):
    across: NDArray[Any]
    """Ascending numbers of the columns: eps of a heat map."""
    up: NDArray[Any]
    """Ascending numbers of the rows: min_samples of a heat map."""
    values: NDArray[np.float64]
    """[up, across]; NaN if a cell has no value, such as a variant that was not run."""


@documented
def heatmap(source: Any, quantity: str = "clusters", *, ax: Any = None) -> Any:
    """Draw a grid of eps and min_samples in which the colour of a cell is a property of its labels.

    An axis is logarithmic if the ratios of successive values vary less than their differences, or if it has only two
    values, the larger at least 4 times the smaller. Cells without a value stay white, such as variants that were not
    run. If the source is an Exploration, or was loaded from a folder that `epsflow explore` wrote, a star marks the
    recommended cell, if there is one, and circles mark its alternatives. Without such marks, the cells of a grid of at
    most 120 cells contain their values.

    Parameters
    ----------
    source : SweepResult, Exploration or Lineage
        `epsflow.load` loads a results folder.
    quantity : {"clusters", "noise", "core", "border", "largest", "stability"}
        "clusters" is the number of clusters. "noise", "core", "border" and "largest" (the largest cluster) are numbers
        of points, in percent of all points. "stability" is the score of a cell (`Offer.score`): how clearly its
        clusters persist longer along eps than chance explains. Only an Exploration has it.
    {ax}

    {axes}

    Raises
    ------
    ValueError, TypeError
        If the quantity is unknown, if the source does not have it, or if the source has another type.
    {matplotlib}

    Examples
    --------
    >>> epsflow.plot.heatmap(epsflow.explore(X), "noise")
    """
    require_one_of(quantity, "quantity", tuple(WORDS))
    grid, marks = _grid_of(source, quantity), _marks_of(source)
    with styled_axes(ax) as ax:
        if grid.values.size == 0:
            return say_empty(ax, "no grid: there are no variants")
        unit = unit_of_eps(source.map if isinstance(source, Exploration) else source)
        written = (
            None if marks else "{:,.0f}" if quantity == "clusters" else "{:.2f}" if quantity == "stability"
            else "{:.3g}"
        )
        draw_grid(ax, grid, WORDS[quantity], written, with_unit("eps", unit), "min_samples")
        if marks:
            _mark(ax, grid, marks, recommended=not isinstance(source, Exploration) or source.one_eps is not None)
    return ax


def _grid_of(source: Any, quantity: str) -> Grid:
    if isinstance(source, Exploration):
        if quantity == "stability":
            return Grid(source.eps, source.min_samples, source.scores.T)
        source = source.map
    if quantity == "stability":
        raise ValueError(
            f"quantity='stability' is scored by epsflow.explore(X), and a {type(source).__name__} has none: "
            "draw what that returns"
        )
    if isinstance(source, SweepResult):
        # A folder of an exploration has labels of its offers, and counts of the whole grid.
        source = source.lineage if _is_explored(source) else source
    elif not isinstance(source, Lineage):
        raise TypeError(
            f"source is of type {type(source).__name__}; it is what epsflow.sweep, epsflow.lineage or epsflow.explore "
            "returns, or a folder opened by epsflow.load"
        )
    table = source.summary
    names = columns_in(table)
    if _COLUMNS[quantity] not in names:
        raise ValueError(
            f"quantity={quantity!r}: the lineage was made with keep='core', and counts core points alone: "
            "make it with keep='summary'"
        )
    eps, at = np.unique(np.asarray(table["eps"], np.float64), return_inverse=True)
    min_samples, row = np.unique(np.asarray(table["min_samples"], np.int64), return_inverse=True)
    values = np.full((len(min_samples), len(eps)), np.nan)
    values[row, at] = _values(table, quantity, names)
    return Grid(eps, min_samples, values)


def _values(table: Any, quantity: str, names: Any) -> NDArray[np.float64]:
    counts = np.asarray(table[_COLUMNS[quantity]], np.float64)
    if quantity == "clusters":
        return counts
    if "n_noise" not in names:
        raise ValueError(
            "a lineage of keep='core' does not know how many points there are, of which core points are a part: "
            "keep='summary'"
        )
    n = sum(np.asarray(table[name], np.float64) for name in ("n_noise", "n_core", "n_border"))
    return np.divide(100 * counts, n, out=np.zeros_like(counts), where=np.asarray(n) > 0)


def _is_explored(result: SweepResult) -> bool:
    return result.lineage is not None and len(result.lineage) > len(result)


def _marks_of(source: Any) -> Marks:
    if isinstance(source, Exploration):
        offers = ([] if source.one_eps is None else [source.one_eps]) + source.alternatives
        return [(offer.eps, offer.min_samples) for offer in offers if offer.eps is not None]
    if isinstance(source, SweepResult) and _is_explored(source):
        return list(source._origin.offers)
    return []


def draw_grid(ax: Any, grid: Grid, label: str, written: str | None, xlabel: str, ylabel: str) -> None:
    """Draws cells with a colour bar. label: of the values. written: the format of values in small grids, or None."""
    from matplotlib import colors

    values, most = grid.values, float(np.nanmax(grid.values, initial=0))
    norm: Any = colors.Normalize(0, max(most, 1e-9))
    if label == WORDS["clusters"] and most > 100:
        norm = colors.SymLogNorm(1, linscale=0.4, vmin=0, vmax=most, base=10)
    across, up = _edges(grid.across), _edges(grid.up)
    if values.size > _MOST_WRITTEN:
        written = None
    mesh = ax.pcolormesh(
        across, up, np.ma.masked_invalid(values), cmap=SEQUENCE, norm=norm, edgecolors="white" if written else "none"
    )
    bar = ax.figure.colorbar(mesh, ax=ax, label=label)
    bar.outline.set_visible(False)
    if isinstance(norm, colors.SymLogNorm):
        powers = [10**power for power in range(int(np.log10(most)) + 1)]
        bar.set_ticks([0, *powers], labels=[f"{tick:,}" for tick in [0, *powers]])
    if written:
        for row, column in np.argwhere(np.isfinite(values)):
            value = values[row, column]
            ink = "white" if norm(value) < 0.55 else "black"
            x, y = _middle(across, grid.across)[column], _middle(up, grid.up)[row]
            ax.text(x, y, written.format(value), ha="center", va="center", color=ink, fontsize=7.5, clip_on=True)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    for axis, set_scale, numbers in ((ax.xaxis, ax.set_xscale, grid.across), (ax.yaxis, ax.set_yscale, grid.up)):
        if is_log(numbers):
            set_scale("log")
        # Labels side by side take more room, so there are fewer of them.
        most = _MOST_TICKS if axis is ax.yaxis or len(numbers) <= _MOST_TICKS else _MOST_TICKS - 3
        ticks = numbers[:: -(-len(numbers) // most)]
        axis.set_ticks(ticks, labels=[shown(tick) for tick in ticks])
        axis.set_ticks([], minor=True)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _mark(ax: Any, grid: Grid, marks: Marks, recommended: bool) -> None:
    from matplotlib import patheffects

    halo = [patheffects.withStroke(linewidth=3.5, foreground=INK)]
    for i, (eps, min_samples) in enumerate(marks):
        best = recommended and i == 0
        ax.plot(
            eps, min_samples, "*" if best else "o", markersize=14 if best else 8,
            markerfacecolor="white" if best else "none", markeredgecolor="white",
            markeredgewidth=1.5, linestyle="none", path_effects=halo, zorder=3, clip_on=False,
            label=f"{'recommended' if best else 'alternative'}: eps {eps:.3g}, min_samples {min_samples}",
        )  # fmt: skip
    ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), handletextpad=0.4, borderaxespad=0.2)


def is_log(values: NDArray[Any]) -> bool:
    """Returns whether the ratios of ascending values vary less than their differences. For two values, returns whether
    their ratio is at least 4."""
    if len(values) < 3 or values[0] <= 0:
        return len(values) == 2 and bool(values[0] > 0 and values[1] >= 4 * values[0])
    steps, ratios = np.diff(values), np.diff(np.log(values))
    return bool(ratios.std() / ratios.mean() < 0.98 * steps.std() / steps.mean())


def _middle(edges: NDArray[np.float64], values: NDArray[Any]) -> NDArray[np.float64]:
    """Returns the middles of cells on the axis."""
    return np.asarray(np.sqrt(edges[1:]) * np.sqrt(edges[:-1]) if is_log(values) else (edges[1:] + edges[:-1]) / 2)


def _edges(values: NDArray[Any]) -> NDArray[np.float64]:
    """Returns the edges [n + 1] of cells around ascending values [n].

    An inner edge is midway between two values. An outer edge is as far from its value as the next inner edge is. If
    is_log(values), distances are measured between logarithms. A single value v has the edges v - w/2 and v + w/2, with
    w = |v|, or 1 if v is 0.
    """
    log = is_log(values)
    at = np.log(values) if log else values.astype(np.float64)
    if len(at) == 1:
        edges = at + np.array([-0.5, 0.5]) * (abs(at[0]) or 1.0)
    else:
        middles = (at[1:] + at[:-1]) / 2
        edges = np.concatenate([[2 * at[0] - middles[0]], middles, [2 * at[-1] - middles[-1]]])
    return np.exp(edges) if log else edges
