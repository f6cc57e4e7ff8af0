"""Hierarchies: condensed trees as icicles, trees of merges, and grids of the clusters that many trees have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._docs import documented
from .._gpu_arrays import to_host
from .._hierarchy import CondensedTree, Hierarchy, SingleLinkageTree
from .._parameters import as_count, require_one_of
from ._heatmap import WORDS, Grid, draw_grid
from ._style import INK, MARK, SEQUENCE, log_ticks, say_empty, styled_axes

_QUANTITIES = {  # and how their values are written
    "clusters": (WORDS["clusters"], "{:,.0f}"),
    "noise": (WORDS["noise"], "{:.3g}"),
    "persistence": ("mean persistence of clusters", "{:.2f}"),
}


@documented
def condensed_tree(source: Any, *, selected: Any = None, ax: Any = None) -> Any:
    """Draw a condensed tree as an icicle: eps falls from top to bottom, and widths are numbers of samples.

    A cluster narrows where samples leave it, and splits into the clusters below it. Selected clusters have a frame and
    the number of their label.

    Parameters
    ----------
    source : CondensedTree, or a fitted HDBSCAN
    selected : Selection, optional
        The clusters to mark. The default is the selection of the HDBSCAN, if source is one or its condensed_tree_, else
        `CondensedTree.select`.
    {ax}

    {axes}

    Raises
    ------
    TypeError
        If source is not a condensed tree or a fitted HDBSCAN.
    {matplotlib}
    """
    tree = getattr(source, "condensed_tree_", source)
    if not isinstance(tree, CondensedTree):
        raise TypeError(f"source is a {type(source).__name__}; it is a CondensedTree, or an HDBSCAN that is fitted")
    marked = tree._selected if selected is None else selected.nodes
    if marked is None:
        marked = tree.select().nodes
    clusters = tree.clusters
    parents, births, deaths, sizes = (np.asarray(clusters[name]) for name in ("parent", "birth", "death", "size"))
    with styled_axes(ax, 7.2, 4.8) as ax:
        finite = tree.leaves_at[(tree.leaves_at > 0) & np.isfinite(tree.leaves_at)]
        if not len(finite):
            return say_empty(ax, "no sample leaves at an eps above 0")
        lowest, highest = float(finite.min()), 1.1 * max(float(finite.max()), float(deaths[np.isfinite(deaths)].max()))
        lefts = _lefts(parents, sizes)
        colors = _colors(sizes)
        for c in range(len(sizes)):
            top = min(births[c], highest)
            eps, widths = _outline(tree, c, parents, births, sizes, top, lowest)
            middle = lefts[c] + sizes[c] / 2
            ax.fill_betweenx(eps, middle - widths / 2, middle + widths / 2, color=colors[c], step="post", linewidth=0)
        for label, c in enumerate(marked):
            bottom, top = max(deaths[c], lowest), min(births[c], highest)
            frame = lefts[c] + sizes[c] * np.array([0, 1, 1, 0, 0]), [top, top, bottom, bottom, top]
            ax.plot(*frame, color=MARK, linewidth=1.2)
            ax.annotate(str(label), (lefts[c] + sizes[c] / 2, bottom), ha="center", va="top", color=INK, fontsize=8)
        ax.set_yscale("log")
        ax.set(ylabel="eps", xlabel="samples", ylim=(lowest, highest), xlim=(0, sizes[0]))
        log_ticks(ax.yaxis)
        ax.set_title(f"{len(sizes)} clusters of at least {tree.min_cluster_size} samples, {len(marked)} selected")
    return ax


def _lefts(parents: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns the left end of each cluster: children of a cluster are side by side, in the middle of it. Parents must
    come before their children."""
    lefts = np.zeros(len(sizes))
    for c in range(len(sizes)):
        children = np.flatnonzero(parents == c)
        at = lefts[c] + (sizes[c] - sizes[children].sum()) / 2
        lefts[children] = at + np.concatenate([[0], np.cumsum(sizes[children])[:-1]]) if len(children) else 0
    return lefts


def _colors(sizes: NDArray[np.int64]) -> NDArray[Any]:
    from matplotlib import colormaps

    shares = np.log(sizes) / np.log(sizes[0]) if sizes[0] > 1 else np.ones(len(sizes))
    return np.asarray(colormaps[SEQUENCE](0.2 + 0.7 * shares))


def _outline(
    tree: CondensedTree, c: int, parents: NDArray[Any], births: NDArray[Any], sizes: NDArray[Any], top: float,
    lowest: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns `top` and then, descending, the eps at which samples leave cluster c and at which it splits; and its
    number of samples from each of these down to the next. parents, births, sizes: columns of `CondensedTree.clusters`.
    top: the eps at which the cluster begins in the picture. lowest: smaller eps count as this."""
    own = tree.leaves_at[tree.last_cluster == c]
    eps, counts = np.unique(np.maximum(own, lowest), return_counts=True)
    steps = np.concatenate([[top], eps[::-1]])
    left = sizes[c] - np.concatenate([[0], np.cumsum(counts[::-1])])
    children = np.flatnonzero(parents == c)
    if len(children):  # the end is a split
        steps = np.append(steps, max(births[children[0]], lowest))
        left = np.append(left, left[-1])
    return steps, left.astype(np.float64)


@documented
def hierarchies(
    trees: Any, min_cluster_size: Any, quantity: str = "clusters", *, ax: Any = None, **selection: Any
) -> Any:
    """Draw a grid of min_cluster_size and min_samples in which the colour of a cell is a property of its clusters.

    An axis is logarithmic if the ratios of successive values vary less than their differences, as for 5, 10, 20, or if
    it has only two values, the larger at least 4 times the smaller. If the quantity is "persistence", cells without
    clusters stay white. The cells of a grid of at most 120 cells contain their values.

    Parameters
    ----------
    trees : Hierarchy, or list of them
        As `epsflow.hierarchy` returns them.
    min_cluster_size : int or sequence of int
        Each tree is condensed with each of these sizes.
    quantity : {"clusters", "noise", "persistence"}
        "clusters" is the number of selected clusters, "noise" the number of samples in none of them, in percent of all,
        and "persistence" the mean of `Selection.persistence`.
    {ax}
    **selection
        Parameters of `CondensedTree.select`, such as cluster_selection_method.

    {axes}

    Raises
    ------
    ValueError, TypeError
        If the quantity is unknown, if two trees have one min_samples, or if a parameter is invalid.
    {matplotlib}

    Examples
    --------
    >>> epsflow.plot.hierarchies(epsflow.hierarchy(X, [5, 10, 20]), [10, 20, 50, 100])
    """
    require_one_of(quantity, "quantity", tuple(_QUANTITIES))
    trees = list(trees) if np.iterable(trees) else [trees]
    wrong = [tree for tree in trees if not isinstance(tree, Hierarchy)]
    if wrong:
        what = type(wrong[0]).__name__
        raise TypeError(f"trees has a {what}; it has what hierarchy() returns, or hierarchy_ of a fitted HDBSCAN")
    trees.sort(key=lambda tree: tree.min_samples)
    up = np.array([tree.min_samples for tree in trees], np.int64)
    if len(np.unique(up)) < len(up):
        raise ValueError(f"trees have min_samples {up.tolist()}: give one tree for each")
    sizes = min_cluster_size if np.iterable(min_cluster_size) else [min_cluster_size]
    across = np.unique([as_count(size, "min_cluster_size") for size in sizes])
    sizes = across.tolist()
    values = np.array([[_quantity(tree.condense(size), quantity, selection) for size in sizes] for tree in trees])
    with styled_axes(ax) as ax:
        if values.size == 0:
            return say_empty(ax, "no grid: there are no trees or sizes")
        label, written = _QUANTITIES[quantity]
        draw_grid(ax, Grid(across, up, values), label, written, "min_cluster_size", "min_samples")
    return ax


def _quantity(tree: CondensedTree, quantity: str, selection: dict[str, Any]) -> float:
    found = tree.select(**selection)
    if quantity == "noise":
        return float(100 * np.mean(to_host(found.labels) < 0))
    if quantity == "clusters":
        return len(found.nodes)
    return float(found.persistence.mean()) if len(found.nodes) else np.nan


def dendrogram(tree: SingleLinkageTree, ax: Any, truncate_mode: str | None, p: int, **parameters: Any) -> Any:
    from scipy.cluster import hierarchy

    with styled_axes(ax, 7.2, 4.8) as ax:
        parameters = {"no_labels": True, "color_threshold": 0, "above_threshold_color": INK, **parameters}
        hierarchy.dendrogram(tree.to_numpy(), p, truncate_mode, ax=ax, **parameters)
        ax.set_ylabel("eps")
    return ax


def spanning_tree(edges: NDArray[np.float64], points: NDArray[np.float64], ax: Any) -> Any:
    """edges: rows of two samples and their distance."""
    from matplotlib.collections import LineCollection

    with styled_axes(ax) as ax:
        ends = points[edges[:, :2].astype(np.intp)]
        drawn = ax.add_collection(LineCollection(ends, array=edges[:, 2], cmap=SEQUENCE))
        ax.autoscale_view()
        ax.figure.colorbar(drawn, ax=ax, label="mutual reachability distance")
    return ax
