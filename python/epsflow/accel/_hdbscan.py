"""hdbscan.HDBSCAN."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Optional

import numpy as np

from .._gpu_arrays import on_host
from .._precomputed import is_sparse
from . import _trees
from ._calls import NotServed, current, recorded
from ._patches import least_rows, put

_LINKAGES = (
    "_hdbscan_generic", "_hdbscan_prims_kdtree", "_hdbscan_prims_balltree", "_hdbscan_boruvka_kdtree",
    "_hdbscan_boruvka_balltree",
)
NEEDS = ("HDBSCAN", "_tree_to_labels", *_LINKAGES)
_ROW = np.dtype([("parent", np.intp), ("child", np.intp), ("lambda_val", float), ("child_size", np.intp)])
_DEFAULTS = {
    "match_reference_implementation": False, "cluster_selection_persistence": 0.0,
    "cluster_selection_epsilon_max": np.inf,
}


def put_into(module: Any) -> None:
    original = module.HDBSCAN.fit

    @functools.wraps(original)
    def fit(self: Any, X: Any, y: Any = None) -> Any:
        with recorded("hdbscan.HDBSCAN.fit", X, least_rows()) as call:
            if getattr(self, "branch_detection_data", False) and not call.is_small:
                call.left(NotServed("branches depend on which of the minimum spanning trees the original finds"))
            return original(self, on_host(X), y)

    put(module.HDBSCAN, "fit", fit)
    for name in _LINKAGES:
        put(module, name, _linkage(getattr(module, name)))
    put(module, "_tree_to_labels", _labels(module._tree_to_labels))


def _linkage(original: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function in place of one that makes a single linkage tree and a spanning tree."""
    parameters = inspect.signature(original)

    @functools.wraps(original)
    def linkage(X: Any, *positional: Any, **named: Any) -> Any:
        call = current()
        if call is None or call.is_small:
            return original(X, *positional, **named)
        try:
            given = parameters.bind(X, *positional, **named)
            given.apply_defaults()
            a, own = given.arguments, given.arguments["kwargs"]
            if a["metric"] == "minkowski" and (a["p"] != 2 or own):
                raise NotServed(f"metric='minkowski' with p={a['p']!r}")
            metric = "euclidean" if a["metric"] == "minkowski" else a["metric"]
            # hdbscan does not count the sample itself, and a sparse table has no entry for it.
            itself = 0 if is_sparse(X) and metric == "precomputed" else 1
            tree = _trees.hierarchy_of(X, a["min_samples"] + itself, metric, own, a["alpha"], call)
            binary = tree._tree.binary_tree()
            found = np.column_stack([np.asarray(column, np.float64) for column in binary.rows()])
            edges = np.column_stack([np.asarray(column, np.float64) for column in tree._tree.spanning_tree])
        except Exception as error:  # the original raises its own, or serves the call
            call.left(error)
            return original(X, *positional, **named)
        _trees.keep(found, tree, binary)
        return found, edges if a["gen_min_span_tree"] else None

    return linkage


def _labels(original: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function in place of the one that selects clusters in a single linkage tree."""
    parameters = inspect.signature(original)

    @functools.wraps(original)
    def tree_to_labels(X: Any, single_linkage_tree: Any, *positional: Any, **named: Any) -> Any:
        made = _trees.taken(single_linkage_tree)
        given = parameters.bind(X, single_linkage_tree, *positional, **named)
        given.apply_defaults()
        a = given.arguments
        size, max_size, single = a["min_cluster_size"], a["max_cluster_size"] or None, a["allow_single_cluster"]
        if (
            made is None or size > len(made.hierarchy) or max_size and single
            or any(a.get(name, value) != value for name, value in _DEFAULTS.items())
        ):
            return original(X, single_linkage_tree, *positional, **named)
        found = _trees.clusters_of(
            made, size, a["cluster_selection_method"], single, a["cluster_selection_epsilon"], max_size
        )
        columns = made.binary.condense(size)
        rows = np.empty(len(columns[0]), _ROW)
        for field, column in zip(_ROW.names or (), columns):
            rows[field] = column
        persistence = found.persistence
        if a["cluster_selection_epsilon"] > 0 and a["cluster_selection_method"] == "eom":
            persistence = _persistence_of_merged(found, single, max_size)
        return found.labels, found.probabilities, persistence, rows, single_linkage_tree

    return tree_to_labels


def _persistence_of_merged(found: _trees.Clusters, allow_single_cluster: bool, max_size: Optional[int]) -> Any:
    """Returns the persistence of clusters that were merged. hdbscan takes the stability of the best clusters inside."""
    tree = found.condensed._tree
    parents, best = np.asarray(tree.parents).astype(np.intp), np.array(tree.stabilities)
    inside, sizes = np.zeros(len(best)), np.asarray(tree.sizes)
    for c in range(len(best) - 1, -1 if allow_single_cluster else 0, -1):  # parents come first
        is_too_large = max_size is not None and sizes[c] > max_size
        best[c] = inside[c] if is_too_large else max(best[c], inside[c])
        if c > 0:
            inside[parents[c]] += best[c]
    with np.errstate(divide="ignore"):
        densest = (1 / np.asarray(tree.deaths)).max()
    counts = np.bincount(found.labels[found.labels >= 0], minlength=len(found.nodes))
    if not 0 < densest < np.inf:
        return np.ones(len(found.nodes))
    return best[found.nodes] / (counts * densest)
