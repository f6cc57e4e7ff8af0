"""How far points are from their k-th nearest other points, and what that says about eps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._labelled import as_frame
from ._loaded import Loaded, method
from ._parameters import as_count, as_variants
from ._tasks import made_by, python_errors


@method
def k_distance_loaded(data: Loaded, k: int | Iterable[int] = 4) -> NDArray[np.float64]:
    ks = as_ks(k)
    found: NDArray[np.float64] = np.asarray(made_by(_core.start_k_distances, data._data, ks))
    return found.reshape(len(data), len(ks)) if np.iterable(k) else found


@method
def selectivity_loaded(data: Loaded, eps: float | Iterable[float], *, sample: int = 10_000) -> Any:
    asked = list(dict.fromkeys(e for e, _ in as_variants(eps, 1, None, data._given.unit)))
    columns = made_by(_core.start_selectivity, data._data, asked, as_count(sample, "sample"))
    return as_frame(dict(zip(("eps", "n_neighbors", "error"), columns)))


class Knee(NamedTuple):
    """Where sorted distances turn from flat to steep.

    Attributes
    ----------
    distance : float
        NaN where there is no such place.
    share : float
        Of the points that have no larger distance: with eps = distance these are core.
    """

    distance: float
    share: float


def knee(distances: Any) -> Knee:
    """The knee of the distances to k-th nearest points: a first guess of eps for min_samples = k + 1.

    Of the distances above 0, sorted, it is the point farthest below the chord between the first and the last, the distances by their
    logarithms. This is the simplest form of Kneedle (Satopää et al. 2011).

    Parameters
    ----------
    distances : array of shape (n_samples,)
        As `epsflow.k_distance` gives them for one k, in any order.

    Returns
    -------
    Knee
        Its distance is NaN where fewer than three distances above 0 differ.

    Raises
    ------
    ValueError, TypeError
        For what are no distances.
    """
    return Knee(*_core.knee(_as_distances(distances)))


def eps_range(distances: Any) -> tuple[float, float]:
    """The eps worth sweeping for min_samples = k + 1: from where 1 % of the points are core to where 99 % are.

    Points whose distance is 0 are left out: they are core for every eps.

    Parameters
    ----------
    distances : array of shape (n_samples,)
        As `epsflow.k_distance` gives them for one k, in any order; not empty.

    Returns
    -------
    tuple of float
        From and to; both 0 where every distance is 0.

    Raises
    ------
    ValueError, TypeError
        For what are no distances.

    Examples
    --------
    >>> result = epsflow.sweep(X, np.geomspace(*epsflow.eps_range(epsflow.k_distance(X, 4)), 20), min_samples=5)
    """
    given = _as_distances(distances)
    with python_errors():
        found: tuple[float, float] = _core.eps_range(given)
    return found


def as_ks(k: Any) -> list[int]:
    if isinstance(k, (str, bytes)) or not np.iterable(k):
        return [as_count(k, "k")]
    ks = [as_count(one, "k") for one in k]
    if not ks:
        raise ValueError("k has no values: give at least one, or a whole number")
    return ks


def _as_distances(distances: Any) -> NDArray[np.float64]:
    """Raises TypeError, ValueError."""
    array = np.asarray(distances)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"distances have dtype {array.dtype}; they are numbers, as epsflow.k_distance(X, 4) gives them")
    if array.ndim != 1:
        columns = ": take one column, distances[:, 0], as each k has a knee of its own" if array.ndim == 2 else ""
        raise ValueError(f"distances have the shape {array.shape}; they have one dimension{columns}")
    if not (array >= 0).all():
        raise ValueError(f"distances have {array[~(array >= 0)][0]}; they are 0 or more")
    return np.ascontiguousarray(array, dtype=np.float64)
