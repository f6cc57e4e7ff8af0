"""The unit of eps, and whether it is in the one that it is taken for: an angle in too large a unit makes nearly all points neighbours."""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any

import numpy as np

from ._arrays import AnyPoints, Points
from ._astropy import unit_of
from ._frames import library_of
from ._metrics import MetricWords, angle_unit, eps_unit, latitude_first

_DEGREES = {"deg": 1.0, "arcmin": 1 / 60, "arcsec": 1 / 3600, "rad": math.degrees(1), "km": math.degrees(1 / 6371.0088)}
# What to write where eps is in radians, and was meant in another unit.
_IN_RADIANS = {
    "deg": "numpy.radians({})",
    "arcmin": "numpy.radians({} / 60)",
    "arcsec": "numpy.radians({} / 3600)",
    "km": "{} / 6371.0088",
}
_SAMPLE = 1000


def unit_of_eps(X: Any, metric: MetricWords) -> Any:
    """The unit that eps is in: the metric's, or that of X's columns, which is astropy's; None where it is a number without one."""
    if angle_unit(metric) is not None:
        return eps_unit(metric)
    plain = metric[0] == "cosine" or metric[3]  # what is scaled has another unit
    return None if plain or library_of(X) != "astropy" else unit_of(X)


def require_unit(unit: Any, known: Any) -> None:
    """Raises ValueError for points in another unit than those that were clustered; numbers without one are taken to be in it."""
    if unit is not None and known is not None and unit != known:
        raise ValueError(f"X is in {unit}, and the points of fit were in {known}: convert it, as X.to('{known}') does")


def without_unit(eps: Any, unit: Any, name: str = "eps") -> Any:
    """A quantity of astropy as a number in `unit`; anything else as it is. Raises ValueError for a unit that is no such one."""
    if not (hasattr(eps, "to_value") and hasattr(eps, "unit")):
        return eps
    if not str(eps.unit):
        return eps.to_value()
    if unit is None:
        raise ValueError(f"{name} is {eps}, and the coordinates have no unit: give a number, as {name}.to_value('{eps.unit}') is one")
    if not eps.unit.is_equivalent(unit):
        raise ValueError(f"{name} is {eps}, and is taken in {unit}, which is another kind of unit")
    return eps.to_value(unit)


def warn_of_unit(points: AnyPoints, metric: MetricWords, eps: float) -> None:
    """Warns where eps, the smallest of a run, is an angle at least as large as the field, as one in a smaller unit would be.

    points: [n, 2] as the metric takes them, all finite. The field is the ranges of longitude and latitude, so that one around a pole
    is as wide as the whole sky, and not warned of. O(n) at most, and O(1) where a sample is larger than eps already.
    """
    if angle_unit(metric) is None or not isinstance(points, np.ndarray) or len(points) == 0:
        return
    unit = str(eps_unit(metric))
    angle = eps * _DEGREES[unit]
    width = height = 0.0
    for some in (points[:: len(points) // _SAMPLE + 1], points):
        width, height = _extent(some, metric)
        if angle < max(width, height):
            return
    if width == height == 0:
        return  # one place, whatever the unit
    meant = [name for name, degrees in _DEGREES.items() if eps * degrees < max(width, height)]
    if metric[0] == "greatcircle":
        ways = [f"metric_params={{'unit': '{name}'}}" for name in meant]
    else:
        ways = [f"eps={_IN_RADIANS[name].format(repr(eps))} for {name}" for name in meant]
    _warn(
        f"eps == {eps!r} is taken in {unit}, and is no smaller than the whole field: it is {angle:.3g} degrees, and the points span "
        f"{width:.3g} degrees of longitude and {height:.3g} of latitude, so that nearly all are neighbours. If eps is meant in another "
        f"unit, write {' or '.join(ways) if ways else 'it in ' + unit}"
    )


def _extent(points: Points, metric: MetricWords) -> tuple[float, float]:
    """Of longitude, across 0 or across the date line where that is less, and of latitude, in degrees."""
    degrees = _DEGREES[str(angle_unit(metric))]
    turn = 360 / degrees
    latitude, longitude = points.T if latitude_first(metric) else points.T[::-1]
    width = min(np.ptp(longitude % turn), np.ptp((longitude + turn / 2) % turn))
    return float(width) * degrees, float(np.ptp(latitude)) * degrees


def _warn(text: str) -> None:
    """With the place that called this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(f"{__package__}."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, UserWarning, stacklevel=level)
