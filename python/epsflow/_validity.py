"""How well clusters are separated."""

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
    """How well clusters are separated, by density: the index DBCV.

    Attributes
    ----------
    score : float
        From -1 to 1: the mean of the clusters' scores, each weighted by its share of all points, noise included. Clusters of one point
        count as noise. 0 without clusters, NaN where just one has two points or more.
    error : float
        Its standard error, from samples of the large clusters; 0 where nothing was sampled.
    clusters : ndarray of shape (n_clusters,)
        The labels of the clusters, ascending. What follows is in this order.
    cluster_scores : ndarray of shape (n_clusters,)
        (separation - sparseness) / the larger of them. NaN for a cluster of one point.
    cluster_errors : ndarray of shape (n_clusters,)
        Their standard errors, as `error`.
    sparseness, separation : ndarray of shape (n_clusters,)
        The largest edge between inner points of a cluster's minimum spanning tree; the least mutual reachability distance between its
        inner points and those of another cluster.
    sizes : ndarray of shape (n_clusters,)
        Points of each cluster.
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
    """How well the clusters of a labelling are separated: density-based clustering validation (Moulavi et al. 2014).

    It is the index of hdbscan.validity.validity_index, in memory for the points alone, but does not depend on the order of the rows. The
    minimum spanning tree of a cluster is hardly ever unique, and of edges that are equally long hdbscan takes those to the first rows: its
    scores differ by some tenths between orders of the same rows. Here edges lead to the densest points. Up to rounding, the score is that
    of hdbscan for rows sorted by core distance (and equal ones by their coordinates). It does not depend on the unit of X, either.

    The time is that of all pairs of points within each cluster.

    Parameters
    ----------
    {points} {labels}
    metric, metric_params
        There to say so where the distance is another one: the index is of Euclidean distances.
    sample, samples : int
        A cluster of more than samples * sample points is represented by so many disjoint samples of it, of this size each. Its error is
        by how much these differ. Scores of samples tend to be too high, which the error does not know: compare them with scores of
        samples of the same size. With a larger sample a score is exact, and takes longer.
    {threads}

    Returns
    -------
    Validity

    Raises
    ------
    {errors}
    ValueError
        Also for any metric but "euclidean".

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
