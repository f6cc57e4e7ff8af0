"""DBSCAN as scikit-learn spells it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import as_eps, as_min_samples, as_points
from ._engine import Dataset, Engine, engine_for
from ._frames import from_table
from ._sweep import sweep_loaded

try:
    from sklearn.base import BaseEstimator, ClusterMixin
    from sklearn.utils.validation import validate_data
except ImportError:
    from ._plain_estimator import BaseEstimator, ClusterMixin, validate_data

_EUCLIDEAN = ("euclidean", "l2")


class DBSCAN(ClusterMixin, BaseEstimator):
    """DBSCAN with the labels of sklearn.cluster.DBSCAN, on the CPU or on a GPU.

    eps, min_samples, metric, p: as there. algorithm and leaf_size are there for programs that give them, and change nothing.
    n_jobs: threads, all cores for None and -1. backend, memory: as epsflow.sweep(). engine: an epsflow.Engine to run on.

    After fit(): labels_, core_sample_indices_, components_, n_features_in_, and feature_names_in_ where X has names.
    """

    def __init__(
        self,
        eps: float = 0.5,
        *,
        min_samples: int = 5,
        metric: str = "euclidean",
        metric_params: dict[str, Any] | None = None,
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float | None = None,
        n_jobs: int | None = None,
        backend: str = "auto",
        memory: int | str | None = None,
        engine: Engine | None = None,
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

    def fit(self, X: Any, y: Any = None) -> DBSCAN:
        """Clusters X, [n_samples, n_features]. y is not looked at."""
        eps = as_eps(self.eps)
        min_samples = as_min_samples(self.min_samples)
        _require_euclidean(self.metric, self.p, self.metric_params)
        table, names = from_table(X)
        # Of a table whose columns have no names that are texts, or not all, scikit-learn knows what to say.
        X = validate_data(self, table if names is not None else X, dtype=[np.float64, np.float32], order="C")
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        points = as_points(X)
        engine = self.engine if self.engine is not None else engine_for(self.backend, self.memory, self.n_jobs)
        result = sweep_loaded(Dataset(engine, points), eps, min_samples, core=True)[0]
        self.labels_ = result.labels
        self.core_sample_indices_ = result.core_sample_indices
        self.components_ = points[self.core_sample_indices_]
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """fit(), and its labels."""
        return self.fit(X).labels_


def dbscan(X: Any, eps: float = 0.5, *, min_samples: int = 5, metric: str = "euclidean", **parameters: Any) -> tuple[Any, Any]:
    """Indices of the core points and labels, as sklearn.cluster.dbscan() gives them."""
    fitted = DBSCAN(eps, min_samples=min_samples, metric=metric, **parameters).fit(X)
    return fitted.core_sample_indices_, fitted.labels_


def _require_euclidean(metric: Any, p: float | None, metric_params: dict[str, Any] | None) -> None:
    if callable(metric):
        raise ValueError(
            f"metric is a function, {metric!r}, which would be called for every pair of points: name a metric, or use "
            "sklearn.cluster.DBSCAN"
        )
    if metric == "precomputed":
        raise ValueError(
            "metric='precomputed' clusters distances, and epsflow searches points: give it the points, or use sklearn.cluster.DBSCAN"
        )
    p_of = (metric_params or {}).get("p", p)
    if metric in _EUCLIDEAN and p_of in (None, 2) or metric == "minkowski" and p_of in (None, 2):
        return
    raise ValueError(f"metric={metric!r} with p={p_of!r} is not known; known are 'euclidean', 'l2' and 'minkowski' with p=2")
