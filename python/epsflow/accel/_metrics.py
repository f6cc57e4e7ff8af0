"""Parameters of scikit-learn in the words of epsflow."""

from __future__ import annotations

from typing import Any, Optional

from ._calls import NotServed

_SEARCHED = (
    "euclidean", "l2", "manhattan", "l1", "cityblock", "chebyshev", "infinity", "minkowski", "cosine", "haversine",
)

_ROWS_OF_A_THREAD = 2_000


def jobs_of(n_jobs: Optional[int], rows: int) -> Optional[int]:
    """Returns the number of threads of a fit. For few rows it takes longer to wake others than to do the work."""
    return 1 if n_jobs is None and rows < _ROWS_OF_A_THREAD else n_jobs


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
