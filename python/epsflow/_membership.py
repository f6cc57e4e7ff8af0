"""Clusters of other samples in a fitted HDBSCAN, and soft clustering: how strongly samples belong to each cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._hdbscan import HDBSCAN, all_pairs
from ._hierarchy import Hierarchy
from ._tasks import made_by


class _TreePositions(NamedTuple):
    """Positions of n samples in a condensed tree."""

    clusters: NDArray[np.intp]
    """[n] the row in `CondensedTree.clusters` of the smallest cluster that holds the sample."""
    eps: NDArray[np.float64]
    """[n] the eps at which the sample leaves this cluster."""


def approximate_predict(model: HDBSCAN, X: Any) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Find the clusters of other samples in a fitted HDBSCAN, without changing its tree, as the package hdbscan does.

    Each sample joins the fitted sample at the smallest mutual reachability distance: it is in the clusters of the tree
    that hold the fitted sample and are born at a larger eps than this distance, and leaves them at this distance. The
    mutual reachability distance of two samples is the largest of their distance and their core distances. If several
    fitted samples are at the smallest one, the sample joins the nearest of them; of several, the first in lexicographic
    order of coordinates. The search is exact, and its result is the same for any order of rows. A sample that equals a
    fitted sample counts both itself and the fitted sample as neighbors. So it may have a smaller core distance than
    the fitted sample, and may get a cluster even if the fitted sample is noise.

    Parameters
    ----------
    model : HDBSCAN
        Fitted to points (not to distances). If a GPU fitted the model, the first call builds the hierarchy from the
        fitted X, which must not have changed.
    X : array of shape (n, n_features)
        The samples, finite, on the host.

    Returns
    -------
    labels : ndarray of shape (n,)
        The cluster of each sample, -1 for noise.
    probabilities : ndarray of shape (n,)
        The strength of its membership, from 0 to 1.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError, TypeError
        If X has another number of columns or values that are not finite, or if the model was fitted to distances.
    """
    points = model._new_points(X, "approximate_predict()")
    tree = model.condensed_tree_
    positions, _ = _positions_of(model, points)
    deaths = np.asarray(tree._tree.deaths)
    labels = tree._labels_of_clusters(model._selected)[positions.clusters]
    if list(model._selected) == [0]:  # of the root only the densest samples are members
        labels[positions.eps > (model.cluster_selection_epsilon or deaths[0])] = -1
    densest = np.append(deaths[model._selected], np.inf)[labels]  # infinite for noise
    return labels, 1 / _ratio(np.maximum(positions.eps, densest), densest)


def all_points_membership_vectors(model: HDBSCAN) -> NDArray[np.float64]:
    """Return how strongly each fitted sample belongs to each cluster, as the package hdbscan defines it.

    Two shares are multiplied for each cluster. The first falls with the distance to the nearest exemplar of the cluster
    (`CondensedTree.exemplars`). The second falls with the joining eps: the smallest eps at which one cluster of the
    tree holds both the sample and the cluster. The product is divided by its sum over clusters, and multiplied by the
    probability of being in any cluster. This probability belongs to the cluster with the smallest joining eps: it is
    the eps at which that cluster ends or the eps at which the sample leaves the tree, whichever is smaller, divided by
    the joining eps. If several clusters have the smallest joining eps, the probability is the mean over them, weighted
    by the products; hdbscan takes one of them that depends on the order of rows.

    Parameters
    ----------
    model : HDBSCAN
        Fitted to points (not to distances).

    Returns
    -------
    ndarray of shape (n_samples, n_clusters)
        From 0 to 1. Sums of rows are at most 1, up to rounding. Samples with NaN have NaN, and samples with infinite
        elements 0.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError
        If the model was fitted to distances.
    """
    points = model._fitted_points("all_points_membership_vectors()")
    tree = model.condensed_tree_
    positions = _TreePositions(tree.last_cluster.astype(np.intp), tree.leaves_at)
    vectors = _vectors(model, points, positions, lambda ratios: np.exp(-ratios), 1, 1)
    return model._of_all(vectors, 0, np.nan)


def membership_vector(model: HDBSCAN, X: Any) -> NDArray[np.float64]:
    """Return how strongly other samples belong to each cluster of a fitted HDBSCAN, as the package hdbscan defines it.

    Samples get positions in the tree as by `approximate_predict`. Two shares are multiplied for each cluster, as in
    `all_points_membership_vectors`, but with other weights, as in hdbscan: the square root of the first share, and
    the square of the second, which here falls faster with eps. So both functions differ for equal samples.

    A sample that is far away is here only in some clusters that hold its neighbor, the fitted sample whose position
    it takes: in those that are born at a larger eps than the mutual reachability distance to the neighbor. hdbscan puts
    every sample into the smallest cluster that holds its neighbor, and so into clusters that it is not near to.

    Parameters
    ----------
    model : HDBSCAN
        Fitted to points (not to distances).
    X : array of shape (n, n_features)
        The samples, finite, on the host.

    Returns
    -------
    ndarray of shape (n, n_clusters)
        From 0 to 1. Sums of rows are at most 1, up to rounding.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError, TypeError
        If X has another number of columns or values that are not finite, or if the model was fitted to distances.
    """
    points = model._new_points(X, "membership_vector()")
    positions, neighbors = _positions_of(model, points)
    # A sample leaves no later than its neighbor.
    positions = positions._replace(eps=np.maximum(positions.eps, model.condensed_tree_.leaves_at[neighbors]))

    def score(ratios: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return 1 / (1 - 1 / ratios)

    return _vectors(model, points, positions, score, 0.5, 2)


def _positions_of(model: HDBSCAN, points: NDArray[Any]) -> tuple[_TreePositions, NDArray[np.intp]]:
    """Returns the positions of new points [n, features], and the indices [n] of the fitted samples that they join. A
    point is in the smallest cluster that holds the fitted sample and is born above the point's eps, or in the root."""
    neighbors, eps = _new_neighbors(model, model._points_, model.hierarchy_, points)
    tree = model.condensed_tree_
    births, parents = np.asarray(tree._tree.births), np.asarray(tree._tree.parents)
    clusters = tree.last_cluster[neighbors].astype(np.intp)
    while (climbs := (clusters > 0) & (births[clusters] <= eps)).any():
        clusters[climbs] = parents[clusters[climbs]]
    return _TreePositions(clusters, eps), neighbors


def _new_neighbors(
    model: HDBSCAN, known: NDArray[Any], tree: Hierarchy, points: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Returns for each point the index of the known sample at the smallest mutual reachability distance, and this
    distance. Both are [n].

    If several samples have the smallest mutual reachability distance, the nearest of them is returned, and if several
    are equally near, the first in lexicographic order of coordinates. The mutual reachability distance is the largest
    of the distance and both core distances. The core distance of a point is its distance to the (min_samples - 1)-th
    nearest known sample, because the point counts itself, or 0 if min_samples is 1. known: [m, features]. tree: the
    hierarchy of the known samples.
    """
    data = model._searched(known)
    if data is not None:
        ids, eps = made_by(_core.start_new_neighbors, data._data, tree._tree, points)
        return np.where(np.isinf(eps), 0, ids).astype(np.intp), eps
    core, m = tree.core_distances, tree.min_samples
    neighbors, reach = np.empty(len(points), np.intp), np.empty(len(points))
    order = np.lexsort(known.T[::-1])
    for block in blocks_of(len(points), len(known)):
        distances = all_pairs(known, model.metric, model.metric_params, points[block])
        own = np.partition(distances, m - 2, axis=1)[:, m - 2] if m > 1 else np.zeros(len(distances))
        heights = np.maximum(np.maximum(distances, core), own[:, None])
        reach[block] = heights.min(axis=1)
        nearest = np.where(heights == reach[block, None], distances, np.inf)[:, order]
        neighbors[block] = order[nearest.argmin(axis=1)]
    return neighbors, reach


def blocks_of(rows: int, columns: int) -> list[slice]:
    """Returns slices of rows with about a million numbers each, so that a few arrays of one slice take 64 MiB."""
    step = max(1, 2**20 // max(1, columns))
    return [slice(first, first + step) for first in range(0, rows, step)]


def _vectors(
    model: HDBSCAN, points: NDArray[Any], positions: _TreePositions,
    score: Callable[[NDArray[np.float64]], NDArray[np.float64]], power: float, score_power: float,
) -> NDArray[np.float64]:
    """Returns membership vectors [n, selected clusters].

    score: a function of ratios, at least 1: the eps at which a sample and a selected cluster are in one cluster,
    divided by the eps at which the sample's own cluster ends. power, score_power: the exponents of the share by
    distance and of the share by score.
    """
    tree, selected = model.condensed_tree_, model._selected
    vectors = np.empty((len(points), len(selected)))
    if not len(selected):
        return vectors
    for label, exemplars in enumerate(model.exemplars_):  # first the distances to them
        vectors[:, label] = _new_neighbors(model, exemplars, model._hierarchy(exemplars, 1), points)[1]
    deaths = np.asarray(tree._tree.deaths)
    joins = joins_of(np.asarray(tree._tree.parents).astype(np.intp), np.asarray(tree._tree.births), selected)
    for block in blocks_of(len(points), len(selected)):
        clusters, own = positions.clusters[block], positions.eps[block, None]
        near = _inverse_shares(vectors[block])
        eps = np.where(np.isnan(joins[clusters]), own, joins[clusters])
        outlying = _softmax(score(_ratio(np.maximum(eps, deaths[clusters, None]), deaths[clusters, None])))
        products = _shares(near**power * outlying**score_power, outlying)
        lowest = eps.min(axis=1, keepdims=True)
        nearest = eps == lowest
        weights = _shares(np.where(nearest, products, 0), nearest)
        inside = (weights / _ratio(lowest, np.minimum(deaths[selected], own))).sum(axis=1, keepdims=True)
        vectors[block] = products * inside
    return vectors


def joins_of(
    parents: NDArray[np.intp], births: NDArray[np.float64], selected: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Returns for each cluster and each selected one the birth at which both are in one cluster; NaN if one is inside
    the other or both are the same. [clusters, selected clusters]

    parents: the parent of each cluster. The root is the first cluster, and parents come before their children. births:
    the eps, or the density, at which each cluster separates from its parent. selected: the numbers of clusters.
    """
    above = np.zeros((len(parents), len(selected)), bool)  # whether a selected cluster is in a cluster
    above[selected, np.arange(len(selected))] = True
    for c in range(len(parents) - 1, 0, -1):
        above[parents[c]] |= above[c]
    joins = np.full(above.shape, np.nan)
    for c in range(1, len(parents)):
        p = parents[c]
        apart = above[p] & ~above[c] & (selected != p)
        joins[c] = np.where(apart, births[c], joins[p])
    return joins


def _ratio(eps: NDArray[np.float64], densest: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns eps / densest, which is at least 1: 1 if both are 0, infinity if both are infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = eps / densest
    return np.where(np.isinf(eps), np.inf, np.where(np.isnan(found), 1.0, found))


def _shares(values: NDArray[np.float64], otherwise: NDArray[Any]) -> NDArray[np.float64]:
    """Returns rows divided by their sums, so that each sums to 1. otherwise: the rows in place of rows of zeros."""
    values = np.where(values.any(axis=1, keepdims=True), values, otherwise)
    return np.asarray(values / values.sum(axis=1, keepdims=True))


def _inverse_shares(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns shares [n, clusters] in inverse proportion to distances. Each row sums to 1. If distances of a row are 0,
    these have equal shares and the others 0."""
    nearest = distances.min(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        ratios = nearest / distances
    shares = np.where(distances == nearest, 1.0, ratios)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns exp(scores) divided by the sum of its row. Infinite scores share all equally."""
    largest = scores.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        shares = np.exp(np.where(scores == largest, 0.0, scores - largest))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
