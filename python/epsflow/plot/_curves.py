"""Curves of distances to k-th nearest points, and of sizes of clusters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from .. import _functions
from .._compare import as_labels
from .._docs import documented
from .._gpu_arrays import is_on_gpu
from .._k_distance import eps_range, knee
from .._parameters import as_counts
from .._units import parse_input
from ._raster import sizes_of
from ._style import INK, MARK, PALETTE, log_ticks, say_empty, styled_axes, with_unit

_MOST_PLACES = 2000  # points of a curve: more than a screen has columns


@documented
def k_distance(
    X: Any, k: Union[int, Iterable[int]] = 4, *, metric: str = "euclidean",
    metric_params: Optional[dict[str, Any]] = None, unit: Optional[str] = None, ax: Any = None,
) -> Any:
    """Draw the distances to the k-th nearest other points, ascending, with their knee.

    The curve shows the share of core points at each eps: with min_samples = k + 1, a point is core if its distance is
    not larger than eps. The knee is a first guess of eps. The shaded band (for one k) is the range worth sweeping,
    `epsflow.eps_range`.

    Parameters
    ----------
    X : array or table of shape (n_samples, n_features), or distances of shape (n_samples,)
        Points as `epsflow.k_distance` takes them, or the distances that it returned for one k.
    k : int or iterable of int
        There is a curve for each k. If X is distances, the k that they were computed for.
    metric, metric_params
        The metric of points, as for `epsflow.k_distance`.
    unit : str, optional
        The unit to print beside the distances, which are not converted. By default the unit of the metric, or of X, if
        X is points.
    {ax}

    {axes}

    Raises
    ------
    ValueError, TypeError
        If X or k is invalid, as for `epsflow.k_distance` and `epsflow.knee`, or if X is distances and k has several.
    {matplotlib}
    """
    ks = as_counts(k, "k")
    if not is_on_gpu(X) and np.ndim(X) == 1 and not hasattr(X, "frame"):
        if len(ks) > 1:
            raise ValueError(
                f"X is distances of one k, and k names {len(ks)}: draw each into the same ax, or give the points"
            )
        columns = [np.asarray(X)]
    else:
        unit = unit or parse_input(X, metric, metric_params).unit
        columns = list(np.asarray(_functions.k_distance(X, ks, metric=metric, metric_params=metric_params)).T)
    knees = [knee(distances) for distances in columns]  # raises an error for values that are not distances
    with styled_axes(ax) as ax:
        kept = [
            (one, np.sort(distances), found)
            for one, distances, found in zip(ks, columns, knees) if (distances > 0).any()
        ]
        if not kept:
            return say_empty(ax, "no points" if len(columns[0]) == 0 else "all distances are 0")
        ax.set_yscale("log")
        for i, (one, distances, found) in enumerate(kept):
            _draw_distances(ax, one, distances, found, PALETTE[i % len(PALETTE)])
        if len(kept) == 1:
            low, high = eps_range(kept[0][1])
            ax.axhspan(
                low, high, color=PALETTE[4], alpha=0.18, linewidth=0, zorder=0,
                label=f"worth sweeping: {low:.3g} to {high:.3g}",
            )
        name = (
            f"distance to the {ks[0]}{_ending(ks[0])} nearest point" if len(ks) == 1
            else "distance to the k-th nearest point"
        )
        ax.set(xlim=(0, 100), xlabel="points with no larger distance (%)", ylabel=with_unit(name, unit))
        log_ticks(ax.yaxis)
        ax.legend(loc="upper left")
    return ax


def _draw_distances(ax: Any, k: int, distances: NDArray[Any], found: Any, color: str) -> None:
    at = np.unique(np.linspace(0, len(distances) - 1, min(len(distances), _MOST_PLACES)).astype(np.int64))
    above = at[distances[at] > 0]  # the axis is logarithmic
    label = f"k = {k}"
    if np.isfinite(found.distance):
        label += f", knee: {found.distance:.3g}, {100 * found.share:.3g} % of the points"
        ax.plot(100 * found.share, found.distance, "o", color=MARK, markersize=7, markeredgecolor="white", zorder=3)
    ax.plot(100 * (above + 1) / len(distances), distances[above], color=color, linewidth=1.8, label=label)


def _ending(k: int) -> str:
    return "th" if k % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(k % 10, "th")


@documented
def sizes(labels: Any, *, ax: Any = None) -> Any:
    """Draw the number of clusters with at least a given number of points: the cumulative size function, without bins.

    Axes are logarithmic, so a power law is a straight line. A single step far to the right is one large cluster, with
    which most others have merged.

    Parameters
    ----------
    {labels}
    {ax}

    {axes}

    Raises
    ------
    ValueError, TypeError
        If labels are invalid.
    {matplotlib}
    """
    of_points = as_labels(labels, "labels")
    _, found = sizes_of(of_points)
    with styled_axes(ax) as ax:
        if len(found) == 0:
            return say_empty(
                ax, "no points" if len(of_points) == 0 else f"no clusters: all {len(of_points):,} points are noise"
            )
        size, first = np.unique(np.sort(found), return_index=True)
        ax.set(xscale="log", yscale="log", xlabel="points of a cluster", ylabel="clusters of at least so many points")
        ax.plot(
            size, len(found) - first, drawstyle="steps-pre", color=PALETTE[0], linewidth=1.5,
            marker="o" if len(size) <= 60 else "", markersize=4,
        )
        noise = len(of_points) - int(found.sum())
        ax.set_title(
            f"{len(found):,} cluster{'' if len(found) == 1 else 's'}, without {noise:,} points of noise", color=INK
        )
        ax.margins(0.06)
        for axis in (ax.xaxis, ax.yaxis):
            low, high = axis.get_view_interval()
            if high < 3 * low:  # there is one cluster, or all have the same size
                axis.set_view_interval(low / 3, high * 3, ignore=True)
            log_ticks(axis)
    return ax
