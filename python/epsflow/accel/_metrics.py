"""Parameters of scikit-learn in the words of epsflow."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._precomputed import is_sparse
from ._calls import NotServed

_SEARCHED = (
    "euclidean", "l2", "manhattan", "l1", "cityblock", "chebyshev", "infinity", "minkowski", "cosine", "haversine",
)

_ONLY_DENSE = ("chebyshev", "infinity", "minkowski")
_ROWS_OF_A_THREAD = 2_000


def jobs_of(n_jobs: Optional[int], rows: int) -> Optional[int]:
    """Returns n_jobs, or 1 if it is None and there are fewer than 2,000 rows: then it takes longer to wake other
    threads than to do the work."""
    return 1 if n_jobs is None and rows < _ROWS_OF_A_THREAD else n_jobs


def angles_of(X: NDArray[Any]) -> NDArray[Any]:
    """Returns latitudes and longitudes of the same points as X, within the ranges of a sphere.

    The haversine formula of scikit-learn takes any angles, and is the distance of the points that they turn to: beyond
    a pole, the latitude decreases on the opposite meridian. Rows within the ranges are not changed. X itself is
    returned if all rows are within them, or if it does not have two columns.
    """
    if X.ndim != 2 or X.shape[1] != 2:
        return X
    beyond = (np.abs(X) > (np.pi / 2, 2 * np.pi)).any(axis=1)
    if not beyond.any():
        return X
    found = np.array(X, dtype=np.float64)
    latitude, longitude = found[beyond].T
    latitude = np.remainder(latitude + np.pi / 2, 2 * np.pi) - np.pi / 2
    opposite = latitude > np.pi / 2
    latitude[opposite] = np.pi - latitude[opposite]
    longitude[opposite] += np.pi
    latitude = np.clip(latitude, -np.pi / 2, np.pi / 2)
    found[beyond] = np.column_stack([latitude, np.remainder(longitude + np.pi, 2 * np.pi) - np.pi])
    return found


def dense(X: Any) -> Any:
    """Returns X as a dense array, or X itself if it is not sparse. Raises NotServed if the array would take more than
    half of the memory of the machine (all of it, free or not) as float64."""
    if not is_sparse(X):
        return X
    if 8 * X.shape[0] * X.shape[1] > _core.machine_memory() // 2:
        raise NotServed("X is sparse, and too large as a dense array")
    return X.toarray()


def require_search(X: Any, metric: Any, metric_params: Any, algorithm: str, p: Any = None) -> None:
    """Raises NotServed if epsflow lacks the metric or a parameter of it, or if scikit-learn would refuse the metric for
    this algorithm, for a sparse X, or warn of it. The value of p is not checked. p: the power of metric "minkowski" if
    metric_params has none."""
    if not isinstance(metric, str) or metric not in _SEARCHED:
        raise NotServed(f"metric={metric!r}")
    parameters = dict(metric_params or {})
    power = parameters.pop("p", p) if metric == "minkowski" else 2
    if parameters or power is None:
        raise NotServed(f"metric={metric!r} with metric_params={metric_params!r}")
    if is_sparse(X) and (algorithm not in ("auto", "brute") or metric in _ONLY_DENSE):
        raise NotServed(f"X is sparse beside metric={metric!r}, algorithm={algorithm!r}")
    if algorithm == "brute" and metric == "infinity":
        raise NotServed(f"algorithm={algorithm!r} beside metric={metric!r}")
    if algorithm in ("kd_tree", "ball_tree"):
        from sklearn.neighbors import BallTree, KDTree

        if metric not in (KDTree if algorithm == "kd_tree" else BallTree).valid_metrics:
            raise NotServed(f"algorithm={algorithm!r} beside metric={metric!r}")
