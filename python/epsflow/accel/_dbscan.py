"""sklearn.cluster.DBSCAN."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .._engine import engine_for
from .._estimator import DBSCAN, _threads_of
from .._frames import metric_of
from .._gpu_arrays import is_on_gpu
from .._precomputed import is_precomputed, is_sparse
from .._units import Input
from ._calls import NotServed, Running, recorded
from ._metrics import angles_of, dense, jobs_of, require_search
from ._patches import least_rows, put

NEEDS = ("DBSCAN", "_check_sample_weight")


def put_into(module: Any) -> None:
    """Replaces DBSCAN.fit of scikit-learn's module. If epsflow fails or does not serve a call, the original runs."""
    original = module.DBSCAN.fit

    @functools.wraps(original)
    def fit(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        with recorded("sklearn.cluster.DBSCAN.fit", X, least_rows()) as call:
            if not call.is_left_to_original:
                try:
                    return _fit(module, self, X, sample_weight, call)
                except Exception as error:  # the original raises its own, or serves the call
                    call.left(error)
            return original(self, X, y, sample_weight)

    put(module.DBSCAN, "fit", fit)


def _fit(module: Any, model: Any, X: Any, sample_weight: Any, call: Running) -> Any:
    model._validate_params()
    if is_on_gpu(X):
        own = DBSCAN(
            model.eps, min_samples=model.min_samples, metric=model.metric, metric_params=model.metric_params, p=model.p
        ).fit(X, sample_weight=sample_weight)
        call.ran_on("gpu")
        labels, core, components = own.labels_, own.core_sample_indices_, own.components_
        model.n_features_in_ = own.n_features_in_
    else:
        X = _validated(module, model, X)
        if sample_weight is not None:
            sample_weight = module._check_sample_weight(sample_weight, X)
        points = X if is_precomputed(model.metric) else dense(X)
        points = angles_of(points) if model.metric == "haversine" else points
        own = _made_for(model, X, points, call).fit(points, sample_weight=sample_weight)
        labels, core = own.labels_.astype(np.intp), own.core_sample_indices_
        components = X[core] if len(core) else np.empty((0, X.shape[1]))
    model.core_sample_indices_, model.labels_, model.components_ = core, labels, components
    return model


def _validated(module: Any, model: Any, X: Any) -> Any:
    if hasattr(module, "validate_data"):
        X = module.validate_data(model, X, accept_sparse="csr")
    else:  # before scikit-learn 1.6
        X = model._validate_data(X, accept_sparse="csr")
    if not isinstance(X, np.ndarray) and not is_sparse(X):
        raise NotServed(f"X is a {type(X).__name__}")
    return X


def _made_for(model: Any, X: Any, points: Any, call: Running) -> DBSCAN:
    """Returns epsflow's DBSCAN with the parameters of `model`, which is scikit-learn's, and notes its device in `call`.
    Raises NotServed if the call is left to scikit-learn because of a parameter. X: the input of fit. points: the array
    that epsflow will cluster; not used if X has distances."""
    parameters = {"eps": model.eps, "min_samples": model.min_samples, "metric": model.metric}
    if is_precomputed(model.metric):
        if model.algorithm not in ("auto", "brute") or model.metric_params:
            raise NotServed("distances are given beside parameters of a search")
        call.ran_on("cpu")
        return DBSCAN(**parameters, n_jobs=jobs_of(model.n_jobs, X.shape[0]))
    require_search(X, model.metric, model.metric_params, model.algorithm, model.p)
    parameters.update(metric_params=model.metric_params, p=model.p)
    metric = metric_of(points, model.metric, model.metric_params, model.p)
    threads = _threads_of(jobs_of(model.n_jobs, X.shape[0]))
    engine = engine_for(None, Input(points, metric), "auto", None, threads, "n_jobs")
    call.ran_on(engine.backend)
    return DBSCAN(**parameters, engine=engine)
