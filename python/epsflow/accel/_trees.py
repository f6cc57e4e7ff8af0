"""Trees of HDBSCAN in the form of scikit-learn and of the package hdbscan."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from .._hdbscan import HDBSCAN
from .._hierarchy import CondensedTree, Hierarchy, Selection, hierarchy_loaded
from .._precomputed import is_precomputed
from ._calls import NotServed, Running, current
from ._metrics import angles_of, dense, jobs_of, require_search


class Made(NamedTuple):
    """A hierarchy, and the array that was made of it for the original."""

    linkage: NDArray[Any]
    hierarchy: Hierarchy
    binary: Any


def hierarchy_of(
    X: Any, min_samples: int, metric: Any, metric_params: Optional[dict[str, Any]], algorithm: str, call: Running,
    n_jobs: Optional[int] = None,
) -> Hierarchy:
    """Returns the hierarchy of points or distances. min_samples: the sample itself counted. algorithm: of scikit-learn.
    Raises NotServed or the errors of epsflow.HDBSCAN if epsflow has none."""
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
    """Returns the tree that the running call made a linkage of, and keeps it no longer; None for other linkages."""
    call = current()
    if call is None or call.made is None or call.made.linkage is not linkage:
        return None
    made: Made = call.made
    call.made = None
    return made


class Clusters(NamedTuple):
    """Selected clusters, numbered as scikit-learn numbers them."""

    labels: NDArray[np.intp]
    probabilities: NDArray[np.float64]
    persistence: NDArray[np.float64]
    condensed: CondensedTree
    nodes: NDArray[np.intp]
    """The cluster of the condensed tree of each label."""


def clusters_of(
    made: Made, min_cluster_size: int, method: str, allow_single_cluster: bool, epsilon: float, max_size: Optional[int]
) -> Clusters:
    condensed = CondensedTree(made.hierarchy, min_cluster_size)
    found: Selection = condensed.select(
        method, cluster_selection_epsilon=epsilon, max_cluster_size=max_size, allow_single_cluster=allow_single_cluster
    )
    place = np.empty(len(np.asarray(condensed._tree.births)), np.intp)
    place[np.asarray(made.binary.breadth_first(condensed._tree, min_cluster_size))] = np.arange(len(place))
    order = np.argsort(place[found.nodes])
    number = np.empty(len(order) + 1, np.intp)
    number[order] = np.arange(len(order))
    number[-1] = -1  # of noise
    return Clusters(number[found.labels], found.probabilities, found.persistence[order], condensed, found.nodes[order])
