"""HDBSCAN with the interface of scikit-learn, and the attributes of the package hdbscan."""

from __future__ import annotations

from typing import Any, Callable, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._docs import documented
from ._engine import Dataset, Engine, engine_for
from ._estimator import NotFittedError, _Clusterer, _threads_of, validate_data
from ._frames import metric_of
from ._hierarchy import (
    CondensedTree, Hierarchy, MinimumSpanningTree, SingleLinkageTree, hierarchy_loaded, hierarchy_of_distances,
    selection_options,
)
from ._gpu_arrays import as_gpu_points, as_output, is_on_gpu, moved_to, output_of, to_host
from ._parameters import as_count, as_flag
from ._precomputed import is_precomputed, is_sparse, is_symmetric, to_dense
from ._tasks import made_by
from ._units import Input

_INFINITE, _MISSING = -2, -3
_SEARCHED = (
    "euclidean", "l2", "manhattan", "l1", "cityblock", "chebyshev", "minkowski", "cosine", "haversine", "greatcircle",
)
_ASYMMETRIC = (
    "The precomputed distance matrix is expected to be symmetric, however {}. Please verify that the distance matrix"
    " was constructed correctly."
)
# Metrics with the triangle inequality; others may have it.
_TRIANGULAR = (
    "euclidean", "l2", "manhattan", "l1", "cityblock", "chebyshev", "infinity", "minkowski", "p", "haversine",
)
_SAME_SUM = 1 + 1e-12
_OTHER_NAMES = {"infinity": "chebyshev", "p": "minkowski"}
_ALGORITHMS = (  # of scikit-learn, and of hdbscan
    "auto", "brute", "kd_tree", "ball_tree",
    "best", "generic", "prims_kdtree", "prims_balltree", "boruvka_kdtree", "boruvka_balltree",
)
_CENTERS = (None, "centroid", "medoid", "both")


class _Unmade:
    """A condensed tree that made() computes when it is needed. Until then, select() selects clusters without it."""

    def __init__(self, data: Dataset, min_samples: int, min_cluster_size: int) -> None:
        self._data = data
        self._sizes = min_samples, min_cluster_size

    def select(self, selection: Any, on_gpu: bool) -> Any:
        """Returns the selected clusters, and frees the engine's points. on_gpu: whether arrays may stay on the GPU."""
        found = made_by(_core.start_hdbscan, self._data._data, *self._sizes, selection, on_gpu)
        self._data = Dataset(self._data.engine, self._data._given, is_lazy=True)
        return found

    def made(self) -> CondensedTree:
        tree = hierarchy_loaded(self._data, self._sizes[0])
        assert isinstance(tree, Hierarchy)
        return tree.condense(self._sizes[1])


@documented
class HDBSCAN(_Clusterer):
    """HDBSCAN*, exact, with the interface of scikit-learn and the same clusters for any order of rows.

    Merges at one distance are one merge of all its clusters, so the clusters do not depend on the order of rows. If no
    two merges are at one distance, which needs min_samples <= 2 or luck, they are the clusters of scikit-learn; else a
    few samples at the edges of clusters differ. Clusters are numbered by the smallest index of their samples, which
    scikit-learn does not do.

    Parameters
    ----------
    min_cluster_size : int, default=5
        The minimum number of samples in a group for that group to be considered a cluster. If there are fewer finite
        samples, and min_samples is given, their number takes its place.
    min_samples : int, default=None
        The number of samples in a neighborhood for a point to be considered as a core point, the point itself included,
        as scikit-learn counts. (hdbscan and cuML do not count the point itself: their min_samples is one less.) The
        default is min_cluster_size. More than there are finite samples is an error.
    cluster_selection_epsilon : float, default=0.0
        A distance threshold. Clusters below this value will be merged.
    max_cluster_size : int, default=None
        A limit to the size of clusters returned by the "eom" cluster selection algorithm.
    {metric}
        Here names of columns and units are ignored, so columns must have the order of the metric. Also "precomputed": X
        holds distances, as an array or sparse matrix. Other names of scikit-learn, and functions of two samples, are
        computed by scikit-learn for all pairs of samples, which takes 8 * n_samples**2 bytes.
    {metric_params}
    alpha : float, default=1.0
        Only 1.0 is supported.
    algorithm, leaf_size, copy
        They exist for compatibility with scikit-learn, and change no result. An algorithm with which scikit-learn
        refuses the metric or a sparse X is an error here, too. X is never written to.
    {n_jobs}
    cluster_selection_method : {"eom", "leaf"}, default="eom"
        The method used to select clusters from the condensed tree: excess of mass, or the leaves of the tree.
    allow_single_cluster : bool, default=False
        Whether a single cluster, of all samples, may be selected.
    store_centers : {None, "centroid", "medoid", "both"}, default=None
        Which, if any, cluster centers to compute and store.
    {backend} {memory}
    engine : Engine, optional
        An engine that was made before. backend, memory and n_jobs belong to it and must not be given together with it.
    prediction_data, gen_min_span_tree, approx_min_span_tree, core_dist_n_jobs
        They exist for compatibility with hdbscan, and change nothing: trees are exact, and predictions need no
        preparation.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each sample: -1 for noise, -2 for samples with infinite elements, -3 for samples with NaN. A
        sample with both inf and -inf gets -3, as in scikit-learn, because its sum is NaN.
    probabilities_ : ndarray of shape (n_samples,)
        The strength with which each sample is a member of its cluster, from 0 to 1: 0 for noise, and, if a cluster ends
        at eps 0 as equal samples do, for its samples that leave before; NaN for samples labelled -3.
    centroids_, medoids_ : ndarray of shape (n_clusters, n_features)
        The mean of the samples of each cluster, weighted by their probabilities, and the sample with the smallest
        sum of weighted distances to the others; of equal sums, the first in the order of coordinates. They exist if
        store_centers names them, or is "both". Medoids take up to n_samples**2 distances of each cluster; far fewer if
        the metric is euclidean, manhattan, chebyshev, minkowski or haversine. With greatcircle, scale or box they are a
        ValueError.
    cluster_persistence_ : ndarray of shape (n_clusters,)
        How persistent each cluster is, from 0 to 1. It is 1 for all if any cluster of the tree ends at eps 0, or if
        none ends at a finite eps.
    outlier_scores_ : ndarray of shape (n_samples,)
        The GLOSH score of each sample, from 0 to 1; NaN for samples that are not finite.
    hierarchy_ : Hierarchy
        The tree of all clusters of the finite samples. A GPU selects clusters without it. Then it is made of X when an
        attribute or a function first needs it: do not change X before.
    condensed_tree_ : CondensedTree
        The clusters of at least min_cluster_size finite samples.
    single_linkage_tree_ : SingleLinkageTree
        The hierarchy of the finite samples, with the functions of the package hdbscan.
    minimum_spanning_tree_ : MinimumSpanningTree
        The minimum spanning tree of the finite samples, with the functions of the package hdbscan.
    exemplars_ : list of ndarray of shape (n_exemplars, n_features)
        For each cluster the samples at which it is densest (`CondensedTree.exemplars`).
    {feature_names}

    Examples
    --------
    >>> labels = epsflow.HDBSCAN(min_cluster_size=25, min_samples=10).fit_predict(X)
    """

    _fitted_points_: Any  # the finite samples, on a GPU if X was; None if the model was fitted with distances
    _trees: Any  # a CondensedTree or an _Unmade
    _infinite: Any  # [n_samples] masks; None if all samples are finite
    _missing: Any

    def __init__(
        self, min_cluster_size: int = 5, min_samples: Optional[int] = None, cluster_selection_epsilon: float = 0.0,
        max_cluster_size: Optional[int] = None, metric: Union[str, Callable[..., float]] = "euclidean",
        metric_params: Optional[dict[str, Any]] = None, alpha: float = 1.0, algorithm: str = "auto",
        leaf_size: int = 40,
        n_jobs: Optional[int] = None, cluster_selection_method: str = "eom", allow_single_cluster: bool = False,
        store_centers: Optional[str] = None, copy: Any = True, *,
        backend: str = "auto", memory: Union[int, str, None] = None, engine: Optional[Engine] = None,
        prediction_data: Any = False, gen_min_span_tree: Any = False, approx_min_span_tree: Any = True,
        core_dist_n_jobs: Any = None,
    ) -> None:
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.cluster_selection_epsilon = cluster_selection_epsilon
        self.max_cluster_size = max_cluster_size
        self.metric = metric
        self.metric_params = metric_params
        self.alpha = alpha
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs
        self.cluster_selection_method = cluster_selection_method
        self.allow_single_cluster = allow_single_cluster
        self.store_centers = store_centers
        self.copy = copy
        self.backend = backend
        self.memory = memory
        self.engine = engine
        self.prediction_data = prediction_data
        self.gen_min_span_tree = gen_min_span_tree
        self.approx_min_span_tree = approx_min_span_tree
        self.core_dist_n_jobs = core_dist_n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = not is_precomputed(self.metric)
        return tags

    @documented
    def fit(self, X: Any, y: Any = None) -> HDBSCAN:
        """Find the clusters of X.

        Parameters
        ----------
        X : array or table of shape (n_samples, n_features), or (n_samples, n_samples) for metric="precomputed"
            The samples, one per row, or their distances, as scikit-learn takes them: an array, a sparse matrix, or a
            table that NumPy converts to an array, such as of pandas, polars or Arrow. Units are ignored. Values become
            float64; without scikit-learn, float32 and sparse values keep their type. Sparse samples are made dense,
            within the memory limit and with a notice. X is never written to. Rows with NaN or infinite elements are
            left out, and labelled -3 or -2; but distances that are NaN are a ValueError. If X is an array of CuPy,
            PyTorch or JAX on a GPU, labels_ and probabilities_ are arrays of that library on that GPU. If X is an array
            of Numba, they are on the host.
        y : Ignored
            Not used, present here for API consistency by convention.

        Returns
        -------
        self : HDBSCAN
            Returns a fitted instance of self.

        {errors}
        """
        self._check_parameters(X)
        if is_on_gpu(X):
            return self._fit_on_gpu(X)
        return self._fit_on_host(X)

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int32]:
        """Call `fit` and return labels_. y is ignored."""
        return self.fit(X).labels_

    @property
    def hierarchy_(self) -> Hierarchy:
        return self.condensed_tree_.hierarchy

    @property
    def condensed_tree_(self) -> CondensedTree:
        if not hasattr(self, "_trees"):
            raise NotFittedError("This HDBSCAN instance is not fitted yet. Call 'fit' with appropriate arguments.")
        if isinstance(self._trees, _Unmade):
            self._trees = self._trees.made()
        tree: CondensedTree = self._trees
        tree._selected = self._selected
        return tree

    @property
    def _points_(self) -> Any:
        """The finite samples on the host, of the type that _points() returns, or float64 if they were on a GPU. None if
        the model was fitted with distances."""
        if is_on_gpu(self._fitted_points_):
            self._fitted_points_ = np.ascontiguousarray(to_host(self._fitted_points_), np.float64)
        return self._fitted_points_

    def __getstate__(self) -> Any:
        if hasattr(self, "_trees"):
            self.condensed_tree_, self._points_  # noqa: B018
        return super().__getstate__()

    @property
    def outlier_scores_(self) -> NDArray[np.float64]:
        return self._of_all(self.condensed_tree_.outlier_scores(), np.nan, np.nan)

    @property
    def single_linkage_tree_(self) -> SingleLinkageTree:
        return SingleLinkageTree(self.hierarchy_)

    @property
    def minimum_spanning_tree_(self) -> MinimumSpanningTree:
        return MinimumSpanningTree(self.hierarchy_, self._points_)

    @property
    def exemplars_(self) -> list[NDArray[np.float64]]:
        samples = self.condensed_tree_.exemplars(self._selected)
        if self._points_ is None:
            raise AttributeError(
                "exemplars_ are points, and the model was fitted with distances: use condensed_tree_.exemplars()"
            )
        return [self._points_[rows] for rows in samples]

    @property
    def _single_linkage_tree_(self) -> NDArray[Any]:
        """The tree as scikit-learn's functions take it."""
        rows = self.hierarchy_.linkage_matrix()
        names = [("left_node", np.intp), ("right_node", np.intp), ("value", np.float64), ("cluster_size", np.intp)]
        tree = np.empty(len(rows), np.dtype(names, align=True))
        for k, (name, _) in enumerate(names):
            tree[name] = rows[:, k]
        return tree

    def dbscan_clustering(self, cut_distance: float, min_cluster_size: int = 5) -> NDArray[np.int32]:
        """Return the clusters of DBSCAN without border points, at a distance.

        Parameters
        ----------
        cut_distance : float
            Samples are connected if their mutual reachability distance is less than this, as in scikit-learn.
        min_cluster_size : int
            Clusters with fewer core samples become noise.

        Returns
        -------
        ndarray of shape (n_samples,)
            -1 for noise, -2 for samples with infinite elements, -3 for samples with NaN.
        """
        return self._of_all(self.single_linkage_tree_.get_clusters(cut_distance, min_cluster_size), _INFINITE, _MISSING)

    # ------------------------------------------------------------ parts of fit()

    def _fit_on_host(self, X: Any) -> HDBSCAN:
        points, masks = (self._distances(X), (None, None)) if is_precomputed(self.metric) else self._points(X)
        min_samples, size = self._sizes(points.shape[0])
        self._infinite, self._missing = masks
        self._fitted_points_ = None if is_precomputed(self.metric) else points
        data = None if is_precomputed(self.metric) else self._searched(points)
        if data is not None and data.engine.backend == "gpu":
            self._trees = _Unmade(data, min_samples, size)
            found = self._trees.select(self._selection(), on_gpu=False)
        else:
            self._trees = self._hierarchy(points, min_samples, data).condense(size)
            found = made_by(self._trees._tree.start_select, self._selection())
        self._keep(found)
        self.labels_ = self._of_all(found.labels, _INFINITE, _MISSING)
        self.probabilities_ = self._of_all(found.probabilities, 0, np.nan)
        if self.store_centers is not None:
            self._find_centers(points, found.labels, found.probabilities)
        return self

    def _fit_on_gpu(self, X: Any) -> HDBSCAN:
        """Leaves labels and probabilities on the GPU of X, made there or copied from the host; for an array of Numba,
        leaves them on the host."""
        output = output_of(X)
        found = None if self.store_centers is not None or output == "numpy" else self._found_on_gpu(X)
        if found is None:
            self._fit_on_host(to_host(X))
        else:
            self._keep(found)
            self.labels_, self.probabilities_ = found.labels, found.probabilities
            if found.gpu_labels is not None:
                self.labels_ = as_output(lambda: found.gpu_labels, "<i4", output)
                self.probabilities_ = as_output(lambda: found.gpu_probabilities, "<f8", output)
                return self
        self.labels_, self.probabilities_ = moved_to(X, self.labels_), moved_to(X, self.probabilities_)
        return self

    def _found_on_gpu(self, X: Any) -> Any:
        """Returns the clusters of X without a copy of it. Returns None if X has to be copied to the host: if elements
        are not finite, not float32 or float64, or not in the order of rows, if scikit-learn has to compute distances,
        or if X or a parameter is invalid, for which the fit of the copy raises the error."""
        try:
            data = self._searched(as_gpu_points(X))
            if data is None:
                return None
            min_samples, size = self._sizes(len(data))
            unmade = _Unmade(data, min_samples, size)
            found = unmade.select(self._selection(), on_gpu=True)
        except (TypeError, ValueError):
            return None  # the copy has the error, if it is one
        self._validate_on_gpu(X.shape)
        self._infinite = self._missing = None
        self._trees, self._fitted_points_ = unmade, X
        return found

    def _selection(self) -> Any:
        return selection_options(
            self.cluster_selection_method, self.cluster_selection_epsilon, self.max_cluster_size,
            self.allow_single_cluster,
        )

    def _keep(self, found: Any) -> None:
        self._selected = np.asarray(found.nodes).astype(np.intp)
        self.cluster_persistence_ = np.asarray(found.persistence)

    def _sizes(self, n: int) -> tuple[int, int]:
        """Returns min_samples and min_cluster_size for n samples, the latter at most n. Raises ValueError if n is 1 or
        less than min_samples, and for invalid parameters; TypeError."""
        if n == 1:
            raise ValueError("n_samples=1 while HDBSCAN requires more than one sample")
        min_samples = as_count(self.min_cluster_size if self.min_samples is None else self.min_samples, "min_samples")
        if min_samples > n:
            raise ValueError(f"min_samples ({min_samples}) must be at most the number of samples in X ({n})")
        return min_samples, min(as_count(self.min_cluster_size, "min_cluster_size"), n)

    def _check_parameters(self, X: Any) -> None:
        if as_count(self.min_cluster_size, "min_cluster_size") < 2:
            raise ValueError(f"min_cluster_size is {self.min_cluster_size!r}; it is a whole number >= 2")
        if self.algorithm not in _ALGORITHMS:
            raise ValueError(f"algorithm is {self.algorithm!r}; it is one of {', '.join(_ALGORITHMS)}")
        if self.store_centers not in _CENTERS:
            raise ValueError(f"store_centers is {self.store_centers!r}; it is None, 'centroid', 'medoid' or 'both'")
        if self.alpha != 1:
            raise ValueError(f"alpha is {self.alpha!r}; only 1.0 is supported")
        as_flag(self.allow_single_cluster, "allow_single_cluster")
        if self.max_cluster_size is not None:
            as_count(self.max_cluster_size, "max_cluster_size")
        if not self.cluster_selection_epsilon >= 0:
            raise ValueError(f"cluster_selection_epsilon is {self.cluster_selection_epsilon!r}; it is a number >= 0")
        self._selection()  # raises for an unknown cluster_selection_method
        if is_precomputed(self.metric) and self.store_centers is not None:
            raise ValueError("Cannot store centers when using a precomputed distance matrix.")
        if self.algorithm in ("kd_tree", "ball_tree"):
            self._check_tree_metric()
            if is_sparse(X) and not is_precomputed(self.metric):
                raise ValueError("Sparse data matrices only support algorithm `brute`.")

    def _check_tree_metric(self) -> None:
        """Raises scikit-learn's ValueError if it is installed and its tree lacks the metric, except for greatcircle."""
        try:
            from sklearn.neighbors import BallTree, KDTree
        except ImportError:
            return
        tree, name = (KDTree, "KDTree") if self.algorithm == "kd_tree" else (BallTree, "BallTree")
        if self.metric not in tree.valid_metrics and self.metric != "greatcircle":
            raise ValueError(
                f"{self.metric} is not a valid metric for a {name}-based algorithm. Please select a different metric."
            )

    def _points(self, X: Any) -> tuple[NDArray[Any], Any]:
        """Returns the finite samples, and two masks [n_samples], infinite and missing, or None for each if all are
        finite. A sample is missing if its sum is NaN, else infinite. Samples are float64; without scikit-learn, float32
        and sparse X keep their type. Raises ValueError, also if no sample is finite; TypeError."""
        X = validate_data(self, X, accept_sparse=["csr", "lil"], ensure_all_finite=False, dtype=np.float64)
        points = np.ascontiguousarray(to_dense(X, self.memory, self.engine))
        with np.errstate(invalid="ignore"):
            sums = points.sum(axis=1)
        whole = np.isfinite(points).all(axis=1)
        if whole.all():
            return points, (None, None)
        if not whole.any():
            raise ValueError(
                f"all {len(points)} samples of X have NaN or infinite elements, and HDBSCAN leaves such samples out:"
                " fill in values, or leave out the columns that lack them"
            )
        return points[whole], (np.isinf(sums) & ~whole, np.isnan(sums))

    def _distances(self, X: Any) -> Any:
        if is_sparse(X):
            table = validate_data(self, X, accept_sparse=["csr", "lil"], dtype=np.float64).tocsr()
        else:
            table = validate_data(self, X, ensure_all_finite=False, dtype=np.float64)
            if np.isnan(table).any():
                raise ValueError("np.nan values found in precomputed-dense")
        if table.shape[0] != table.shape[1]:
            raise ValueError(_ASYMMETRIC.format(f"it has shape {table.shape}"))
        if not is_symmetric(table):
            raise ValueError(_ASYMMETRIC.format("its values appear to be asymmetric"))
        if not is_sparse(table):
            return table
        min_samples = as_count(self.min_cluster_size if self.min_samples is None else self.min_samples, "min_samples")
        if (np.diff(table.indptr) < min_samples).any():
            raise ValueError(
                f"There exists points with fewer than {min_samples} neighbors: each row of the sparse distance matrix"
                f" needs at least min_samples={min_samples} entries; add neighbors, or lower min_samples"
            )
        return table

    def _hierarchy(self, points: Any, min_samples: int, data: Optional[Dataset] = None) -> Hierarchy:
        """Returns the hierarchy of points, or of distances if the metric is "precomputed". data: the points, if they
        are loaded. Raises ValueError for a sparse matrix with several connected components."""
        if is_precomputed(self.metric):
            tree = hierarchy_of_distances(points, min_samples)
            if is_sparse(points) and np.isinf(np.asarray(tree.nodes["eps"])[-1:]).any():
                raise ValueError(
                    "The sparse distance matrix has more than one connected component. HDBSCAN cannot be performed on a"
                    " disconnected graph: add distances between the components, or cluster each on its own"
                )
            return tree
        data = self._searched(points) if data is None else data
        if data is None:
            return hierarchy_of_distances(all_pairs(points, self.metric, self.metric_params), min_samples)
        found = hierarchy_loaded(data, min_samples)
        assert isinstance(found, Hierarchy)
        return found

    def _searched(self, points: Any) -> Optional[Dataset]:
        """Returns a data set of points; None if epsflow does not search their metric, so that all_pairs() is needed.
        For haversine this depends on the points: they must be on a sphere (_is_on_sphere())."""
        params = dict(self.metric_params or {})
        name = _OTHER_NAMES.get(self.metric, self.metric) if isinstance(self.metric, str) else self.metric
        if name not in _SEARCHED or "w" in params or (name == "haversine" and not _is_on_sphere(points)):
            return None
        given = Input(points, metric_of(points, name, params or None))
        return Dataset(
            engine_for(self.engine, given, self.backend, self.memory, _threads_of(self.n_jobs), "n_jobs"), given
        )

    def _of_all(self, values: NDArray[Any], infinite: float, missing: float) -> NDArray[Any]:
        """Returns [n_samples] the values of all samples; `values` itself if all are finite. values: of the finite
        samples. infinite, missing: the values of samples with infinite elements and with NaN. Needs a fitted model."""
        if self._infinite is None:
            return values
        all_values = np.empty((len(self._infinite), *values.shape[1:]), values.dtype)
        all_values[~(self._infinite | self._missing)] = values
        all_values[self._infinite] = infinite
        all_values[self._missing] = missing
        return all_values

    def _find_centers(
        self, points: NDArray[Any], labels: NDArray[np.int32], probabilities: NDArray[np.float64]
    ) -> None:
        count = len(self.cluster_persistence_)
        members = [np.flatnonzero(labels == c) for c in range(count)]
        if self.store_centers in ("centroid", "both"):
            means = [np.average(points[rows], weights=probabilities[rows], axis=0) for rows in members]
            self.centroids_ = np.array(means).reshape(count, points.shape[1])
        if self.store_centers in ("medoid", "both"):
            medoids = [points[rows[self._medoid(points[rows], probabilities[rows])]] for rows in members]
            self.medoids_ = np.array(medoids).reshape(count, points.shape[1])

    def _medoid(self, points: NDArray[Any], weights: NDArray[np.float64]) -> int:
        """Returns the row with the smallest weighted sum of distances. Takes some 64 MiB.

        Of equal sums it is the first in the order of coordinates, and sums that differ by rounding are equal. Rounding
        depends on the order of rows, so these are sorted.

        By the triangle inequality the sums of two rows differ by at most the sum of weights times their distance. So
        each sum bounds all others, and only rows that may have the smallest are summed (trimed, Newling & Fleuret
        2017). If a metric does not have the inequality, all rows are summed.
        """
        order = np.lexsort(points.T[::-1])
        points, weights = points[order], weights[order]
        total = weights.sum() if self.metric in _TRIANGULAR else 0.0
        size = max(1, min(2**21 // len(points), 16 if total else len(points)))
        # Rows near the mean come first.
        bounds = ((points - np.average(points, weights=weights, axis=0)) ** 2).sum(axis=1)
        bounds -= bounds.max()
        found = np.full(len(points), np.inf)
        while bounds.min() <= found.min() * _SAME_SUM:
            rows = np.argpartition(bounds, min(size, len(points)) - 1)[:size]
            distances = all_pairs(points, self.metric, self.metric_params, points[rows])
            found[rows] = sums = distances @ weights
            if total:
                # The error of haversine is 1e-8 on the far side of the sphere, others have 1e-15.
                slack = 1e-7 * (total * distances + sums[:, None])
                np.maximum(bounds, (np.abs(total * distances - sums[:, None]) - slack).max(axis=0), out=bounds)
            bounds[rows] = np.inf
        return int(order[np.argmax(found <= found.min() * _SAME_SUM)])

    def _fitted_points(self, what: str) -> NDArray[np.float64]:
        """Returns the finite samples on the host. what: the function that needs them, for the error. Raises
        NotFittedError, and ValueError if the model was fitted to distances."""
        self.condensed_tree_  # noqa: B018
        if self._points_ is None:
            raise ValueError(
                f"{what} needs points, and the model was fitted with distances, metric='precomputed': fit the points"
            )
        return np.asarray(self._points_)

    def _new_points(self, X: Any, what: str) -> NDArray[np.float64]:
        """Returns other samples as float64 on the host, checked against the fitted ones. Without scikit-learn, float32
        stays, and NaN and infinity are not refused. what: the function that needs the fitted ones, for the error.
        Raises as _fitted_points() and validate_data()."""
        self._fitted_points(what)
        return np.ascontiguousarray(validate_data(self, X, reset=False, dtype=np.float64))


def _is_on_sphere(points: NDArray[Any]) -> bool:
    """Returns whether rows are latitudes and longitudes in radians; scikit-learn takes any numbers."""
    if points.shape[1] != 2:
        return False
    latitude, longitude = np.abs(points).T
    return bool((latitude <= np.pi / 2).all() and (longitude <= 2 * np.pi).all())


def all_pairs(
    points: NDArray[Any], metric: Any, metric_params: Optional[dict[str, Any]], rows: Any = None
) -> NDArray[np.float64]:
    """Returns the distances [rows, points] from `rows`, which are samples like the points (default: all points), to all
    points. Euclidean distances are computed here, others by scikit-learn. Raises ValueError if scikit-learn is needed
    and not installed, if the metric or a parameter is only epsflow's, and if a distance by scikit-learn is NaN. For
    other invalid metrics and parameters it raises scikit-learn's errors."""
    params = dict(metric_params or {})
    rows = points if rows is None else rows
    if metric in ("euclidean", "l2") and not params:
        sums = np.zeros((len(rows), len(points)))
        for k in range(points.shape[1]):
            sums += (rows[:, k, None] - points[None, :, k]) ** 2
        return np.sqrt(sums)
    try:
        from sklearn.metrics import DistanceMetric, pairwise_distances
    except ImportError:
        raise ValueError(
            f"metric is {metric!r}, which scikit-learn computes, and it is not installed: install scikit-learn, or use"
            f" one of {', '.join(_SEARCHED)}"
        ) from None
    own = sorted({"scale", "box", "unit", "latitude_first"} & set(params))
    if own or metric == "greatcircle":
        what = f"metric_params={own}" if own else "metric='greatcircle'"
        raise ValueError(f"{what} serves no medoids: transform the columns, or use 'haversine'")
    try:
        measure = DistanceMetric.get_metric(metric, **params)
    except (TypeError, ValueError):  # it lacks some that pairwise_distances() has
        found = pairwise_distances(rows, points, metric=metric, **params)
    else:
        found = measure.pairwise(rows, points)
    if np.isnan(found).any():
        raise ValueError(f"metric {metric!r} is NaN for some pairs of samples: leave out constant or zero rows")
    return np.ascontiguousarray(found, dtype=np.float64)
