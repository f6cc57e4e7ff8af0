"""hdbscan.approximate_predict, membership_vector and all_points_membership_vectors, for all samples at once.

They return the numbers of the package hdbscan: the same neighbors, decisions and formulas. Densities are 1 / a
distance, as lambda_val in its trees. Clusters are numbered as in its condensed tree, from the number of the root on.
"""

from __future__ import annotations

import types
from typing import Any, Callable, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._membership import blocks_of, joins_of
from ._calls import NotServed, recorded
from ._patches import put

_original: dict[str, Callable[..., Any]] = {}


def put_into(module: Any) -> None:
    """Gives functions of hdbscan.prediction the code of this module, if they have the expected parameters."""
    # Other modules have imported the functions by name. So the functions stay, and their code changes.
    for name, ours in _CODE.items():
        function = getattr(module, name)
        code = function.__code__
        if _arguments_of(code) != _arguments_of(ours.__code__) or code.co_freevars:
            continue
        _original[name] = types.FunctionType(code, function.__globals__, name, function.__defaults__)
        put(function, "__code__", ours.__code__)


def _arguments_of(code: types.CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount]


def _approximate_predict(clusterer, points_to_predict, return_connecting_points=False):  # type: ignore[no-untyped-def]
    from epsflow.accel import _predictions

    return _predictions.approximate_predict(clusterer, points_to_predict, return_connecting_points)


def _membership_vector(clusterer, points_to_predict):  # type: ignore[no-untyped-def]
    from epsflow.accel import _predictions

    return _predictions.membership_vector(clusterer, points_to_predict)


def _all_points_membership_vectors(clusterer):  # type: ignore[no-untyped-def]
    from epsflow.accel import _predictions

    return _predictions.all_points_membership_vectors(clusterer)


_CODE: dict[str, Any] = {
    "approximate_predict": _approximate_predict,
    "membership_vector": _membership_vector,
    "all_points_membership_vectors": _all_points_membership_vectors,
}
NEEDS = tuple(_CODE)


def approximate_predict(clusterer: Any, points: Any, with_neighbors: bool) -> Any:
    def work() -> Any:
        data = clusterer.prediction_data_
        X = np.asarray(points)
        if X.shape[1] != data.raw_data.shape[1] or not len(data.cluster_tree) or not len(X):
            raise ValueError("no clusters, or other columns")
        found = _predicted(clusterer, X)
        return found if with_neighbors else found[:2]

    return _served("approximate_predict", points, work, clusterer, points, with_neighbors)


def membership_vector(clusterer: Any, points: Any) -> Any:
    def work() -> Any:
        if not isinstance(points, np.ndarray):
            raise NotServed(f"points are a {type(points).__name__}")
        return _vectors_of_new(clusterer, points.astype(np.float64))

    return _served("membership_vector", points, work, clusterer, points)


def all_points_membership_vectors(clusterer: Any) -> Any:
    points = getattr(clusterer, "_raw_data", None)
    return _served("all_points_membership_vectors", points, lambda: _vectors_of_all(clusterer), clusterer)


def _served(name: str, points: Any, work: Callable[[], Any], *arguments: Any) -> Any:
    """Returns the result of work(), or of the original function with these arguments if work() raises an Exception.
    Records the call."""
    with recorded(f"hdbscan.{name}", points, 0) as call:
        try:
            found = work()
            call.ran_on("cpu")
            return found
        except Exception as error:  # the original raises its own
            call.left(error)
        return _original[name](*arguments)


class _Neighbors(NamedTuple):
    """For each of n new samples, the fitted sample that _neighbors() chooses: the nearest one by mutual reachability
    distance. Each array is [n]."""

    ids: NDArray[np.intp]
    """The index of the fitted sample."""
    densities: NDArray[np.float64]
    """1 / the mutual reachability distance of both; the largest number for 0."""
    row: NDArray[np.intp]
    """The row of the condensed tree in which the fitted sample leaves its smallest cluster."""


def _neighbors(clusterer: Any, X: NDArray[Any]) -> _Neighbors:
    """Returns for each new sample the fitted sample at the smallest mutual reachability distance, the first of equal
    ones. Only the 2 * min_samples nearest fitted samples are compared. X: [n, features]."""
    data, m = clusterer.prediction_data_, clusterer.min_samples or clusterer.min_cluster_size
    distances, ids = data.tree.query(X, k=2 * m)
    reach = np.maximum(np.maximum(data.core_distances[ids], distances[:, m, None]), distances)
    nearest = reach.argmin(axis=1)[:, None]
    reach = np.take_along_axis(reach, nearest, axis=1)[:, 0]
    densities = np.full(len(X), np.finfo(np.double).max)
    np.divide(1.0, reach, out=densities, where=reach > 0)
    ids = np.take_along_axis(ids, nearest, axis=1)[:, 0]
    children = clusterer._condensed_tree["child"]
    row_of = np.zeros(int(children.max()) + 1, np.intp)
    row_of[children[::-1]] = np.arange(len(children))[::-1]
    return _Neighbors(ids, densities, row_of[ids])


def _predicted(clusterer: Any, X: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
    """Returns labels (-1 for noise), probabilities, and the indices of the fitted samples that new ones join. [n]"""
    data, tree, found = clusterer.prediction_data_, clusterer._condensed_tree, _neighbors(clusterer, X)
    cluster_tree = data.cluster_tree
    root, count = int(cluster_tree["parent"].min()), int(tree["parent"].max()) + 1
    parent, born = np.full(count, -1, np.intp), np.full(count, -np.inf)
    parent[cluster_tree["child"]], born[cluster_tree["child"]] = cluster_tree["parent"], cluster_tree["lambda_val"]
    cluster = tree["parent"][found.row].astype(np.intp)
    rising = np.flatnonzero(tree["lambda_val"][found.row] > found.densities)
    while len(rising):  # to the cluster that holds the sample at its density
        at = cluster[rising]
        rising = rising[(at > root) & (born[at] >= found.densities[rising])]
        cluster[rising] = parent[cluster[rising]]
    labels, densest = np.full(count, -1, np.int32), np.zeros(count)
    for c, label in data.cluster_map.items():
        labels[c], densest[c] = label, data.max_lambdas[c]
    label, most = labels[cluster], densest[cluster]
    probabilities = np.ones(len(X))
    np.divide(np.minimum(most, found.densities), most, out=probabilities, where=most > 0)
    probabilities[label < 0] = 0
    return label, probabilities, found.ids.astype(np.int32)


def _selected(clusterer: Any) -> NDArray[np.intp]:
    """Returns the numbers of the selected clusters, ascending."""
    return np.array(sorted(clusterer.condensed_tree_._select_clusters())).astype(np.intp)


def _root_of(tree: Any, clusters: NDArray[np.intp]) -> int:
    """Returns the number of the root. clusters: the numbers of the selected clusters. Raises NotServed if the root is
    one of them, because the original has no membership vectors then."""
    root = int(tree["parent"].min())
    if root in clusters:
        raise NotServed("the root is a cluster")
    return root


def _exemplar_shares(clusterer: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns shares [samples, clusters] inverse to the distance of a sample to the nearest exemplar of each cluster.
    They sum to 1 for a sample. At distance 0 of some clusters, these have equal shares, up to rounding."""
    data = clusterer.prediction_data_
    distances = np.empty((len(X), len(data.exemplars)))
    for k, exemplars in enumerate(data.exemplars):
        tree = type(data.tree)(exemplars, metric=clusterer.metric, **clusterer._metric_kwargs)
        distances[:, k] = tree.query(X, k=1)[0][:, 0]
    shares = np.full(distances.shape, np.finfo(np.double).max / max(1, len(data.exemplars)))
    np.divide(1.0, distances, out=shares, where=distances != 0)
    sums = np.zeros(len(X))
    for k in range(shares.shape[1]):  # in the order of the original
        sums += shares[:, k]
    return np.asarray(shares / sums[:, None])


def _joins(clusterer: Any, clusters: NDArray[np.intp]) -> NDArray[np.float64]:
    """Returns [clusters of the tree, selected clusters] the densities below which both are in one cluster; NaN if one
    is inside the other or both are the same. Both ascend. clusters: the numbers of the selected ones."""
    tree = clusterer.prediction_data_.cluster_tree
    root = int(clusterer._condensed_tree["parent"].min())
    count = int(clusterer._condensed_tree["parent"].max()) + 1 - root
    parent, born = np.zeros(count, np.intp), np.zeros(count)
    parent[tree["child"] - root], born[tree["child"] - root] = tree["parent"] - root, tree["lambda_val"]
    return joins_of(parent, born, clusters - root)


def _heights(joins: NDArray[np.float64], cluster: NDArray[np.intp], own: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the densities [samples, selected clusters] below which a sample and a selected cluster are in one
    cluster. joins: from _joins(). cluster: the row of joins of the smallest cluster that holds each sample. own: the
    density at which the sample leaves it: the result if one of both clusters is inside the other."""
    found = joins[cluster]
    return np.where(np.isnan(found), own[:, None], found)


def _largest(data: Any, root: int, count: int) -> NDArray[np.float64]:
    """Returns for each cluster the largest density at which a sample or another cluster leaves it; NaN for a tree that
    has only the root. [count] by number - root"""
    largest = np.full(count, np.nan)
    for c, value in data.leaf_max_lambdas.items():
        largest[int(c) - root] = value
    return largest


def _vectors_of_all(clusterer: Any) -> NDArray[np.float64]:
    """Returns the membership vectors [samples, selected clusters] of the fitted samples; zeros [samples] if no cluster
    is selected. Raises NotServed as _root_of()."""
    data, tree, clusters = clusterer.prediction_data_, clusterer._condensed_tree, _selected(clusterer)
    if not len(clusters):
        return np.zeros(len(data.raw_data))
    root = _root_of(tree, clusters)
    joins = _joins(clusterer, clusters)
    largest = _largest(data, root, len(joins))
    rows = tree[tree["child_size"] == 1]
    cluster, own = np.empty(len(rows), np.intp), np.empty(len(rows))
    cluster[rows["child"]], own[rows["child"]] = rows["parent"] - root, rows["lambda_val"]
    scores, inside = np.empty((len(rows), len(clusters))), np.empty(len(rows))
    for block in blocks_of(len(rows), len(clusters)):
        heights = _heights(joins, cluster[block], own[block])
        with np.errstate(divide="ignore", invalid="ignore"):
            scores[block] = np.exp(-((largest[cluster[block]] + 1e-8)[:, None] / heights))
        most = np.maximum(largest[clusters[heights.argmax(axis=1)] - root], own[block])
        with np.errstate(divide="ignore", invalid="ignore"):
            inside[block] = heights.max(axis=1) / most
    scores = np.exp(scores - np.nanmax(scores))
    scores /= scores.sum(axis=1)[:, None]
    result = _exemplar_shares(clusterer, data.raw_data) * scores
    result /= result.sum(axis=1)[:, None]
    return np.asarray(result * inside[:, None])


def _vectors_of_new(clusterer: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the membership vectors [n, selected clusters] of new samples [n, features]. Raises as _root_of()."""
    data, tree, clusters = clusterer.prediction_data_, clusterer._condensed_tree, _selected(clusterer)
    root = _root_of(tree, clusters)
    found = _neighbors(clusterer, X)
    left, cluster = tree["lambda_val"][found.row], tree["parent"][found.row].astype(np.intp) - root
    densities = np.where(left <= found.densities, left, found.densities)
    joins = _joins(clusterer, clusters)
    largest = _largest(data, root, len(joins))
    result = _exemplar_shares(clusterer, X) ** 0.5
    for block in blocks_of(len(X), len(clusters)):
        own, most = densities[block], largest[cluster[block], None]
        # The original passes the density as float32 here.
        scores = most - _heights(joins, cluster[block], own.astype(np.float32).astype(np.float64))
        scores = most / np.where(scores <= 0, 1e-8, scores)
        scores = np.exp(scores - np.nanmax(scores, axis=1)[:, None])
        scores /= scores.sum(axis=1)[:, None]
        product = result[block] * scores**2.0
        product /= product.sum(axis=1)[:, None]
        heights = _heights(joins, cluster[block], own)
        nearest = clusters[heights.argmax(axis=1)] - root
        result[block] = product * (heights.max(axis=1) / (np.maximum(own, largest[nearest]) + 1e-8))[:, None]
    return result
