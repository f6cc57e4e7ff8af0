"""DBSCAN of a window with the interface of scikit-learn's incremental estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._docs import documented
from ._estimator import _Clusterer, _threads_of, validate_data
from ._window import Window


@documented
class WindowDBSCAN(_Clusterer):
    """DBSCAN of the points that arrived last, for streams.

    Each call of `partial_fit` lets points arrive; the points that arrived first leave if there are more than
    max_points. The labels equal the labels of DBSCAN over the points that stay. `epsflow.Window` has more: ages, points
    that leave by id, several parameters, events.

    Parameters
    ----------
    eps : float, default=0.5
        The maximum distance between two samples for one to be considered as in the neighborhood of the other.
    min_samples : int, default=5
        The number of samples in a neighborhood for a point to be considered as a core point. This includes the point
        itself.
    max_points : int, optional
        The largest number of points that are kept. None keeps all.
    {distance}
        Here names of columns and units of X are ignored, so columns must have the order of the metric.
    {n_jobs}
    backend : {"auto", "cpu", "gpu"}
        The device that runs the work. "auto" is the GPU if there is one, else the CPU.

    Attributes
    ----------
    labels_ : ndarray of shape (n_kept,)
        The cluster of each point in the order of arrival, -1 for noise.
    cluster_ids_ : ndarray of shape (n_kept,)
        The id of the cluster of each point, -1 for noise. A cluster keeps its id from call to call.
    core_sample_indices_ : ndarray of shape (n_core,)
        The indices of the core points in labels_, ascending.
    window_ : Window
    n_features_in_ : int

    Examples
    --------
    >>> model = epsflow.WindowDBSCAN(eps=0.2, min_samples=10, max_points=50_000)
    >>> for X in frames:
    ...     model.partial_fit(X)
    """

    def __init__(
        self, eps: float = 0.5, *, min_samples: int = 5, max_points: int | None = None,
        metric: str = "euclidean", metric_params: dict[str, Any] | None = None, n_jobs: int | None = None,
        backend: str = "auto",
    ) -> None:
        self.eps = eps
        self.min_samples = min_samples
        self.max_points = max_points
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.backend = backend

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def partial_fit(self, X: Any, y: Any = None) -> WindowDBSCAN:
        """Let the points X arrive.

        Parameters
        ----------
        X : array or table of shape (n_samples, n_features)
            As scikit-learn takes it: a table is converted by NumPy, without its units. Not empty, on the host.
        y : Ignored
            Not used, present here for API consistency by convention.

        Returns
        -------
        self : WindowDBSCAN

        Raises
        ------
        ValueError, TypeError, MemoryError, RuntimeError
            As `epsflow.Window.step`. The points before stay.
        """
        X = validate_data(self, X, reset=not hasattr(self, "window_"), dtype=[np.float64, np.float32], order="C")
        if not hasattr(self, "window_"):
            self.window_ = Window(
                self.eps, self.min_samples, max_points=self.max_points, metric=self.metric,
                metric_params=self.metric_params, backend=self.backend, threads=_threads_of(self.n_jobs),
            )
        self.window_.step(X)
        clusters = self.window_.results[0]
        self.labels_ = np.asarray(clusters.labels)
        self.cluster_ids_ = clusters.cluster_ids
        self.core_sample_indices_ = np.flatnonzero(clusters.core)
        return self

    def fit(self, X: Any, y: Any = None) -> WindowDBSCAN:
        """Begin a new window with the points X. Parameters, result and errors as `partial_fit`."""
        self.__dict__.pop("window_", None)
        return self.partial_fit(X)

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.int32]:
        """Call `fit` with X and the keyword arguments, and return labels_. y is ignored."""
        return self.fit(X, **kwargs).labels_
