"""The columns of X that a picture shows, their names, and their projection to the plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from .._arrays import as_host_points
from .._astropy import frame_of, units_of
from .._frames import library_of
from .._gpu_arrays import on_host
from .._metrics import EUCLIDEAN, Metric, as_metric, require_unit_of_names, sky_columns
from ._raster import Array, all_finite
from ._style import with_unit
from ._views import View, field_of, map_of, middle_of, plane, principal, sky_of

_DEGREES = as_metric("greatcircle")
_SKIES = {
    "equatorial": ("right ascension", "declination"),
    "galactic": ("galactic longitude", "galactic latitude"),
    "ecliptic": ("ecliptic longitude", "ecliptic latitude"),
}


class Points(NamedTuple):
    values: Array
    names: list[str]
    """The names of the columns, with units."""
    sphere: Optional[tuple[int, int]] = None
    """The columns of longitude and latitude."""
    sky: Optional[str] = None
    """The celestial coordinate system, if the points are directions in the sky."""
    scale: float = 1.0
    """The factor that converts angles to degrees."""


def points_of(X: Any, labels: Any, columns: Optional[Sequence[Any]], unit: Optional[str]) -> Points:
    """Returns the points to draw. Columns keep their order and unit, except angles with units: they become longitude
    and latitude in degrees. Raises ValueError, TypeError if X cannot be drawn."""
    X, names = _chosen(on_host(X), columns)
    names = names or _names_of(X)
    metric: Metric = getattr(getattr(labels, "_origin", None), "metric", None) or EUCLIDEAN
    known = frame_of(X)
    units: list[Optional[str]] = ["°"]
    if known is not None or _is_geographic(X) or any(
        found is not None and found.is_equivalent("deg") for found in _units(X)
    ):
        order = sky_columns(names, _DEGREES) if names else [0, 1]
        values = as_host_points(X, _DEGREES if len(order) == 2 else EUCLIDEAN)
        sphere, scale = (0, 1) if values.shape[1] == 2 else None, 1.0
        names = [names[i] for i in order] if len(order) == len(names) else names
    else:
        values = as_host_points(X)
        sphere = _sphere_of(names, metric, values.shape[1])
        scale = float(np.degrees(1)) if metric.angle_unit == "rad" else 1.0
        units = [str(found) if found is not None else unit for found in _units(X)] or [unit]
    d = values.shape[1]
    if not all_finite(values):
        rows = np.flatnonzero(~np.isfinite(values).all(axis=1))
        raise ValueError(
            f"X has NaN or infinity in {len(rows)} rows, the first of them row {rows[0]}: leave them out with points, "
            "rows = epsflow.drop_missing(X), and draw points with labels[rows]"
        )
    sky = _sky_of(names[sphere[0]] if sphere and names else "") if known is None else _sky_of(known) or known
    names = names if len(names) == d else ["x", "y", "z"][:d] if d <= 3 else [f"x{i}" for i in range(d)]
    units = units if len(units) == d else units[:1] * d
    return Points(values, [with_unit(name, u) for name, u in zip(names, units)], sphere, sky, scale)


def _units(X: Any) -> list[Any]:
    return units_of(X) if library_of(X) == "astropy" and frame_of(X) is None else []


def _is_geographic(X: Any) -> bool:
    return library_of(X) == "geopandas" and getattr(getattr(X, "crs", None), "is_geographic", False)


def _sky_of(name: str) -> Optional[str]:
    """Returns the system of a frame, or of a column with the name of a longitude; None for a longitude on the Earth."""
    word = name.lower().replace("_", "").partition("(")[0].strip()
    if "galactic" in word and "super" not in word or word in ("l", "lii", "glon", "gallon", "lgal"):
        return "galactic"
    if "ecliptic" in word or word in ("elon", "ecllon"):
        return "ecliptic"
    if "alpha" in word or word.startswith(("ra", "rightasc", "icrs", "fk")) or word.endswith("ra"):
        return "equatorial"
    return None


def _chosen(X: Any, columns: Optional[Sequence[Any]]) -> tuple[Any, list[str]]:
    """Returns the chosen columns of X, and their names if they have some."""
    if columns is None:
        return X, []
    if isinstance(columns, (str, bytes)) or not np.iterable(columns):
        raise TypeError(f"columns is {columns!r}, of type {type(columns).__name__}; it is a list of names or numbers")
    columns = list(columns)
    if library_of(X) is not None and hasattr(X, "columns"):
        there = list(getattr(X, "colnames", X.columns))
        missing = [name for name in columns if name not in there]
        if missing:
            raise ValueError(f"X has no column {missing[0]!r}; it has {', '.join(map(str, there))}")
        return X[columns], [str(name) for name in columns]
    array = np.asarray(X)
    d = array.shape[1] if array.ndim == 2 else 1
    if all(isinstance(column, str) for column in columns):
        if len(columns) != d:
            raise ValueError(
                f"columns names {len(columns)} columns, and X has {d} without names: give a name for each, "
                "or numbers of columns"
            )
        return X, columns
    for column in columns:
        if isinstance(column, (bool, np.bool_)) or not isinstance(column, (int, np.integer)) or not -d <= column < d:
            raise ValueError(f"X has no column {column!r}; its columns are numbered from 0 to {d - 1}")
    return array[:, columns], [f"x{column % d}" for column in columns]


def _names_of(X: Any) -> list[str]:
    if library_of(X) not in ("pandas", "polars", "astropy") or frame_of(X) is not None:
        return []
    return [str(name) for name in getattr(X, "colnames", getattr(X, "columns", []))]


def _sphere_of(names: list[str], metric: Metric, d: int) -> Optional[tuple[int, int]]:
    """Returns the columns of longitude and latitude, or None."""
    try:
        require_unit_of_names(names, metric if metric.angle_unit is not None else _DEGREES)
        pair = sky_columns(names, _DEGREES)
    except ValueError:  # contradictory names have no meaning
        pair = []
    if pair:
        return pair[0], pair[1]
    if metric.angle_unit is not None and d == 2:
        return (1, 0) if metric.takes_latitude_first else (0, 1)
    return None


def kind_of(kind: str, points: Points) -> str:
    """Returns `kind`. For "auto", returns a map if the points are two angles on a sphere, and otherwise the kind that
    suits the number of columns. Raises ValueError if `kind` does not fit that number."""
    d = points.values.shape[1]
    if kind == "auto":
        if points.sphere is not None and d == 2:
            return "sky" if points.sky else "geographic"
        return {1: "plane", 2: "plane", 3: "planes"}.get(d, "principal")
    fits = {"plane": d in (1, 2), "planes": d == 3, "principal": d >= 2}.get(kind, d == 2)
    if not fits:
        wanted = {"planes": "three columns", "principal": "two columns or more"}.get(kind, "two columns")
        way = "give kind='auto'" if d < 2 else "choose them with columns=[…], or give kind='auto'"
        raise ValueError(f"kind={kind!r} draws {wanted}, and X has {d}: {way}")
    return kind


def views_of(kind: str, points: Points) -> list[View]:
    if kind == "plane":
        return [plane(points.values, points.names, 0, 1)]
    if kind == "planes":
        return [plane(points.values, points.names, x, y) for x, y in ((0, 1), (0, 2), (2, 1))]
    if kind == "principal":
        return [principal(points.values)]
    return [_of_sphere(kind, points)]


def _of_sphere(kind: str, points: Points) -> View:
    lon, lat = points.sphere or (0, 1)
    sky = points.sky or ("equatorial" if kind != "geographic" else "")
    lon_name, lat_name = _SKIES.get(sky, ("longitude", "latitude"))
    names = (f"{lon_name} (°)", f"{lat_name} (°)")
    if kind == "geographic":
        return map_of(points.values, lon, lat, names, points.scale, leftwards=False)
    if kind == "sky" and field_of(points.values, lon, lat, points.scale) <= 90:
        return map_of(points.values, lon, lat, names, points.scale, leftwards=True)
    middle = 0.0 if sky == "galactic" else middle_of(points.values, lon, points.scale)
    return sky_of(points.values, lon, lat, names, points.scale, "mollweide" if kind == "sky" else kind, middle)
