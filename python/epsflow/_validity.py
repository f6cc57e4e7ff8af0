"""Validity: how well clusters are separated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_host_points
from ._catalog import require_labels
from ._compare import as_labels
from ._docs import documented
from ._frames import metric_of
from ._gpu_arrays import on_host
from ._parameters import as_count, as_options
from ._tasks import filled, made_by


@dataclass(frozen=True, eq=False)
class Validity:
    """The separation of clusters by density: the index DBCV.

    Attributes
    ----------
    score : float
        From -1 to 1: the sum of the clusters' scores, each times the cluster's share of all points. So noise, which
        includes clusters of one point, counts as 0. 0 without clusters, NaN if exactly one cluster has two points or
        more.
    error : float
        The standard error of the score, from samples of large clusters; 0 if nothing was sampled.
    clusters : ndarray of shape (n_clusters,)
        The labels of the clusters, ascending. The other arrays have the same order.
    cluster_scores : ndarray of shape (n_clusters,)
        (separation - sparseness) / the larger of the two; after sampling, the mean of this over the samples. NaN for a
        cluster of one point, if no other cluster has two points or more, and if both numbers are 0.
    cluster_errors : ndarray of shape (n_clusters,)
        The standard errors of cluster_scores.
    sparseness, separation : ndarray of shape (n_clusters,)
        The longest edge between inner points (those with two edges or more) of a cluster's minimum spanning tree, or
        its longest edge if there is none between inner points; the smallest mutual reachability distance between its
        inner points and the inner points of another cluster. After sampling, both are means over the samples. Both are
        NaN for a cluster of one point; separation is infinite if no other cluster has two points or more.
    sizes : ndarray of shape (n_clusters,)
        The number of points of each cluster.
    """

    score: float
    error: float
    clusters: NDArray[np.int32]
    cluster_scores: NDArray[np.float64]
    cluster_errors: NDArray[np.float64]
    sparseness: NDArray[np.float64]
    separation: NDArray[np.float64]
    sizes: NDArray[np.int64]


@documented
def validity(
    X: Any, labels: Any, *, metric: str = "euclidean", metric_params: dict[str, Any] | None = None, sample: int = 5000,
    samples: int = 4, threads: int | None = None,
) -> Validity:
    """Return how well the clusters of a labelling are separated: density-based clustering validation (DBCV).

    The index is defined by Moulavi et al. (2014). It is the index of hdbscan.validity.validity_index, but needs memory
    only for the points and does not depend on the order of the rows. The minimum spanning tree of a cluster is hardly
    ever unique. Of equally long edges hdbscan takes the edges to the first rows, so its scores differ by some tenths
    between orders of the same rows. Here edges lead to the densest points. Up to rounding, the score equals hdbscan's
    for rows that are sorted by core distance (then by coordinates). It does not depend on the unit of X either.

    The time is proportional to the number of pairs of points within each cluster; samples of large clusters reduce it.

    Parameters
    ----------
    {points} {labels}
    metric, metric_params
        The index is defined for Euclidean distances; any other metric, "scale" and "box" are errors. Points on a GPU
        are copied to the host. Sparse points are an error.
    sample, samples : int
        At least 2 each. If a cluster has more than samples * sample points, it is represented by `samples` disjoint
        samples of `sample` points, and its error is derived from their differences. Scores of samples tend to be too
        high, which the error does not cover: compare them with scores of samples of the same size. Scores are exact,
        but take longer, if samples * sample is at least the size of the largest cluster.
    {threads}

    Returns
    -------
    Validity

    {errors}
    ValueError
        Also if the metric is not "euclidean", or if sample or samples is below 2.

    Examples
    --------
    >>> result = epsflow.sweep(X, eps=[0.1, 0.2, 0.3], min_samples=10)
    >>> best = max(result, key=lambda variant: np.nan_to_num(epsflow.validity(X, variant).score))
    """
    words = metric_of(X, metric, metric_params)
    points = as_host_points(on_host(X), words)
    of_points = as_labels(labels, "labels")
    require_labels(len(points), len(of_points))
    sample, samples = as_count(sample, "sample", 2), as_count(samples, "samples", 2)
    given = _core.Points(points, words, of_points)
    return filled(Validity, made_by(_core.start_validity, given, sample, samples, as_options(threads=threads)))
