"""What distance is: the metric of a data set, as its parameters name it."""

from __future__ import annotations

from typing import Any

import numpy as np

# Name, unit of eps, whether latitude comes first, factors of columns: as the library takes it.
MetricWords = tuple[str, str, bool, list[float]]

EUCLIDEAN: MetricWords = ("euclidean", "deg", False, [])
_KNOWN = ("euclidean", "greatcircle", "haversine", "cosine")
_SAME = {"l2": "euclidean", "minkowski": "euclidean"}
_PARAMETERS = {
    "euclidean": ("scale", "p"),
    "greatcircle": ("unit", "latitude_first"),
    "haversine": (),
    "cosine": (),
}


def as_metric(metric: Any = "euclidean", metric_params: dict[str, Any] | None = None, p: float | None = None) -> MetricWords:
    """A metric by its name, with its parameters. Raises ValueError that says which there are, and what to use for others.

    "euclidean" ("l2", and "minkowski" with p=2): scale, a factor for each column. "greatcircle": longitude and latitude in degrees;
    unit of eps, "deg", "arcmin", "arcsec", "rad" or "km" (on the earth); latitude_first. "haversine": latitude and longitude in
    radians. "cosine": 1 - the cosine of the angle between two vectors.
    """
    if callable(metric):
        raise ValueError(
            f"metric is a function, {metric!r}, which would be called for every pair of points: name a metric "
            f"({_listed(_KNOWN)}), or use sklearn.cluster.DBSCAN"
        )
    if metric == "precomputed":
        raise ValueError(
            "metric='precomputed' clusters distances, and epsflow searches points: give it the points, or use sklearn.cluster.DBSCAN"
        )
    name = _SAME.get(metric, metric) if isinstance(metric, str) else metric
    if name not in _KNOWN:
        raise ValueError(f"metric={metric!r} is not known; known are {_listed(_KNOWN)}, and l2 and minkowski with p=2")
    parameters = dict(metric_params or {})
    for parameter in parameters:
        if parameter not in _PARAMETERS[name]:
            known = _listed(_PARAMETERS[name]) if _PARAMETERS[name] else "none"
            raise ValueError(f"metric_params={metric_params!r}: {parameter!r} is no parameter of {metric!r}; there are: {known}")
    power = parameters.get("p", p)
    if name == "euclidean" and power not in (None, 2):
        raise ValueError(f"metric={metric!r} with p={power!r} is not known; p=2 is, the euclidean metric")
    return (
        name,
        str(parameters.get("unit", "deg")),
        bool(parameters.get("latitude_first", False)),
        [float(factor) for factor in np.ravel(parameters.get("scale", []))],
    )


def angle_unit(metric: MetricWords) -> str | None:
    """The unit of the longitudes and latitudes that a metric takes, as astropy writes it; None where it takes other coordinates."""
    return {"greatcircle": "deg", "haversine": "rad"}.get(metric[0])


def latitude_first(metric: MetricWords) -> bool:
    return metric[0] == "haversine" or metric[2]


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names)
