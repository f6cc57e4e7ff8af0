"""Which columns of X a picture shows, what they are called, and how they become flat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from .._arrays import as_host_points
from .._astropy import frame_of, units_of
from .._catalog import names_of
from .._frames import library_of
from .._gpu_arrays import is_on_gpu, to_host
from .._metrics import EUCLIDEAN, MetricWords, angle_unit, as_metric, latitude_first
from ._raster import Array, all_finite
from ._style import with_unit
from ._views import View, field_of, map_of, middle_of, plane, principal, sky_of

_LONGITUDES = ("lon", "longitude", "lng", "long", "glon", "ipp_lon", "ipp_lon_deg", "lon_deg")
_LATITUDES = ("lat", "latitude", "gdlat", "glat", "ipp_lat", "ipp_lat_deg", "lat_deg")
_SKY = {("ra", "dec"): ("right ascension", "declination"), ("l", "b"): ("galactic longitude", "galactic latitude")}


class Points(NamedTuple):
    values: Array
    names: list[str]
    """Of the columns, with units."""
    sphere: Optional[tuple[int, int]] = None
    """Which columns are longitude and latitude."""
    sky: Optional[tuple[str, str]] = None
    """What they are called, where they are directions in the sky."""
    scale: float = 1.0
    """To degrees."""


def _refuse_missing(values: Array) -> None:
    rows = np.flatnonzero(~np.isfinite(values).all(axis=1))
    raise ValueError(
        f"X has NaN or infinity in {len(rows)} rows, the first of them row {rows[0]}: leave them out with points, rows = "
        "epsflow.drop_missing(X), and draw points with labels[rows]"
    )


def points_of(X: Any, labels: Any, columns: Optional[Sequence[Any]], unit: Optional[str]) -> Points:
    known = getattr(getattr(labels, "_origin", None), "metric", None)
    metric: MetricWords = known if known is not None and angle_unit(known) is not None else EUCLIDEAN
    frame = frame_of(X)
    if metric is EUCLIDEAN and frame is not None:
        metric = as_metric("greatcircle")
    if is_on_gpu(X):
        X = to_host(X)
    X, names = _chosen(X, columns)
    units = [str(found) if found is not None else unit for found in units_of(X)] if library_of(X) == "astropy" and frame is None else [unit]
    values = as_host_points(X, metric)
    d = values.shape[1]
    names = names or _named(X, values)
    sphere, sky = _sphere_of(names, metric, d)
    if frame is not None:
        sky = next((words for words in _SKY.values() if ("galactic" in words[0]) == ("galactic" in frame.lower())), None)
    names = names or (["x", "y", "z"][:d] if d <= 3 else [f"x{i}" for i in range(d)])
    units = units if len(units) == d else units[:1] * d
    scale = float(np.degrees(1)) if angle_unit(metric) == "rad" else 1.0
    if not all_finite(values):
        _refuse_missing(values)
    return Points(values, [with_unit(name, u) for name, u in zip(names, units)], sphere, sky, scale)


def _chosen(X: Any, columns: Optional[Sequence[Any]]) -> tuple[Any, list[str]]:
    """The columns of X that are asked for, and their names where they have some."""
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
            raise ValueError(f"columns names {len(columns)} columns, and X has {d} without names: give a name for each, or numbers of columns")
        return X, columns
    for column in columns:
        if isinstance(column, (bool, np.bool_)) or not isinstance(column, (int, np.integer)) or not -d <= column < d:
            raise ValueError(f"X has no column {column!r}; its columns are numbered from 0 to {d - 1}")
    return array[:, columns], [f"x{column % d}" for column in columns]


def _named(X: Any, values: Array) -> list[str]:
    if library_of(X) == "astropy" and hasattr(X, "colnames"):
        return [str(name) for name in X.colnames]
    return names_of(X, values)


def _sphere_of(names: Sequence[str], metric: MetricWords, d: int) -> tuple[Optional[tuple[int, int]], Optional[tuple[str, str]]]:
    """Which columns are longitude and latitude, and their names where they are of the sky."""
    lower = [name.lower() for name in names]
    for pair, words in _SKY.items():
        if set(pair) <= set(lower):
            return (lower.index(pair[0]), lower.index(pair[1])), words
    lon = [i for i, name in enumerate(lower) if name in _LONGITUDES]
    lat = [i for i, name in enumerate(lower) if name in _LATITUDES]
    if len(lon) == 1 and len(lat) == 1:
        return (lon[0], lat[0]), None
    if angle_unit(metric) is not None and d == 2:
        return ((1, 0) if latitude_first(metric) else (0, 1)), None
    return None, None


def kind_of(kind: str, points: Points) -> str:
    """Raises ValueError for one that does not fit the columns."""
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
    plain = points.sky or (("right ascension", "declination") if kind != "geographic" else ("longitude", "latitude"))
    names = (f"{plain[0]} (°)", f"{plain[1]} (°)")
    if kind == "geographic":
        return map_of(points.values, lon, lat, names, points.scale, leftwards=False)
    if kind == "sky" and field_of(points.values, lon, lat, points.scale) <= 90:
        return map_of(points.values, lon, lat, names, points.scale, leftwards=True)
    middle = 0.0 if plain[0].startswith("galactic") else middle_of(points.values, lon, points.scale)
    return sky_of(points.values, lon, lat, names, points.scale, "mollweide" if kind == "sky" else kind, middle)
