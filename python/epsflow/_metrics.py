"""The metric of a data set, from the parameters that name it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._parameters import OPTIONS, as_flag, as_utf8, without_unit
from ._tasks import python_errors

Metric = _core.Metric
EUCLIDEAN = Metric("euclidean")
_KNOWN = [*OPTIONS["metric"].words, "infinity"]  # a name that only scikit-learn has
_POWERS = {1.0: "manhattan", 2.0: "euclidean", math.inf: "chebyshev"}
_PARAMETERS = {
    "euclidean": ("scale", "box", "p"),
    "manhattan": ("scale", "box"),
    "chebyshev": ("scale", "box"),
    "minkowski": ("scale", "box", "p"),
    "greatcircle": ("unit", "latitude_first"),
    "haversine": ("latitude_first",),
    "cosine": (),
}


def as_metric(
    metric: Any = "euclidean", metric_params: dict[str, Any] | None = None, p: float | None = None,
    units: Sequence[Any] = (None,),
) -> Metric:
    """Returns a metric by its name, with its parameters. Raises ValueError for an unknown name, with the known ones,
    and for unknown or invalid parameters; TypeError for parameters of another type.

    p: scikit-learn's power of "minkowski", ignored for other metrics, and with a SyntaxWarning if metric_params has
    another p. units: of each column, or one for all; quantities in a box are converted to them.
    """
    if callable(metric):
        raise ValueError(
            f"metric is a function, {metric!r}, which would be called for every pair of points: name a metric "
            f"({', '.join(_KNOWN)}), or use sklearn.cluster.DBSCAN"
        )
    if metric == "precomputed":
        raise ValueError(
            "metric='precomputed' is of distances, which epsflow.sweep, hierarchy, DBSCAN and HDBSCAN take; "
            "here points are searched: give the points"
        )
    if metric not in _KNOWN:
        raise ValueError(f"metric={metric!r} is not known; known are {', '.join(_KNOWN)}")
    name = "chebyshev" if metric == "infinity" else _core.metric_named(metric)
    if metric_params is not None and not isinstance(metric_params, dict):
        raise TypeError(
            f"metric_params is {metric_params!r}, of type {type(metric_params).__name__}; it is a dict of parameters"
        )
    parameters = dict(metric_params or {})
    for parameter in parameters:
        if parameter not in _PARAMETERS[name]:
            known = ", ".join(_PARAMETERS[name]) or "none"
            raise ValueError(
                f"metric_params={metric_params!r}: {parameter!r} is no parameter of {metric!r}; there are: {known}"
            )
    unit = str(parameters.get("unit", "deg"))
    if unit not in OPTIONS["unit"].words:
        raise ValueError(
            f"metric_params={metric_params!r}: unit={unit!r} is none of {', '.join(map(repr, OPTIONS['unit'].words))}"
        )
    if p is not None and parameters.get("p", p) != p:
        warnings.warn(  # in scikit-learn's words
            "Parameter p is found in metric_params. The corresponding parameter from __init__ is ignored.",
            SyntaxWarning, stacklevel=3,
        )
    power = parameters.get("p", p if name == "minkowski" else None)
    power = 2.0 if power is None else _as_number(power, "p", power)
    if name == "minkowski":
        name = _POWERS.get(power, name)
    elif power != 2:
        raise ValueError(f"metric={metric!r} with p={power!r}: p is of metric='minkowski'")
    latitude_first = parameters.get("latitude_first")
    if latitude_first is not None:
        latitude_first = as_flag(latitude_first, "latitude_first")
    if name == "haversine" and latitude_first is not None and not latitude_first:
        raise ValueError(
            "metric='haversine' takes latitude first, as scikit-learn's does: give the columns in this order"
        )
    box = _listed_values(parameters.get("box", ()))
    if len(box) == 1 and len(units) > 1:
        box *= len(units)
    scale = [_as_number(factor, "scale", parameters["scale"]) for factor in _listed_values(parameters.get("scale", ()))]
    sides = [_as_side(side, parameters["box"], units[min(k, len(units) - 1)]) for k, side in enumerate(box)]
    return Metric(name, unit, latitude_first, scale, power if name == "minkowski" else 2.0, sides)


def sky_columns(names: list[str], metric: Metric) -> list[int]:
    """Returns the numbers of the columns that are longitude and latitude by their names, in the order of the metric.

    Returns an empty list if no two names are a pair, if there are two columns and `metric.latitude_first` is not None,
    or if the metric does not take longitude and latitude. Raises ValueError if several pairs are found, or if there are
    just two columns that are not a pair although a name is known.
    """
    if len(names) == 2 and metric.latitude_first is not None:
        return []
    with python_errors():
        return list(metric.sky_columns([as_utf8(name) for name in names]))


def require_unit_of_names(names: list[str], metric: Metric) -> None:
    """Raises ValueError if the name of a column contradicts the unit of the metric, as lat_rad does for "greatcircle".
    names: the names of the used columns whose unit is not known otherwise."""
    if metric.angle_unit is not None:
        with python_errors():
            metric.require_unit_of_names([as_utf8(name) for name in names])


def _listed_values(values: Any) -> list[Any]:
    # A text is not a list of characters, and values without an order are not a list of columns.
    if np.iterable(values) and not isinstance(values, (str, bytes, dict, set, frozenset)):
        return list(values)
    return [values]


def _as_number(value: Any, name: str, whole: Any) -> float:
    try:
        if isinstance(value, (bool, np.bool_, str, bytes, np.timedelta64)):  # float() would accept these
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}={whole!r}: {value!r} is no number") from None


def _as_side(side: Any, box: Any, unit: Any) -> tuple[float, float]:
    if side is None:
        return 0.0, 0.0
    ends = _listed_values(side)
    if len(ends) > 2:
        raise ValueError(
            f"box={box!r}: {side!r} is a side of {len(ends)} ends; a side is its length, its two ends, or None"
        )
    lo, hi = (
        _as_number(without_unit(end, unit, "box"), "box", box) for end in (ends if len(ends) == 2 else [0.0, *ends])
    )
    if lo == hi:
        raise ValueError(f"box={box!r}: {side!r} has no length; a side that is open is None")
    return lo, hi


def arguments_of(metric: Metric) -> str:
    """Returns the arguments that define this metric in a Python call, each after a comma, as in ", metric='cosine'".

    The text is empty for the plain Euclidean metric, without scale and box.
    """
    name = metric.name
    given = {
        "unit": metric.unit if name == "greatcircle" and metric.unit != "deg" else None,
        "latitude_first": metric.latitude_first,
        "scale": metric.scale or None,
        "box": [None if lo == hi else (lo, hi) for lo, hi in metric.box] or None,
        "p": metric.power if name == "minkowski" else None,
    }
    parameters = {word: value for word, value in given.items() if value is not None and word in _PARAMETERS[name]}
    said = "" if name == "euclidean" else f", metric={name!r}"
    return said + (f", metric_params={parameters!r}" if parameters else "")
