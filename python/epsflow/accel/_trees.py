"""Hierarchies and clusters of epsflow in place of those that scikit-learn and the package hdbscan make.

Both packages make a single linkage tree first, and select clusters in it later. A call keeps the hierarchy of the first
step (`Made`), so that the second step does not have to make it from the linkage again.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from .._hdbscan import HDBSCAN
from .._hierarchy import CondensedTree, Hierarchy, Selection, hierarchy_loaded
from .._precomputed import is_precomputed
from .._tasks import made_by
from ._calls import NotServed, Running, current, on_host_if_on_gpu, recorded
from ._metrics import angles_of, dense, jobs_of, require_search
from ._patches import least_rows, put


class Made(NamedTuple):
    """A hierarchy of the running call, and the single linkage tree that was returned for it."""

    linkage: NDArray[Any]
    """The rows [n - 1] of `binary` in the form of the original. `taken` recognizes this very array."""
    hierarchy: Hierarchy
    binary: Any
    """The hierarchy as a binary tree of the library, with two children at each node, as the originals have it."""


def put_fit(module: Any, name: str) -> None:
    """Replaces HDBSCAN.fit of a module by a function that records the call. name: the function in the report."""
    original = module.HDBSCAN.fit

    @functools.wraps(original)
    def fit(self: Any, X: Any, y: Any = None) -> Any:
        with recorded(name, X, least_rows()) as call:
            if getattr(self, "branch_detection_data", False) and not call.is_left_to_original:  # only hdbscan has it
                call.left(NotServed("branches depend on which of the minimum spanning trees the original finds"))
            return original(self, on_host_if_on_gpu(X), y)

    put(module.HDBSCAN, "fit", fit)


def hierarchy_of(
    X: Any, min_samples: int, metric: Any, metric_params: Optional[dict[str, Any]], algorithm: str, call: Running,
    n_jobs: Optional[int] = None,
) -> Hierarchy:
    """Returns the hierarchy of points, or of distances if metric is "precomputed", and notes the device in `call`.

    min_samples: the sample itself counted. algorithm: in the words of scikit-learn, because not every algorithm has
    every metric. n_jobs: the number of threads; by default 1 for few samples, else all cores. Raises NotServed if
    epsflow does not search with these parameters as the original does, and the errors of epsflow.HDBSCAN.
    """
    model = HDBSCAN(
        min_samples=min_samples, metric=metric, metric_params=metric_params or None, n_jobs=jobs_of(n_jobs, X.shape[0])
    )
    if is_precomputed(metric):
        if metric_params:
            raise NotServed(f"metric_params={metric_params!r}")
        call.ran_on("cpu")
        return model._hierarchy(model._distances(X), min_samples)
    require_search(X, metric, metric_params, algorithm)
    points = np.ascontiguousarray(dense(X), dtype=np.float64)
    data = model._searched(angles_of(points) if metric == "haversine" else points)
    if data is None:
        raise NotServed(f"metric={metric!r}")
    call.ran_on(data.engine.backend)
    found = hierarchy_loaded(data, min_samples)
    assert isinstance(found, Hierarchy)
    return found


def taken(linkage: Any) -> Optional[Made]:
    """Returns the hierarchy from which this thread's call made `linkage`, and forgets it; None for another array."""
    call = current()
    if call is None or call.made is None or call.made.linkage is not linkage:
        return None
    made: Made = call.made
    call.made = None
    return made


class Clusters(NamedTuple):
    """Selected clusters, numbered as scikit-learn numbers them."""

    labels: NDArray[np.intp]
    """[n] -1 for noise"""
    probabilities: NDArray[np.float64]
    """[n] from 0 to 1"""
    persistence: NDArray[np.float64]
    """[clusters]"""
    condensed: CondensedTree
    nodes: NDArray[np.intp]
    """[clusters] the number of each cluster in the condensed tree, in which the root is 0"""


def clusters_of(
    made: Made, min_cluster_size: int, method: str, allow_single_cluster: bool, epsilon: float, max_size: Optional[int]
) -> Clusters:
    """Returns the clusters that CondensedTree.select() selects with these parameters, in the order of scikit-learn.

    max_size: None if sizes are not limited. Raises as CondensedTree and its select().
    """
    condensed = CondensedTree(made.hierarchy, min_cluster_size)
    found: Selection = condensed.select(
        method, cluster_selection_epsilon=epsilon, max_cluster_size=max_size, allow_single_cluster=allow_single_cluster
    )
    rank = np.empty(len(np.asarray(condensed._tree.births)), np.intp)
    breadth_first = made_by(made.binary.start_breadth_first, condensed._tree, min_cluster_size)
    rank[np.asarray(breadth_first)] = np.arange(len(rank))
    order = np.argsort(rank[found.nodes])
    number = np.empty(len(order) + 1, np.intp)
    number[order] = np.arange(len(order))
    number[-1] = -1  # of noise
    return Clusters(number[found.labels], found.probabilities, found.persistence[order], condensed, found.nodes[order])
