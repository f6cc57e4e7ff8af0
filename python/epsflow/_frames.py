"""Tables of other libraries as arrays of coordinates. The libraries are not imported: the caller has done it."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable
from typing import Any, Union

import numpy as np

from ._astropy import from_astropy, units_of, without_mask
from ._columns import Columns, are_texts, in_one, is_complex, is_time, refuse_beyond, refuse_columns, refuse_inexact
from ._metrics import EUCLIDEAN, Metric, as_metric, require_unit_of_names, sky_columns

_LIBRARIES = ("geopandas", "pandas", "polars", "pyarrow", "xarray", "astropy")
_Read = Union[Columns, tuple[Any, Union[list[Any], None]]]
"""The columns of a table, or for anything else an object that NumPy converts, with names of columns if known."""


def library_of(X: Any) -> str | None:
    """Returns the library of tables that the class of X, or a base class, belongs to, as "pandas" for a DataFrame and a
    Series; "numpy" for an array of records; None otherwise."""
    if type(X) is np.ndarray or type(X) is list:
        packages = []
    else:
        packages = [base.__module__.partition(".")[0] for base in type(X).__mro__]
    has_fields = getattr(getattr(X, "dtype", None), "names", None) is not None
    return next((library for library in _LIBRARIES if library in packages), "numpy" if has_fields else None)


def metric_of(X: Any, metric: Any, metric_params: dict[str, Any] | None, p: float | None = None) -> Metric:
    """Returns the result of as_metric() for the other arguments, and raises its errors. If X is a table or quantity of
    astropy, the sides of a periodic box are converted to the units of the columns of X."""
    return as_metric(metric, metric_params, p, units_of(X) if library_of(X) == "astropy" else (None,))


def from_table(
    X: Any, metric: Metric = EUCLIDEAN, name: str = "X", masked: bool = False
) -> tuple[Any, list[Any] | None]:
    """Returns X as an object that NumPy converts to an array, with the names of its columns, or None without names.

    X itself is returned, with None, if it is neither a table nor of astropy. If the metric takes longitudes and
    latitudes and two columns have such names, only these are returned, in its order; but if X has just two columns and
    metric.latitude_first is not None, they keep their order. If the metric takes angles, values with a unit of astropy
    are converted to its unit, and in columns without a unit a name that contradicts it is a ValueError. Missing values
    become NaN; masked values of astropy and of records do if `masked`, and are a ValueError otherwise. name: X in
    errors. Raises TypeError for a LazyFrame, and for directions if the metric takes no angles; ValueError that names
    the columns that hold no numbers.
    """
    library = library_of(X)
    if library is None:
        return X, None
    readers: dict[str, Callable[[Any, str], _Read]] = {
        "pandas": _from_pandas,
        "geopandas": lambda X, name: _from_geopandas(X, name, metric),
        "polars": _from_polars,
        "pyarrow": _from_arrow,
        "xarray": _from_xarray,
        "astropy": lambda X, name: from_astropy(X, name, metric, masked),
        "numpy": lambda X, name: _from_records(X, name, metric, masked),
    }
    found = readers[library](X, name)
    if not isinstance(found, Columns):
        values, names = found
        texts = names if names and are_texts(names) else []
        order = sky_columns(texts, metric)
        require_unit_of_names(texts, metric)
        if names is None or not order or order == list(range(len(names))):
            return found
        return values[:, order], [names[i] for i in order]
    order = sky_columns([str(column) for column in found.names], metric) or list(range(len(found.names)))
    units = units_of(X) if library == "astropy" else [None] * len(found.names)
    require_unit_of_names([str(found.names[i]) for i in order if units[i] is None], metric)
    columns = [found.read(i) for i in order]
    refused = [(str(found.names[i]), holds) for i, holds in zip(order, columns) if isinstance(holds, str)]
    refuse_columns(name, refused, found.remedy)
    return in_one(columns, found.rows), [found.names[i] for i in order] or None


# ---------------------------------------------------------------- pandas, polars, Arrow


def _from_pandas(X: Any, name: str) -> _Read:
    pandas = sys.modules["pandas"]
    if not isinstance(X, pandas.DataFrame):
        return X, None  # NumPy converts a Series

    def read(i: int) -> Any:
        values = X.iloc[:, i]
        if values.dtype == object:
            # Objects may hold numbers. A text that looks like a number is not one.
            for value in values:
                if isinstance(value, (str, bytes)):
                    return f"text such as {value!r}"
                if is_time(value) or is_complex(value):
                    return f"{type(value).__name__} such as {value}"
                refuse_beyond(value, X.columns[i])
            try:
                return values.to_numpy(dtype=np.float64, na_value=np.nan)
            except (TypeError, ValueError):
                return "objects"
        if not pandas.api.types.is_numeric_dtype(values.dtype) or values.dtype.kind == "c":
            return str(values.dtype)
        if pandas.api.types.is_integer_dtype(values.dtype) or values.dtype.kind == "O":  # decimals of Arrow
            refuse_inexact(values, X.columns[i])
        single = values.dtype == np.float32 or str(values.dtype) == "Float32"
        return values.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan)

    return Columns(list(X.columns), read, len(X), f"as with {name}.select_dtypes('number')")


def _from_polars(X: Any, name: str) -> _Read:
    polars = sys.modules["polars"]
    if isinstance(X, polars.LazyFrame):
        raise TypeError(f"{name} is a LazyFrame, which has no values yet: use {name}.collect()")
    if not isinstance(X, polars.DataFrame):
        return X, None

    def read(i: int) -> Any:
        column = X.to_series(i)
        if not (column.dtype.is_numeric() or column.dtype == polars.Boolean):
            return str(column.dtype)
        if column.dtype.is_integer() or column.dtype.is_decimal():
            refuse_inexact(column, column.name)
        return column.cast(polars.Float32 if column.dtype == polars.Float32 else polars.Float64).to_numpy()

    return Columns(list(X.columns), read, X.height, f"as with {name}.select(polars.selectors.numeric())")


def _from_arrow(X: Any, name: str) -> _Read:
    arrow = sys.modules["pyarrow"]
    if not isinstance(X, (arrow.Table, arrow.RecordBatch)):
        return X, None
    numbers = {getattr(arrow.lib, f"Type_{kind}") for kind in _ARROW_NUMBERS if hasattr(arrow.lib, f"Type_{kind}")}

    def read(i: int) -> Any:
        field, values = X.schema[i], X.column(i)
        if field.type.id not in numbers:
            return str(field.type)
        if arrow.types.is_integer(field.type) or arrow.types.is_decimal(field.type):
            ends = importlib.import_module("pyarrow.compute").min_max(values).as_py()
            refuse_beyond(ends["min"], field.name)
            refuse_beyond(ends["max"], field.name)
        if field.type != arrow.float32():
            if field.type == arrow.bool_():
                values = values.cast(arrow.int8())
            values = values.cast(arrow.float64(), safe=False)
        return values.to_numpy() if isinstance(values, arrow.ChunkedArray) else values.to_numpy(zero_copy_only=False)

    return Columns(list(X.schema.names), read, X.num_rows, f"as with {name}.select([…])")


_ARROW_NUMBERS = (
    *("BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"),
    *("HALF_FLOAT", "FLOAT", "DOUBLE", "DECIMAL32", "DECIMAL64", "DECIMAL128", "DECIMAL256"),
)


# ---------------------------------------------------------------- NumPy


def _from_records(X: Any, name: str, metric: Metric, masked: bool) -> Columns:
    """Returns the fields of an array of records. Each element of a vector field is a column, as in files."""
    if len(X.shape) != 1:
        raise ValueError(
            f"{name} has the shape {X.shape}, and records of points come one after another: give {name}.reshape(-1)"
        )
    elements = [
        (field, k, index) for field in X.dtype.names for k, index in enumerate(np.ndindex(X.dtype[field].shape))
    ]
    names = [f"{field}[{k}]" if index else field for field, k, index in elements]

    def read(i: int) -> Any:
        field, _, index = elements[i]
        values = X[field][(..., *index)]
        if values.dtype.kind not in "fiub":
            return "text" if values.dtype.kind in "US" else str(values.dtype)
        return refuse_inexact(
            without_mask(values, name, f" of the field '{names[i]}'", metric, masked, names[i]), names[i]
        )

    return Columns(names, read, len(X), f"as with {name}[['x', 'y']]")


# ---------------------------------------------------------------- xarray


def _from_xarray(X: Any, name: str) -> _Read:
    xarray = sys.modules["xarray"]
    if isinstance(X, xarray.Dataset):
        return _from_variables(X, name)
    if not isinstance(X, xarray.DataArray):
        return X, None
    names = None
    if X.ndim == 2 and X.dims[1] in X.coords:
        names = X.coords[X.dims[1]].values.tolist()
    return X.values, names


def _from_variables(X: Any, name: str) -> _Read:
    variables = {str(key): X[key] for key in X.data_vars}
    dims = {values.dims for values in variables.values()}
    if len(dims) != 1 or len(next(iter(dims))) != 1:
        shown = ", ".join(f"'{key}' over {values.dims}" for key, values in list(variables.items())[:4])
        raise ValueError(
            f"{name} is a Dataset whose variables are not columns of one dimension ({shown or 'it has none'}): "
            f"bring them to one with {name}.stack(point=[…]), coordinates of which are variables after "
            ".reset_index('point').reset_coords()"
        )
    names = list(variables)

    def read(i: int) -> Any:
        values = variables[names[i]]
        return refuse_inexact(values.values, names[i]) if values.dtype.kind in "fiub" else str(values.dtype)

    return Columns(names, read, len(variables[names[0]]), f"as with {name}[['x', 'y']]")


# ---------------------------------------------------------------- geopandas


def _from_geopandas(X: Any, name: str, metric: Metric) -> _Read:
    """Returns x and y of the points of the geometry, and z if they have it; longitude and latitude, in the order and
    unit of the metric, if it takes angles. Other columns of a GeoDataFrame are ignored. Raises ValueError if a row has
    no point, if only some points have z, or if the metric takes angles and X has projected coordinates."""
    geopandas = sys.modules["geopandas"]
    if not isinstance(X, (geopandas.GeoDataFrame, geopandas.GeoSeries)):
        return _from_pandas(X, name)
    points = X.geometry
    wrong = (points.geom_type != "Point") | points.is_empty | points.isna()
    if wrong.any():
        row = int(np.flatnonzero(wrong.to_numpy())[0])
        kind = points.geom_type.iloc[row]
        what = (
            "has no geometry" if not isinstance(kind, str) else "is an empty point" if kind == "Point"
            else f"is a {kind}"
        )
        raise ValueError(
            f"{name} has {int(wrong.sum())} rows without a point, the first of them row {row}, which {what}: "
            f"leave them out, or take {name}.geometry.centroid"
        )
    deep = bool(points.has_z.any())
    if deep and not points.has_z.all():
        raise ValueError(f"{name} has points with and without z: leave it out with {name}.geometry.force_2d()")
    axes = ["x", "y", "z"][: 3 if deep else 2]
    if metric.angle_unit is None:
        return Columns(axes, lambda i: getattr(points, axes[i]).to_numpy(), len(points), "")
    unit = _angle_of(points.crs, name, metric)
    angles = [("lon", points.x), ("lat", points.y)]
    if metric.takes_latitude_first:
        angles.reverse()
    return Columns([axis for axis, _ in angles], lambda i: unit * angles[i][1].to_numpy(), len(points), "")


def _angle_of(crs: Any, name: str, metric: Metric) -> float:
    """Returns the factor that converts angles of a coordinate reference system to the unit of the metric; 1 if crs is
    None. name: the name of X in errors. Raises ValueError if the system does not have longitudes and latitudes."""
    if crs is None:
        return 1.0
    if not crs.is_geographic:
        raise ValueError(
            f"{name} is in {crs.to_string()}, and metric={metric.name!r} takes longitudes and latitudes: give "
            f"{name}.to_crs(4326)"
        )
    radians = float(crs.axis_info[0].unit_conversion_factor)
    return radians if metric.angle_unit == "rad" else radians / math.radians(1)
