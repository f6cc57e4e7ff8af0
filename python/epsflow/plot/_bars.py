"""The persistence of clusters along eps, as bars and as a tree."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from .._docs import documented
from .._explore import Exploration
from .._labelled import columns_in
from .._lineage import Lineage
from .._parameters import as_count
from .._sweep import SweepResult
from ._style import INK, MARK, SEQUENCE, log_ticks, say_empty, styled_axes, unit_of_eps, with_unit


class _Bars(NamedTuple):
    eps: NDArray[np.float64]
    """The eps of the path, ascending."""
    table: dict[str, NDArray[Any]]
    """The columns of Lineage.bars()."""
    size: NDArray[np.int64]
    unit: Optional[str]
    chosen: Optional[float]
    """The eps of the best cell of an exploration, if it is on this path."""
    min_samples: int

    def ends(self) -> NDArray[np.float64]:
        """Returns [bars] the eps at which each bar ends: the eps at which its cluster dies. The bar of a cluster that
        persists ends one step beyond the last eps: at the last eps times the ratio of the last two, or times 1.2 if the
        path has only one eps."""
        beyond = self.eps[-1] * (self.eps[-1] / self.eps[-2] if len(self.eps) > 1 else 1.2)
        return np.asarray(np.append(self.eps, beyond)[self.table["death_place"]])


@documented
def lifetimes(source: Any, *, min_samples: Optional[int] = None, most: int = 40, ax: Any = None) -> Any:
    """Draw the persistence of clusters at one min_samples: a bar per cluster, from its birth to its death along eps.

    Long bars are clusters that do not depend on the choice of eps. If clusters merge, the oldest goes on (elder rule),
    as in `Lineage.bars`. A bar with an arrow persists to the largest eps.

    Parameters
    ----------
    source : Lineage, Exploration, or SweepResult with a lineage
    min_samples : int, optional
        It may be left out if there is only one, or if source is an exploration with a recommendation.
    most : int
        The maximum number of bars: those with the largest number of points times log(death / birth). Core points count
        if the lineage has no others (keep="core").
    {ax}

    {axes}

    Raises
    ------
    ValueError, TypeError, KeyError
        If source has another type or no lineage, if the lineage does not have this min_samples, or if min_samples is
        left out although there are several.
    {matplotlib}
    """
    bars = _bars_of(source, min_samples)
    kept = _weightiest(bars, as_count(most, "most"))
    with styled_axes(ax, 6.8, 4.8) as ax:
        if not len(kept):
            return say_empty(ax, f"no clusters at min_samples {bars.min_samples}")
        birth, ends = bars.table["birth"], bars.ends()
        # From bottom to top: by birth, then the longest first.
        kept = kept[np.lexsort((-bars.size[kept], -ends[kept], birth[kept]))]
        ax.set_xscale("log")
        colors = _colors_by_size(ax, bars, kept)
        heights = np.arange(len(kept))
        ax.barh(heights, ends[kept] - birth[kept], left=birth[kept], color=colors, height=0.8)
        forever = np.flatnonzero(np.isinf(bars.table["death"][kept]))
        ax.plot(ends[kept][forever], forever, ">", color=INK, markersize=4, clip_on=False)
        ax.set(ylabel="clusters", yticks=[], ylim=(-0.7, len(kept) - 0.3))
        _set_eps(ax.set_xlabel, ax.xaxis, ax.axvline, bars)
        ax.set_title(_title(len(kept), bars))
    return ax


def merges(source: Any, *, min_samples: Optional[int] = None, most: int = 40, ax: Any = None) -> Any:
    """Draw how clusters merge as eps grows, at one min_samples, as a tree.

    A vertical line is a cluster from its birth to its death. A horizontal line leads to the older cluster into which it
    merges. The width of a line grows with the size of the cluster at its end. The numbers of points are below.

    Parameters, errors and the return value are as for `lifetimes`. Clusters into which the bars merge are drawn, too.
    """
    bars = _bars_of(source, min_samples)
    lineage = _lineage_of(source)
    kept = _weightiest(bars, as_count(most, "most"))
    with styled_axes(ax, 7.2, 4.8) as ax:
        if not len(kept):
            return say_empty(ax, f"no clusters at min_samples {bars.min_samples}")
        parents = parents_of(lineage, bars.min_samples, bars.table)
        shown = _with_parents(kept, parents)
        at = {bar: position for position, bar in enumerate(_order(shown, parents, bars.table["death_place"]))}
        ax.set_yscale("log")
        _draw_tree(ax, bars, shown, parents, at)
        words = "points" if "size" in bars.table else "core points"
        ax.set(
            xlabel=f"clusters, with their {words} at their ends", xlim=(-0.8, len(shown) - 0.2),
            xticks=list(at.values()),
        )
        ax.set_xticklabels([f"{bars.size[bar]:,}" for bar in at], rotation=90, fontsize=7)
        ax.tick_params(axis="x", length=0)
        ax.spines["bottom"].set_visible(False)
        _set_eps(ax.set_ylabel, ax.yaxis, ax.axhline, bars)
        ax.set_title(_title(len(shown), bars))
    return ax


# ---------------------------------------------------------------- bars


def _lineage_of(source: Any) -> Lineage:
    if isinstance(source, Lineage):
        return source
    if isinstance(source, Exploration):
        return source.map
    if isinstance(source, SweepResult):
        if source.lineage is None:
            raise ValueError(
                "the sweep has no lineage: run it with lineage=True, `epsflow sweep --lineage`, "
                "or draw epsflow.lineage(X, …)"
            )
        return source.lineage
    raise TypeError(
        f"source is of type {type(source).__name__}; it is what epsflow.lineage or epsflow.explore returns, "
        "or a sweep with lineage=True"
    )


def _bars_of(source: Any, min_samples: Optional[int]) -> _Bars:
    lineage = _lineage_of(source)
    recommended = source.one_eps if isinstance(source, Exploration) else None
    if min_samples is None:
        there = sorted({m for _, m in lineage.variants})
        if recommended is not None:
            min_samples = recommended.min_samples
        elif len(there) == 1:
            min_samples = there[0]
        else:
            raise ValueError(
                f"min_samples is left out, and the lineage has {', '.join(map(str, there)) or 'no variants'}: "
                "give one of them"
            )
    table = lineage.bars(min_samples=min_samples)
    columns = {str(name): np.asarray(table[name]) for name in columns_in(table)}
    eps = np.array(sorted(e for e, m in lineage.variants if m == min_samples))
    chosen = recommended.eps if recommended is not None and recommended.min_samples == min_samples else None
    unit = unit_of_eps(lineage) or unit_of_eps(source)
    return _Bars(eps, columns, columns.get("size", columns["n_core"]), unit, chosen, int(min_samples))


def _weightiest(bars: _Bars, most: int) -> NDArray[np.intp]:
    weight = bars.size * np.log(bars.ends() / bars.table["birth"])
    return np.argsort(-weight, kind="stable")[:most]


def parents_of(lineage: Lineage, min_samples: int, table: dict[str, NDArray[Any]]) -> NDArray[np.int64]:
    """Returns [bars] the row in `table` of the bar into which each bar merges, or -1 if the bar persists to the end.
    table: all rows of lineage.bars() for this min_samples, by column."""
    every = lineage.clusters
    of_path = np.asarray(every["min_samples"]) == min_samples
    eps, cluster, first_core, wider = (
        np.asarray(every[name])[of_path] for name in ("eps", "cluster", "first_core", "parent_eps")
    )
    path = np.array(sorted({e for e, m in lineage.variants if m == min_samples}))
    rows = [np.flatnonzero(eps == value) for value in path]
    rows = [found[np.argsort(cluster[found])] for found in rows]
    births = {
        (int(position), int(core)): bar
        for bar, (position, core) in enumerate(zip(table["birth_place"], table["first_core"]))
    }
    parents = np.full(len(table["birth_place"]), -1, np.int64)
    living: list[int] = []  # the bar of each cluster of a variant
    for position, here in enumerate(rows):
        owner = np.full(len(here), -1, np.int64)
        ended: list[tuple[int, int]] = []  # bars that end here, and the cluster into which they merge
        for bar, holder in zip(living, wider[rows[position - 1]].tolist()):  # none at the first position
            if table["death_place"][bar] > position:
                owner[holder] = bar
            else:
                ended.append((bar, holder))
        for i, core in enumerate(first_core[here]):
            if owner[i] < 0:
                owner[i] = births[position, int(core)]
        for bar, cluster_here in ended:
            parents[bar] = owner[cluster_here]
        living = owner.tolist()
    return parents


def _with_parents(kept: NDArray[np.intp], parents: NDArray[np.int64]) -> list[int]:
    found: set[int] = set()
    for bar in kept.tolist():
        while bar >= 0 and bar not in found:
            found.add(bar)
            bar = int(parents[bar])
    return sorted(found)


def _order(shown: list[int], parents: NDArray[np.int64], deaths: NDArray[Any]) -> list[int]:
    """Returns the order from left to right without crossings: bars that merge first are nearest to their parent."""
    left: dict[int, list[int]] = {bar: [] for bar in shown}
    right: dict[int, list[int]] = {bar: [] for bar in shown}
    roots: list[int] = []
    for bar in sorted(shown, key=lambda one: int(deaths[one])):  # children end before their parent
        block = left[bar] + [bar] + right[bar]
        parent = int(parents[bar])
        if parent < 0:
            roots += block
        elif len(left[parent]) < len(right[parent]):
            left[parent] = block + left[parent]
        else:
            right[parent] = right[parent] + block
    return roots


# ---------------------------------------------------------------- drawing


def _draw_tree(ax: Any, bars: _Bars, shown: list[int], parents: NDArray[np.int64], at: dict[int, int]) -> None:
    from matplotlib.collections import LineCollection

    birth, ends, lines, widths = bars.table["birth"], bars.ends(), [], []
    most = max(int(bars.size[shown].max()), 2)
    for bar in shown:
        x, width = at[bar], 0.6 + 3.4 * np.sqrt(bars.size[bar] / most)
        line = [(x, birth[bar]), (x, ends[bar])]
        if parents[bar] >= 0:
            line.append((at[int(parents[bar])], ends[bar]))
        lines.append(line)
        widths.append(width)
    ax.add_collection(LineCollection(lines, colors="#332288", linewidths=widths, joinstyle="miter", capstyle="butt"))
    ax.plot([at[bar] for bar in shown], birth[shown], "o", color="#332288", markersize=2.5)


def _colors_by_size(ax: Any, bars: _Bars, kept: NDArray[np.intp]) -> Any:
    from matplotlib import cm, colors

    size = bars.size[kept]
    low, high = int(size.min()), int(size.max())
    scale = cm.ScalarMappable(colors.LogNorm(low, high if high > low else low + 1), SEQUENCE)
    words = f"{'points' if 'size' in bars.table else 'core points'} at its end"
    bar = ax.figure.colorbar(scale, ax=ax, label=words)
    bar.outline.set_visible(False)
    log_ticks(bar.ax.yaxis)
    return scale.to_rgba(size)


def _set_eps(set_label: Any, axis: Any, line: Any, bars: _Bars) -> None:
    """Sets the axis of eps, and draws a line at the recommended eps."""
    set_label(with_unit("eps", bars.unit))
    first = bars.table["birth"].min()
    if bars.chosen is not None:
        first = min(first, bars.chosen)
    axis.set_view_interval(first / 1.1, bars.ends().max(initial=bars.eps[-1]) * 1.02, ignore=True)
    log_ticks(axis)
    if bars.chosen is not None:
        line(bars.chosen, color=MARK, linewidth=1.2, linestyle="--", label=f"recommended: {bars.chosen:.3g}")
        axis.axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)


def _title(shown: int, bars: _Bars) -> str:
    n = len(bars.size)
    some = f"{n:,} bars of clusters" if shown == n else f"the {shown:,} weightiest of {n:,} bars of clusters"
    return f"min_samples {bars.min_samples}: {some}"
