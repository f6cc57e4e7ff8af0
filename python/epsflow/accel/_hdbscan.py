"""hdbscan.HDBSCAN."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Optional

import numpy as np
from numpy.typing import NDArray

from .._precomputed import is_sparse
from .._tasks import made_by
from . import _trees
from ._calls import NotServed, current
from ._patches import put

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
    _trees.put_fit(module, "hdbscan.HDBSCAN.fit")
    for name in _LINKAGES:
        put(module, name, _linkage(getattr(module, name)))
    put(module, "_tree_to_labels", _labels(module._tree_to_labels))


def _linkage(original: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that replaces `original`, which makes a single linkage tree and a spanning tree."""
    parameters = inspect.signature(original)
    name = original.__name__
    algorithm = "kd_tree" if "kdtree" in name else "ball_tree" if "balltree" in name else "brute"

    def linkage(X: Any, *positional: Any, **named: Any) -> Any:
        call = current()
        if call is None or call.is_left_to_original:
            return original(X, *positional, **named)
        try:
            given = parameters.bind(X, *positional, **named)
            given.apply_defaults()
            a = given.arguments
            _require_same(X, a)
            metric = "euclidean" if a["metric"] == "minkowski" else a["metric"]
            # hdbscan does not count the sample itself, and a sparse table has no entry for it.
            itself = 0 if is_sparse(X) and metric == "precomputed" else 1
            tree = _trees.hierarchy_of(X, a["min_samples"] + itself, metric, a["kwargs"], algorithm, call)
            binary = made_by(tree._tree.start_binary_tree)
            found = np.column_stack([np.asarray(column, np.float64) for column in binary.rows()])
            edges = np.column_stack([np.asarray(column, np.float64) for column in tree._tree.spanning_tree])
        except Exception as error:  # the original raises its own, or serves the call
            call.left(error)
            return original(X, *positional, **named)
        call.made = _trees.Made(found, tree, binary)
        return found, edges if a["gen_min_span_tree"] else None

    # A cache of joblib keeps results by the name of the function, and the original has its own.
    linkage.__name__ = linkage.__qualname__ = f"accelerated{name}"
    return linkage


def _require_same(X: Any, given: dict[str, Any]) -> None:
    """Raises NotServed for arguments with which epsflow does not compute the same: alpha, the cosine metric, Minkowski
    metrics except the Euclidean one, and dense distances that are not symmetric and float64. given: by name."""
    metric = given["metric"]
    if given["alpha"] != 1:
        raise NotServed(f"alpha={given['alpha']!r}")
    if metric == "cosine" or metric == "minkowski" and (given["p"] != 2 or given["kwargs"]):
        raise NotServed(f"metric={metric!r} with p={given['p']!r}")
    if metric == "precomputed" and not is_sparse(X):
        if not isinstance(X, np.ndarray) or X.dtype != np.float64 or not np.array_equal(X, X.T):
            raise NotServed("distances that are not a symmetric array of float64")


def _labels(original: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that replaces `original`, which selects clusters in a single linkage tree."""
    parameters = inspect.signature(original)

    @functools.wraps(original)
    def tree_to_labels(X: Any, single_linkage_tree: Any, *positional: Any, **named: Any) -> Any:
        made = _trees.taken(single_linkage_tree)
        if made is not None:
            try:
                given = parameters.bind(X, single_linkage_tree, *positional, **named)
                given.apply_defaults()
                if _is_served(made, given.arguments):
                    return (*_selected(made, given.arguments), single_linkage_tree)
            except Exception:  # the original selects in the same tree, or raises its own
                pass
        return original(X, single_linkage_tree, *positional, **named)

    return tree_to_labels


def _is_served(made: _trees.Made, given: dict[str, Any]) -> bool:
    limit, single = given["max_cluster_size"], given["allow_single_cluster"]
    return (
        given["min_cluster_size"] <= len(made.hierarchy) and isinstance(single, (bool, np.bool_))
        and (limit == 0 or limit > 0 and not single)
        and all(given.get(name, value) == value for name, value in _DEFAULTS.items())
    )


def _selected(made: _trees.Made, given: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    """Returns labels, probabilities, persistence and the condensed tree, as the function of hdbscan does. given: its
    arguments by name."""
    size, max_size = given["min_cluster_size"], given["max_cluster_size"] or None
    method, epsilon = given["cluster_selection_method"], given["cluster_selection_epsilon"]
    single = bool(given["allow_single_cluster"])
    found = _trees.clusters_of(made, size, method, single, epsilon, max_size)
    columns = made_by(made.binary.start_condense, size)
    rows = np.empty(len(columns[0]), _ROW)
    for field, column in zip(_ROW.names or (), columns):
        rows[field] = column
    stabilities = np.asarray(found.condensed._tree.stabilities)
    if epsilon > 0 and method == "eom":
        stabilities = _best_stabilities(found, single, max_size)
    with np.errstate(divide="ignore"):
        densest = (1 / np.asarray(found.condensed._tree.deaths)).max()
    counts = np.bincount(found.labels[found.labels >= 0], minlength=len(found.nodes))
    persistence = np.ones(len(counts))
    if 0 < densest < np.inf:
        np.divide(stabilities[found.nodes], counts * densest, out=persistence, where=counts > 0)
    return found.labels, found.probabilities, persistence, rows


def _best_stabilities(found: _trees.Clusters, allow_single_cluster: bool, max_size: Optional[int]) -> NDArray[Any]:
    """Returns for each cluster the stability of the best clusters inside it, which hdbscan takes for merged ones."""
    tree = found.condensed._tree
    parents, best = np.asarray(tree.parents).astype(np.intp), np.array(tree.stabilities)
    inside, sizes = np.zeros(len(best)), np.asarray(tree.sizes)
    for c in range(len(best) - 1, -1 if allow_single_cluster else 0, -1):  # parents come first
        is_too_large = max_size is not None and sizes[c] > max_size
        best[c] = inside[c] if is_too_large else max(best[c], inside[c])
        if c > 0:
            inside[parents[c]] += best[c]
    return best
