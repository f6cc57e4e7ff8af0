"""sklearn.cluster.HDBSCAN."""

from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np

from .._tasks import made_by
from . import _trees
from ._calls import NotServed, current
from ._patches import put

NEEDS = ("HDBSCAN", "_hdbscan_brute", "_hdbscan_prims", "tree_to_labels", "HIERARCHY_dtype")


def put_into(module: Any) -> None:
    _trees.put_fit(module, "sklearn.cluster.HDBSCAN.fit")
    for name in ("_hdbscan_brute", "_hdbscan_prims"):
        put(module, name, _linkage(getattr(module, name), module.HIERARCHY_dtype))
    put(module, "tree_to_labels", _labels(module.tree_to_labels))


def _linkage(original: Callable[..., Any], row_type: Any) -> Callable[..., Any]:
    """Returns a function that replaces `original`, which makes a single linkage tree. row_type: of the tree's rows."""

    @functools.wraps(original)
    def linkage(
        X: Any, *, min_samples: int, alpha: float, metric: Any, n_jobs: Any, algo: Any = None, leaf_size: Any = None,
        copy: Any = None, **metric_params: Any,
    ) -> Any:
        call = current()
        if call is not None and not call.is_left_to_original:
            try:
                if alpha != 1:
                    raise NotServed(f"alpha={alpha!r}")
                tree = _trees.hierarchy_of(X, min_samples, metric, metric_params, algo or "brute", call, n_jobs)
                binary = made_by(tree._tree.start_binary_tree)
                found = np.empty(len(tree) - 1, row_type)
                for field, column in zip(row_type.names, binary.rows()):
                    found[field] = column
                call.made = _trees.Made(found, tree, binary)
                return found
            except Exception as error:  # the original raises its own, or serves the call
                call.left(error)
        given = {"algo": algo, "leaf_size": leaf_size, "copy": copy}
        return original(
            X=X, min_samples=min_samples, alpha=alpha, metric=metric, n_jobs=n_jobs,
            **{name: value for name, value in given.items() if value is not None}, **metric_params,
        )

    return linkage


def _labels(original: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that replaces `original`, which selects clusters in a single linkage tree."""

    @functools.wraps(original)
    def tree_to_labels(single_linkage_tree: Any, *selection: Any, **named: Any) -> Any:
        made = _trees.taken(single_linkage_tree)
        if made is not None and not named and len(selection) == 5:
            min_cluster_size, method, single, epsilon, max_size = selection
            # If a root of limited size may be selected, the original has another size for it.
            if min_cluster_size <= len(made.hierarchy) and not (single and max_size):
                try:
                    found = _trees.clusters_of(made, min_cluster_size, method, single, epsilon, max_size)
                    return found.labels, found.probabilities
                except Exception:  # the original selects in the same tree, or raises its own
                    pass
        return original(single_linkage_tree, *selection, **named)

    return tree_to_labels
