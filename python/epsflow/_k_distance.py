"""Distances to the k-th nearest other point, and eps that follow from them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._labelled import as_frame
from ._loaded import Loaded, method
from ._parameters import as_count, as_counts, as_variants
from ._tasks import made_by, python_errors


@method
def k_distance_loaded(data: Loaded, k: int | Iterable[int] = 4) -> NDArray[np.float64]:
    ks = as_counts(k, "k")
    found: NDArray[np.float64] = np.asarray(made_by(_core.start_k_distances, data._data, ks))
    return found.reshape(len(data), len(ks)) if np.iterable(k) else found


@method
def selectivity_loaded(data: Loaded, eps: float | Iterable[float], *, sample: int = 10_000) -> Any:
    asked = list(dict.fromkeys(e for e, _ in as_variants(eps, 1, None, data._given.unit)))
    columns = made_by(_core.start_selectivity, data._data, asked, as_count(sample, "sample"))
    return as_frame(dict(zip(("eps", "n_neighbors", "error"), columns)))


class Knee(NamedTuple):
    """The point at which sorted distances turn from flat to steep.

    Attributes
    ----------
    distance : float
        NaN if there is no such point.
    share : float
        The share of the points whose distance is not larger. With eps = distance these points are core.
    """

    distance: float
    share: float


def knee(distances: Any) -> Knee:
    """Return the knee of the distances to k-th nearest points: a first guess of eps for min_samples = k + 1.

    The finite distances above 0 are sorted, and their logarithms are compared with the chord between the first and the
    last. The knee is the farthest point below the chord, as in the simplest form of Kneedle (Satopää et al. 2011).

    Parameters
    ----------
    distances : array of shape (n_samples,)
        The distances that `epsflow.k_distance` returns for one k, in any order.

    Returns
    -------
    Knee
        The distance is NaN if no distance is below the chord, such as with fewer than three distances above 0.

    Raises
    ------
    ValueError, TypeError
        If the values are not distances.
    """
    return Knee(*_core.knee(_as_distances(distances)))


def eps_range(distances: Any) -> tuple[float, float]:
    """Return the range of eps worth sweeping for min_samples = k + 1: from 1 % to 99 % core points.

    Points with a distance of 0 are left out: they are core for every eps.

    Parameters
    ----------
    distances : array of shape (n_samples,)
        The distances that `epsflow.k_distance` returns for one k, in any order; not empty.

    Returns
    -------
    tuple of float
        The smallest and the largest eps. Both are 0 if every distance is 0.

    Raises
    ------
    ValueError, TypeError
        If the values are not distances.

    Examples
    --------
    >>> result = epsflow.sweep(X, np.geomspace(*epsflow.eps_range(epsflow.k_distance(X, 4)), 20), min_samples=5)
    """
    given = _as_distances(distances)
    with python_errors():
        found: tuple[float, float] = _core.eps_range(given)
    return found


def _as_distances(distances: Any) -> NDArray[np.float64]:
    """Returns distances [n] as float64; n may be 0. Raises TypeError if they are not numbers; ValueError if they do not
    have exactly one dimension, or if a value is negative or NaN. Infinity is accepted."""
    array = np.asarray(distances)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"distances have dtype {array.dtype}; they are numbers, as epsflow.k_distance(X, 4) gives them")
    if array.ndim != 1:
        columns = ": take one column, distances[:, 0], as each k has a knee of its own" if array.ndim == 2 else ""
        raise ValueError(f"distances have the shape {array.shape}; they have one dimension{columns}")
    if not (array >= 0).all():
        raise ValueError(f"distances have {array[~(array >= 0)][0]}; they are 0 or more")
    return np.ascontiguousarray(array, dtype=np.float64)
