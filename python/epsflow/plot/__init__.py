"""Pictures of results. They are drawn by matplotlib: `pip install "epsflow[plot]"`.

    epsflow.plot.heatmap(epsflow.explore(X))
    epsflow.plot.clusters(X, result.variant(0.3, 16))
    epsflow.plot.k_distance(X, k=15)
    epsflow.plot.condensed_tree(epsflow.HDBSCAN().fit(X))
    epsflow.plot.hierarchies(epsflow.hierarchy(X, [5, 10, 20]), [10, 20, 50])
    epsflow.plot.lifetimes(result.lineage, min_samples=16)
    epsflow.plot.merges(result.lineage, min_samples=16)
    epsflow.plot.sizes(result.variant(0.3, 16))
    epsflow.plot.stages("results/trace.json")

Each function draws into the given axes, or makes a figure, and returns the axes, which can be changed with matplotlib.
Only clusters() also takes a figure; if it draws planes, it returns the figure in place of axes.
Colours can be distinguished with any colour vision, and noise is grey.
"""

from __future__ import annotations

from ._clusters import clusters
from ._curves import k_distance, sizes
from ._heatmap import heatmap
from ._bars import lifetimes, merges
from ._stages import stages
from ._trees import condensed_tree, hierarchies

__all__ = [
    "clusters",
    "condensed_tree",
    "heatmap",
    "hierarchies",
    "k_distance",
    "lifetimes",
    "merges",
    "sizes",
    "stages",
]
