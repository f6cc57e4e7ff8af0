"""The part of scikit-learn's conventions that an estimator needs if scikit-learn is not installed."""

from __future__ import annotations

import inspect
from typing import Any

from ._arrays import as_host_points


class NotFittedError(ValueError, AttributeError):
    pass


class ClusterMixin:
    pass


class BaseEstimator:
    """Gets and sets parameters: the attributes that have the names of the arguments of __init__."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        names = [name for name in inspect.signature(type(self).__init__).parameters if name != "self"]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **parameters: Any) -> BaseEstimator:
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(
                    f"{name!r} is no parameter of {type(self).__name__}; its parameters are {', '.join(sorted(known))}"
                )
            setattr(self, name, value)
        return self

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({given})"


def validate_data(estimator: Any, X: Any, reset: bool = True, accept_sparse: Any = False, **_: Any) -> Any:
    names = getattr(X, "columns", None)
    points = X if accept_sparse and hasattr(X, "tocsr") else as_host_points(X)
    if points.shape[0] == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={points.shape}) while a minimum of 1 is required.")
    if not reset:
        if points.shape[1] != estimator.n_features_in_:
            raise ValueError(
                f"X has {points.shape[1]} features, but {type(estimator).__name__} is expecting "
                f"{estimator.n_features_in_} features as input."
            )
        return points
    estimator.n_features_in_ = points.shape[1]
    vars(estimator).pop("feature_names_in_", None)
    if names is not None and all(isinstance(name, str) for name in names):
        import numpy as np

        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    return points
