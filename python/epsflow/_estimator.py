"""DBSCAN with the interface of scikit-learn."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_host_points, as_plain, as_weights
from ._columns import are_texts
from ._docs import documented
from ._engine import Dataset, Engine, cpu_options, engine_for
from ._explore import explore_loaded
from ._frames import metric_of
from ._gpu_arrays import as_gpu_points, indices_of, is_on_gpu, output_of, refuse_on_gpu, to_host
from ._metrics import Metric
from ._parameters import as_count, as_eps, as_options, as_threads
from ._precomputed import as_distances, cluster_distances, is_precomputed, refuse_beyond_table, to_dense
from ._sweep import sweep_loaded
from ._tasks import made_by, run_task
from ._units import Input, read, reference_of, require_reference

try:
    from sklearn.base import BaseEstimator, ClusterMixin
    from sklearn.exceptions import NotFittedError as NotFittedError  # other modules import it from here
    from sklearn.utils.validation import validate_data as validate_data
except ImportError:
    from ._plain_estimator import BaseEstimator, ClusterMixin, NotFittedError, validate_data


@dataclass
class _Fitted:
    """The data of predict(). fit() assigns it as a whole and last, because other threads may be predicting."""

    metric: Metric
    eps: float
    """In the unit of the metric, or of the columns of X."""
    reference: Any
    """The units, frame or coordinate system of the fitted X, which a later X must match: reference_of()."""
    labels: Any
    """[n_core] the labels of the core points: a copy, as the caller may change labels_."""
    components: Any
    """[n_core, n_features] the core points. On the host this is components_ itself, which is read-only: a copy would
    slow down large fits by some percent. On a GPU it is a copy."""
    kept: dict[Any, Any] = field(default_factory=dict)
    """At most one index of the core points, by the process and the options that it was made with."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "kept": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(self.components, np.ndarray):  # unpickled arrays are writeable
            self.components.setflags(write=False)

    def predictor(self, given: dict[str, Any]) -> Any:
        """Returns an index of the core points. The first call makes it. A later call makes another one if it runs in
        another process (after a fork) or with other options. given: the options of the engine by name. If backend is
        not "gpu", options other than backend, memory and threads are ignored. Raises TypeError, ValueError for invalid
        options; MemoryError if the index does not fit into memory, or if a requested GPU cannot be used; RuntimeError
        for other failures."""
        options = as_options(**given)
        if options["backend"] != "gpu":  # a GPU is started only on request
            options = {name: options[name] for name in ("backend", "memory", "threads")}
        made_with = (os.getpid(), *sorted(options.items()))
        predictor = self.kept.get(made_with)
        if predictor is None:
            labels = np.ascontiguousarray(to_host(self.labels), dtype=np.int32)
            points = as_host_points(to_host(self.components))
            predictor = made_by(_core.start_predictor, points, labels, self.eps, self.metric, options)
            self.kept.clear()
            self.kept[made_with] = predictor
        return predictor


class _Clusterer(ClusterMixin, BaseEstimator):
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.metric)
        return tags

    def _validate_on_gpu(self, shape: tuple[int, int]) -> None:
        """Sets n_features_in_ and removes feature_names_in_ as validate_data() does. Raises ValueError for 0 rows."""
        if shape[0] == 0:
            raise ValueError(f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required.")
        self.n_features_in_ = shape[1]
        self.__dict__.pop("feature_names_in_", None)


@documented
class DBSCAN(_Clusterer):
    """DBSCAN with the labels of sklearn.cluster.DBSCAN, on the CPU or on a GPU.

    Parameters
    ----------
    eps : float, default=0.5
        The maximum distance between two samples for one to be considered as in the neighborhood of the other.
    min_samples : int, default=5
        The number of samples (or total weight) in a neighborhood for a point to be considered as a core point. This
        includes the point itself.
    {metric}
        Also "precomputed": X holds distances. If they are not symmetric, the labels are scikit-learn's as well.
    {metric_params}
    algorithm, leaf_size
        Ignored. They exist for compatibility with scikit-learn.
    p : float, optional
        The power of the Minkowski metric to be used to calculate distance between points.
    {n_jobs} {backend} {memory}
    engine : Engine, optional
        An engine that was made before. backend, memory and n_jobs belong to it and must not be given together with it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each point, -1 for noise. labels_, core_sample_indices_ and components_ are on the GPU if X is
        (but not if X is an array of Numba).
    core_sample_indices_ : ndarray of shape (n_core,)
        The indices of the core points, ascending.
    components_ : ndarray of shape (n_core, n_features)
        The core points. If they are points on the host, the array is read-only, because `predict` uses it. If X holds
        distances, these are the rows of the core points.
    {feature_names}

    Examples
    --------
    >>> labels = epsflow.DBSCAN(eps=0.2, min_samples=10).fit_predict(X)
    """

    def __init__(
        self, eps: float = 0.5, *, min_samples: int = 5,
        metric: str = "euclidean", metric_params: dict[str, Any] | None = None, algorithm: str = "auto",
        leaf_size: int = 30, p: float | None = None, n_jobs: int | None = None,
        backend: str = "auto", memory: int | str | None = None, engine: Engine | None = None,
    ) -> None:
        self.eps = eps
        self.min_samples = min_samples
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.n_jobs = n_jobs
        self.backend = backend
        self.memory = memory
        self.engine = engine

    @documented
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DBSCAN:
        """Cluster X.

        Parameters
        ----------
        {X}
            If X is an array of CuPy, PyTorch or JAX on a GPU, the results are arrays of that library on that GPU, as
            scikit-learn has it for array API inputs. If X is an array of Numba, they are on the host. If metric is
            "precomputed", X holds distances on the host, of shape (n_samples, n_samples), dense or sparse. Pairs that a
            sparse X does not store are not neighbours.
        y : Ignored
            Not used, present here for API consistency by convention.
        {sample_weight}

        Returns
        -------
        self : DBSCAN
            Returns a fitted instance of self.

        {errors}
        """
        if is_precomputed(self.metric):
            return self._fit_distances(X, sample_weight)
        X = to_dense(X, self.memory, self.engine)
        metric = metric_of(X, self.metric, self.metric_params, self.p)
        min_samples = as_count(self.min_samples, "min_samples")
        if is_on_gpu(X):
            eps, output = as_eps(self.eps), output_of(X)
            given = Input(as_gpu_points(X), metric)
            self._validate_on_gpu(given.points.shape)
        else:
            given = _validated(self, X, metric)
            eps, output = as_eps(self.eps, given.unit), "numpy"
            X = given.points
        points: Any = given.points
        engine = engine_for(self.engine, given, self.backend, self.memory, _threads_of(self.n_jobs), "n_jobs")
        weights = _some_weight(sample_weight, len(points))
        result = sweep_loaded(
            Dataset(engine, given), eps, min_samples, sample_weight=weights, core=True, output=output
        )[0]
        if output == "numpy":
            self.labels_ = result._result.labels  # writeable, as scikit-learn's
            self.core_sample_indices_ = result.core_sample_indices
            self.components_ = to_host(X).take(self.core_sample_indices_, axis=0)
            self.components_.setflags(write=False)
            kept = self.labels_.take(self.core_sample_indices_), self.components_
        else:
            self.labels_ = result.labels
            self.core_sample_indices_ = indices_of(result.core)
            self.components_ = X[self.core_sample_indices_]
            kept = self.labels_[self.core_sample_indices_], X[self.core_sample_indices_]
        self._fitted: _Fitted | None = _Fitted(metric, eps, given.reference, *kept)
        return self

    def _fit_distances(self, X: Any, sample_weight: Any) -> DBSCAN:
        variant = as_eps(self.eps), as_count(self.min_samples, "min_samples")
        distances = as_distances(X)
        refuse_beyond_table(X, [variant[0]])
        X = validate_data(self, X, accept_sparse="csr")
        options = cpu_options(self.engine, self.backend, self.memory, _threads_of(self.n_jobs), "n_jobs")
        weights = _some_weight(sample_weight, distances.shape[0])
        result = cluster_distances(distances, [variant], weights, True, None, options, directed=True)[0]
        self._fitted = None
        self.labels_ = result.labels  # writeable, as scikit-learn's
        self.core_sample_indices_ = np.flatnonzero(result.core)
        self.components_ = X[self.core_sample_indices_].copy()
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Call `fit` and return labels_. y is ignored."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Find the clusters of other points, with the parameters of the fit.

        It runs on a GPU only if backend is "gpu" or `engine` was made with backend="gpu", in up to three dimensions (of
        the points as the metric transforms them), with the Euclidean norm and without a periodic box. Otherwise it runs
        on the CPU. Changes of `labels_`, `core_sample_indices_` and `components_` after `fit` have no effect. The first
        call sorts the core points. Later calls reuse the order, except with changed parameters, if a GPU is requested,
        in more than six dimensions, with another norm than the Euclidean one, in a periodic box, and if there are huge
        gaps between the points.

        Parameters
        ----------
        X : array or table of shape (n, n_features)
            The points, on the host.

        Returns
        -------
        ndarray of shape (n,)
            The lowest cluster among the core points within eps, as for a border point, else -1.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ValueError, TypeError
            If the model was fitted with distances (metric="precomputed"), if the points are on a GPU or not finite, if
            they have other columns, units, frames or coordinate systems than the points of `fit`, or if backend is
            "gpu" and epsflow was built without a GPU.
        MemoryError
            If the memory is too small, or if backend is "gpu" and no GPU can be used.
        """
        if not hasattr(self, "labels_"):
            raise NotFittedError(
                "This DBSCAN instance is not fitted yet. Call 'fit' with appropriate arguments before using 'predict'."
            )
        fitted = self._fitted
        if fitted is None:
            raise ValueError(
                "predict() searches points, and the model was fitted with distances, metric='precomputed': "
                "fit the points"
            )
        X = to_dense(X, self.memory, self.engine)
        points = _validated(self, X, fitted.metric, fitted).points
        given = {"backend": self.backend, "memory": self.memory, "threads": _threads_of(self.n_jobs)}
        predictor = fitted.predictor(given if self.engine is None else self.engine._arguments)
        found: list[Any] = []
        run_task(predictor.start_predict, points, on_results=found.extend)
        return np.array(found[0].labels)


@documented
class AutoDBSCAN(_Clusterer):
    """The clusters that `epsflow.explore` recommends.

    Parameters
    ----------
    eps : {"each", "one"}, default="each"
        "each": each cluster has its own eps. "one": DBSCAN at the best eps and min_samples.
    {distance} {n_jobs} {backend}

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each point, -1 for noise. If no eps and min_samples show clusters that persist longer than chance
        explains, all points are in one cluster, 0. (Labels of -1 would mean that each point is isolated, which was not
        found either.)
    eps_ : float or None
        The eps of all clusters. None if they have several eps, or if nothing was found and all points are one cluster.
    eps_of_clusters_ : ndarray of shape (n_clusters,), or None
        The eps of each cluster. None if nothing was found.
    min_samples_ : int or None
        The recommended min_samples. None if nothing was found.
    exploration_ : Exploration
        The exploration, with alternatives, flags and the map.
    core_sample_indices_ : ndarray of shape (n_core,)
        The indices of the core points, ascending, each core at the eps of its cluster. Empty if nothing was found.
    components_ : ndarray of shape (n_core, n_features)
        The core points.
    {feature_names}

    Examples
    --------
    >>> model = epsflow.AutoDBSCAN().fit(X)
    >>> model.labels_, model.eps_, model.min_samples_
    >>> print(model.exploration_)
    """

    def __init__(
        self, metric: str = "euclidean", metric_params: dict[str, Any] | None = None, n_jobs: int | None = None,
        backend: str = "auto", eps: str = "each",
    ) -> None:
        self.eps = eps
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.backend = backend

    @documented
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> AutoDBSCAN:
        """Find eps and min_samples, and cluster X.

        Parameters
        ----------
        {X}
            Here X must be on the host.
        y : Ignored
            Not used, present here for API consistency by convention.
        {sample_weight}
            Here weights must be at least 0, and their mean at least one half.

        Returns
        -------
        self : AutoDBSCAN
            Returns a fitted instance of self.

        {errors}
        """
        if self.eps not in ("each", "one"):
            raise ValueError(f"eps is {self.eps!r}; it is 'each' or 'one'")
        X = to_dense(X, None)
        given = _validated(self, X, metric_of(X, self.metric, self.metric_params))
        points: Any = given.points
        data = Dataset(engine_for(None, given, self.backend, None, _threads_of(self.n_jobs), "n_jobs"), given)
        self.exploration_ = explore_loaded(data, sample_weight=_some_weight(sample_weight, len(points)))
        offer = self.exploration_.recommended if self.eps == "each" else self.exploration_.one_eps
        self.eps_ = self.eps_of_clusters_ = self.min_samples_ = None
        self.labels_, self.core_sample_indices_ = np.zeros(len(points), np.int32), np.empty(0, np.intp)
        if offer is not None:
            self.eps_, self.min_samples_ = offer.eps, offer.min_samples
            self.eps_of_clusters_ = np.array(offer.eps_of_clusters)
            self.labels_, self.core_sample_indices_ = np.array(offer.labels), np.flatnonzero(offer.core)
        self.components_ = points.take(self.core_sample_indices_, axis=0)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int32]:
        """Call `fit` and return labels_. y is ignored."""
        return self.fit(X, sample_weight=sample_weight).labels_


def dbscan(
    X: Any, eps: float = 0.5, *, min_samples: int = 5, metric: str = "euclidean", sample_weight: Any = None,
    **parameters: Any,
) -> tuple[Any, Any]:
    """Return indices of the core points and labels, as sklearn.cluster.dbscan() does.

    Parameters
    ----------
    X, eps, min_samples, metric, sample_weight, **parameters
        The parameters of `epsflow.DBSCAN` and of its `fit`.

    Returns
    -------
    core_samples : ndarray of shape (n_core,)
    labels : ndarray of shape (n_samples,)
        If X is an array of CuPy, PyTorch or JAX on a GPU, both are arrays of that library on that GPU. If X is an
        array of Numba, both are on the host.

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As `DBSCAN.fit`.
    """
    fitted = DBSCAN(eps, min_samples=min_samples, metric=metric, **parameters).fit(X, sample_weight=sample_weight)
    return fitted.core_sample_indices_, fitted.labels_


def _validated(model: Any, X: Any, metric: Metric, fitted: _Fitted | None = None) -> Input:
    """Returns X as scikit-learn validates it, without names and table. In fit(), also sets n_features_in_ of the model,
    and feature_names_in_ if X has names.

    fitted: the data of the fit that X must match; None in fit() itself. Raises TypeError, ValueError if X is on a GPU,
    invalid, or different from the fitted X in columns, units, frame or coordinate system.
    """
    refuse_on_gpu(X)

    def check(table: Any, names: Any) -> Any:
        texts = names if names and are_texts(names) else None
        if isinstance(table, (list, tuple, np.ndarray)):
            table = as_plain(table)
        # scikit-learn has an error message for names of which only some are texts.
        mixed = texts is None and any(isinstance(column, str) for column in getattr(X, "columns", ()))
        as_checked = {"dtype": [np.float64, np.float32], "order": "C"}
        if fitted is None:
            points = validate_data(model, X if mixed else table, **as_checked)
            if texts is not None:
                model.feature_names_in_ = np.asarray(texts, dtype=object)
            return points
        reference = reference_of(X, metric)
        require_reference(reference, fitted.reference)
        known = list(getattr(model, "feature_names_in_", texts or []))
        if texts is not None and list(texts) != known:
            raise ValueError(
                f"The feature names should match those that were passed during fit: X has {texts}, fit had {known}"
            )
        with warnings.catch_warnings():
            if texts is not None or any(reference[1]):  # names are compared above, and directions need none
                warnings.filterwarnings("ignore", message="X does not have valid feature names")
            return validate_data(model, X if mixed else table, **as_checked, reset=False)

    return read(X, metric, check=check)._replace(table=None, names=None)


def _some_weight(sample_weight: Any, n: int) -> NDArray[np.float64] | None:
    """Returns as_weights(), or None for None. Raises ValueError as as_weights() does, and if all weights are 0, because
    scikit-learn does so."""
    if sample_weight is None:
        return None
    weights = as_weights(sample_weight, n)
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number: sample_weight has none")
    return weights


def _threads_of(n_jobs: int | None) -> int | None:
    """Returns the number of threads for n_jobs: None for None and -1, which mean all cores; for -2 all cores except
    one, and so on, but at least one. Raises TypeError for other types, ValueError for 0 and too large numbers."""
    if isinstance(n_jobs, (int, np.integer)) and n_jobs < -1:
        return max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
    return as_threads(n_jobs, "n_jobs") or None
