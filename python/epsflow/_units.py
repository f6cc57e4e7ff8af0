"""The unit of eps, and a warning if it is probably another one: a huge angle makes nearly all points neighbours."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from ._arrays import AnyPoints, as_array
from ._astropy import frame_of, units_of
from ._columns import are_texts, order_of
from ._frames import from_table, library_of, metric_of
from ._gpu_arrays import as_gpu_points, is_on_gpu
from ._labelled import table_of
from ._metrics import EUCLIDEAN, Metric

# The code that converts eps to radians from another unit.
_IN_RADIANS = {
    "deg": "numpy.radians({})",
    "arcmin": "numpy.radians({} / 60)",
    "arcsec": "numpy.radians({} / 3600)",
    "km": "{} / 6371.0088",
}


Reference = tuple[str, list[Any]]
"""A template of code that converts X to another reference, and the reference of X, as reference_of() returns them."""


class Input(NamedTuple):
    """Points that were read from X, and the properties of X that later steps need."""

    points: AnyPoints
    metric: Metric
    unit: Any = None
    """The unit of eps: of the metric, or of X's columns (astropy). None if eps is a number without a unit."""
    table: Any = None
    """X itself if it is a table, else None."""
    names: Optional[list[Any]] = None
    """The names of the columns, if any."""
    reference: Reference = ("", [None])


def read(X: Any, metric: Metric, name: str = "X", check: Callable[[Any, Any], Any] | None = None) -> Input:
    """Reads points, names and units from X.

    check: takes the coordinates and names, and returns the array to use. It is not called for points on a GPU, which
    stay there. Raises TypeError, ValueError if X is invalid.
    """
    names = None
    if is_on_gpu(X):
        points: AnyPoints = as_gpu_points(X, name)
    else:
        values, names = from_table(X, metric, name)
        points = as_array(values if check is None else check(values, names), name)
    units = units_of(X) if library_of(X) == "astropy" else [None]
    unit = units[0] if metric.name != "cosine" and not metric.scale else None  # scaled coordinates have another unit
    return Input(points, metric, metric.eps_unit or unit, table_of(X), names, reference_of(X, metric))


def reference_of(X: Any, metric: Metric) -> Reference:
    """Returns a template and the reference of X. The reference lists the units of the columns of X, or its one frame or
    coordinate system. It is [None] if X has no reference, or has units that the metric converts or ignores. The
    template is code that errors show: with another reference in place of {} it converts X to that reference."""
    library = library_of(X)
    if library == "geopandas":
        crs = getattr(X, "crs", None)
        return "X.to_crs('{}')", [None if crs is None else crs.to_string()]
    if library != "astropy":
        return "", [None]
    frame = frame_of(X)
    if frame is not None:
        return "X.transform_to(…)", [frame]
    is_converted = metric.name == "cosine" or metric.angle_unit is not None
    return "X.to('{}')", [None] if is_converted else units_of(X)


def parse_input(X: Any, metric: Any, metric_params: dict[str, Any] | None, name: str = "X") -> Input:
    """Reads X with a metric that is given by its parameters. Raises as metric_of() and read()."""
    return read(X, metric_of(X, metric, metric_params), name)


def in_columns_of(like: Input, given: Input, name: str, of: str = "X") -> Input:
    """Returns given with its columns in the order of `like`. They are matched by name if both have names.

    Raises ValueError if columns, units, frames or coordinate systems differ.
    """
    points: Any = given.points
    dims, known = points.shape[1], like.points.shape[1]
    if dims != known:
        raise ValueError(f"{name} has {dims} columns, and {of} has {known}: give the same columns of both")
    ours, theirs, (way, units) = given.names, like.names, given.reference
    # pandas numbers columns without names. Numbers do not contradict texts.
    if ours is not None and theirs is not None and ours != theirs and are_texts(ours) == are_texts(theirs):
        order = order_of(ours, theirs)
        if order is None:
            raise ValueError(
                f"{name} has the columns {ours[:40]}, and {of} has {theirs[:40]}: give the same columns of both, "
                "by the same names"
            )
        units = [units[i] for i in order] if len(units) == dims else units
        given = given._replace(points=np.ascontiguousarray(points[:, order]), names=theirs, reference=(way, units))
    require_reference((way, units), like.reference, name, f"{of} is")
    return given


def components_of(given: Input, values: Any, name: str) -> NDArray[Any]:
    """Returns velocities as an array. If their columns are named as the points', or as these with a v before, they get
    the points' order; otherwise they keep their own. Their shape is not checked. name: the parameter in errors. Raises
    TypeError, ValueError."""
    found, names = from_table(values, EUCLIDEAN, name)
    array = np.asarray(found)
    order = order_of(names, given.names) or order_of(names, [f"v{column}" for column in given.names or []])
    return array[:, order] if order else array


def require_reference(
    found: Reference, fitted: Reference, name: str = "X", others: str = "the points of fit were"
) -> None:
    """Raises ValueError if units, frames or coordinate systems differ. Numbers without one are accepted."""
    (way, ours), (_, theirs) = found, fitted
    n = max(len(ours), len(theirs))
    for of_X, known in zip(ours * (n // len(ours)), theirs * (n // len(theirs))):
        if of_X is not None and known is not None and of_X != known:
            as_known = way.format(known).replace("X", name, 1)
            raise ValueError(f"{name} is in {of_X}, and {others} in {known}: convert it, as {as_known} does")


def warn_of_unit(given: Input, eps: float) -> None:
    """Warns if eps, the smallest of a run, is an angle at least as large as the field. Its unit is probably wrong."""
    points, metric, *_ = given
    found = None
    if metric.angle_unit is not None and isinstance(points, np.ndarray):
        found = metric.field_within(points, eps)
    if found is None:
        return
    width, height, angle, meant = found
    unit = metric.eps_unit
    if metric.name == "greatcircle":
        ways = [f"metric_params={{'unit': '{name}'}}" for name in meant]
    else:
        ways = [f"eps={_IN_RADIANS[name].format(repr(eps))} for {name}" for name in meant]
    _warn(
        f"eps == {eps!r} is taken in {unit}, and is no smaller than the whole field: it is {angle:.3g} degrees, "
        f"and the points span {width:.3g} degrees of longitude and {height:.3g} of latitude, so that nearly all are "
        f"neighbours. If eps is meant in another unit, write {' or '.join(ways) if ways else f'it in {unit}'}"
    )


def _warn(text: str) -> None:
    """Issues a warning that points to the line that called this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(f"{__package__}."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, UserWarning, stacklevel=level)
