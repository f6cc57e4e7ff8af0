"""The metrics that epsflow searches in the words of scikit-learn."""

from __future__ import annotations

from typing import Any

from ._calls import NotServed

_SEARCHED = (
    "euclidean", "l2", "manhattan", "l1", "cityblock", "chebyshev", "infinity", "minkowski", "cosine", "haversine",
)


def require_search(metric: Any, metric_params: Any, algorithm: str = "auto") -> None:
    """Raises NotServed unless epsflow searches with a metric as scikit-learn does with this algorithm."""
    if not isinstance(metric, str) or metric not in _SEARCHED:
        raise NotServed(f"metric={metric!r}")
    if set(metric_params or ()) - ({"p"} if metric == "minkowski" else set()):
        raise NotServed(f"metric_params={metric_params!r}")
    if algorithm in ("kd_tree", "ball_tree"):
        from sklearn.neighbors import BallTree, KDTree

        if metric not in (KDTree if algorithm == "kd_tree" else BallTree).valid_metrics:
            raise NotServed(f"algorithm={algorithm!r} beside metric={metric!r}")
