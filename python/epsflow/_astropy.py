"""Tables, arrays with a unit and directions of astropy. Units are converted if the metric takes another unit."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._columns import Columns, in_one, refuse_inexact
from ._metrics import Metric
from ._tasks import log


def from_astropy(X: Any, name: str, metric: Metric, masked: bool) -> Columns | tuple[Any, list[str] | None]:
    """Reads X of astropy: a table, directions or an array with a unit. Returns Columns for a table; for directions an
    array and the names of its columns; else an array and None. If the metric takes angles, values with a unit are
    converted to its unit. masked: whether masked values become NaN; otherwise they are an error. Raises TypeError,
    ValueError."""
    if _is_directions(X):
        return _from_directions(X, name, metric, masked)
    if hasattr(X, "colnames") and hasattr(X, "columns"):
        return _from_columns(X, name, metric, masked)
    return _converted(without_mask(X, name, "", metric, masked), _unit_of(X), f"{name} is", metric), None


def _from_columns(X: Any, name: str, metric: Metric, masked: bool) -> Columns:
    units: dict[str, Any] = {}
    single = next((column for column in X.colnames if _is_directions(X[column])), None)
    remedy = f"as with {name}['x', 'y']" if single is None else f"or give the directions alone, {name}['{single}']"

    def read(i: int) -> Any:
        column = X.colnames[i]
        values = X[column]
        dtype = getattr(values, "dtype", None)
        if dtype is None or dtype.kind not in "fiub":
            return "text" if dtype is not None and dtype.kind in "US" else str(dtype or type(values).__name__)
        if values.ndim != 1:
            raise ValueError(
                f"{name} has the column '{column}' of shape {values.shape}, and a coordinate is one number: split it"
            )
        which = f" of the column '{column}'"
        numbers = refuse_inexact(without_mask(values, name, which, metric, masked, column), column)
        units[column] = _unit_of(values)
        _require_one_unit(name, units, metric)
        return _converted(numbers, units[column], f"{name} has the column '{column}'", metric)

    return Columns(list(X.colnames), read, len(X), remedy)


def _is_directions(X: Any) -> bool:
    coordinates = sys.modules.get("astropy.coordinates")
    return coordinates is not None and isinstance(X, (coordinates.SkyCoord, coordinates.BaseCoordinateFrame))


def _from_directions(X: Any, name: str, metric: Metric, masked: bool) -> tuple[Any, list[str] | None]:
    """Returns [n, 2] longitudes and latitudes in the frame of X, in the order and the unit that the metric takes, and
    the names of both columns. Raises TypeError if the metric takes no angles, ValueError if X is not one-dimensional or
    has masked values that `masked` does not allow."""
    kind = type(X).__name__
    if metric.angle_unit is None:
        raise TypeError(
            f"{name} is a {kind}, and metric={metric.name!r} measures no angles between directions: say "
            f"metric='greatcircle', where eps is in degrees, or in metric_params={{'unit': …}}; or give "
            f"{name}.cartesian.xyz.value.T, where eps is a length, and without distances a chord, 2·sin(angle/2)"
        )
    if len(X.shape) != 1:
        raise ValueError(
            f"{name} is a {kind} of shape {X.shape}, and points come one after another: give {name}.reshape(-1)"
        )
    sphere = X.spherical
    far = _unit_of(sphere.distance)
    if far is not None:
        log.warning(
            f"{name} carries distances, which metric={metric.name!r} does not use; for distances in space give "
            f"{name}.cartesian.xyz.to_value('{far}').T with metric='euclidean'"
        )
    names = ["lat", "lon"] if metric.takes_latitude_first else ["lon", "lat"]
    angles = [getattr(sphere, axis) for axis in names]
    columns = [without_mask(values, name, f" of its {axis}", metric, masked) for values, axis in zip(angles, names)]
    return in_one([_converted(c, a.unit, name, metric) for c, a in zip(columns, angles)], len(X)), names


def frame_of(X: Any) -> str | None:
    """Returns the frame of directions with its equinox, as astropy prints it: "FK5 Frame (equinox=J2000.000)". Returns
    None if X is not directions."""
    if not _is_directions(X):
        return None
    frame = getattr(X, "frame", X)
    return repr(frame.replicate_without_data()).strip("<>")


def units_of(X: Any) -> list[Any]:
    """Returns the unit of each column of a table, or the one unit of an array, as a list. No unit is None."""
    return [_unit_of(X[column]) for column in getattr(X, "colnames", None) or []] or [_unit_of(X)]


def has_unit(values: Any) -> bool:
    """Returns whether values are a quantity or a column of astropy with a unit other than dimensionless_unscaled."""
    return hasattr(values, "unit") and hasattr(values, "to") and _unit_of(values) is not None


def _unit_of(values: Any) -> Any:
    """Returns the unit of values. Returns None if they have none, or dimensionless_unscaled."""
    unit = getattr(values, "unit", None)
    return unit if unit is not None and str(unit) else None


def without_mask(
    values: Any, name: str, which: str, metric: Metric, masked: bool, column: str | None = None
) -> NDArray[Any]:
    """Returns the values without a mask, unchanged if none is masked. Otherwise, if `masked` is True, masked numbers
    become NaN and the result is float64; if it is False, raises ValueError. Raises ValueError also if integers that
    become float64 are beyond 2**53. name, which, column: the array and its column in errors."""
    mask = getattr(values, "mask", None)
    numbers = np.asarray(getattr(values, "unmasked", values))
    if mask is None or not np.any(mask):
        return numbers
    if not masked:
        rows = int(np.count_nonzero(np.asarray(mask).reshape(len(numbers), -1).any(axis=1)))
        raise ValueError(
            f"{name} has masked values in {rows} rows{which}, which have no place in a clustering: leave them out with "
            f"points, rows = epsflow.drop_missing({name}{_as_said(metric)})"
        )
    if numbers.dtype.kind not in "fiub":
        return numbers  # the caller refuses these
    whole = np.where(mask, numbers.dtype.type(0), numbers)
    for k, part in enumerate(whole.T if whole.ndim == 2 else [whole]):
        refuse_inexact(part, column or k)
    return np.where(mask, np.nan, numbers.astype(np.float64))


def _as_said(metric: Metric) -> str:
    """Returns the arguments of a metric that determine units, as code."""
    if metric.angle_unit is None:
        return ""
    order = ", metric_params={'latitude_first': True}" if metric.latitude_first else ""
    return f", metric={metric.name!r}{order}"


def _converted(values: NDArray[Any], unit: Any, what: str, metric: Metric) -> NDArray[Any]:
    """Converts angles to the unit of the metric; they become float64. Values in this unit, without a unit, or for a
    metric without angles are unchanged. Raises ValueError, which begins with `what`, for other units."""
    wanted = metric.angle_unit
    if wanted is None or unit is None or unit == wanted:
        return values
    if not unit.is_equivalent(wanted):
        raise ValueError(
            f"{what} in {unit}, and metric={metric.name!r} takes a longitude and a latitude, which are angles: choose "
            "columns of angles, or another metric"
        )
    return np.asarray(unit.to(wanted, values.astype(np.float64)))


def _require_one_unit(name: str, units: dict[str, Any], metric: Metric) -> None:
    """Raises ValueError if columns have different units, or some have a unit and others none. Accepts any units if the
    metric has a scale, and different ones if the metric converts angles. units: by the names of columns."""
    first = next(iter(units))
    for column, unit in units.items():
        if unit == units[first] or metric.scale:
            continue
        if metric.angle_unit is not None and unit is not None and units[first] is not None:
            continue
        both = f"'{first}' in {units[first] or 'none'} and '{column}' in {unit or 'none'}"
        shown = f"{name} has columns of different units, {both}, and eps has one"
        if unit is None or units[first] is None:
            missing = column if unit is None else first
            raise ValueError(f"{shown}: say that of '{missing}', {name}['{missing}'].unit = …")
        if unit.is_equivalent(units[first]):
            raise ValueError(f"{shown}: convert one, {name}['{column}'] = {name}['{column}'].to('{units[first]}')")
        raise ValueError(
            f"{shown}: give each a factor, metric_params={{'scale': […]}}, or divide it by the length that counts as 1"
        )
