"""Tables of other libraries as arrays of coordinates. None of these libraries is imported: whoever has an object of one has it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ._astropy import from_astropy
from ._columns import in_one, refuse_columns
from ._metrics import EUCLIDEAN, MetricWords

_LIBRARIES = ("geopandas", "pandas", "polars", "pyarrow", "xarray", "astropy")


def library_of(X: Any) -> str | None:
    """Whose table X is, also by a base class; None for arrays and everything else."""
    if type(X) is np.ndarray or type(X) is list:
        return None
    packages = [base.__module__.partition(".")[0] for base in type(X).__mro__]
    return next((library for library in _LIBRARIES if library in packages), None)


def from_table(
    X: Any, metric: MetricWords = EUCLIDEAN, name: str = "X", masked: bool = False
) -> tuple[Any, list[str] | None]:
    """X as what NumPy makes an array of, with the names of its columns where they are known; X itself where it is no table.

    Units that X has are converted to those that the metric takes. Missing values become NaN. masked: also those that astropy masks,
    which are refused otherwise. Raises TypeError, ValueError for columns that are no coordinates, by their names.
    """
    library = library_of(X)
    if library is None:
        return X, None
    reader: Callable[[Any, str], tuple[Any, list[str] | None]] = {
        "pandas": _from_pandas,
        "geopandas": _from_geopandas,
        "polars": _from_polars,
        "pyarrow": _from_arrow,
        "xarray": _from_xarray,
        "astropy": lambda X, name: from_astropy(X, name, metric, masked),
    }[library]
    return reader(X, name)


def _text_names(names: Any) -> list[str] | None:
    names = list(names)
    return names if names and all(isinstance(column, str) for column in names) else None


# ---------------------------------------------------------------- pandas, polars, Arrow


def _from_pandas(X: Any, name: str) -> tuple[Any, list[str] | None]:
    pandas = sys.modules["pandas"]
    if not isinstance(X, pandas.DataFrame):
        return X, None  # a Series is what NumPy makes of it
    refused, columns = [], []
    for i, column in enumerate(X.columns):
        values = X.iloc[:, i]
        if values.dtype == object:
            # Numbers may lie in objects, and a text that looks like one is none.
            text = next((v for v in values if isinstance(v, (str, bytes))), None)
            if text is not None:
                refused.append((str(column), f"text such as {text!r}"))
                continue
            try:
                columns.append(values.to_numpy(dtype=np.float64, na_value=np.nan))
            except (TypeError, ValueError):
                refused.append((str(column), "objects"))
        elif not pandas.api.types.is_numeric_dtype(values.dtype) or values.dtype.kind == "c":
            refused.append((str(column), str(values.dtype)))
        elif values.dtype == np.float32 or str(values.dtype) == "Float32":
            columns.append(values.to_numpy(dtype=np.float32, na_value=np.nan))
        else:
            columns.append(values.to_numpy(dtype=np.float64, na_value=np.nan))
    refuse_columns(name, refused, f"as with {name}.select_dtypes('number')")
    return in_one(columns, len(X)), _text_names(X.columns)


def _from_polars(X: Any, name: str) -> tuple[Any, list[str] | None]:
    polars = sys.modules["polars"]
    if isinstance(X, polars.LazyFrame):
        raise TypeError(f"{name} is a LazyFrame, which has no values yet: use {name}.collect()")
    if not isinstance(X, polars.DataFrame):
        return X, None
    refused, columns = [], []
    for column in X.iter_columns():
        if not (column.dtype.is_numeric() or column.dtype == polars.Boolean):
            refused.append((column.name, str(column.dtype)))
            continue
        wanted = polars.Float32 if column.dtype == polars.Float32 else polars.Float64
        columns.append(column.cast(wanted).to_numpy())
    refuse_columns(name, refused, f"as with {name}.select(polars.selectors.numeric())")
    return in_one(columns, X.height), list(X.columns)


def _from_arrow(X: Any, name: str) -> tuple[Any, list[str] | None]:
    arrow = sys.modules["pyarrow"]
    if not isinstance(X, (arrow.Table, arrow.RecordBatch)):
        return X, None
    types = arrow.lib
    numbers = {getattr(types, f"Type_{kind}") for kind in _ARROW_NUMBERS if hasattr(types, f"Type_{kind}")}
    refused, columns = [], []
    for i, field in enumerate(X.schema):
        if field.type.id not in numbers:
            refused.append((field.name, str(field.type)))
            continue
        values = X.column(i)
        if field.type != arrow.float32():
            if field.type == arrow.bool_():
                values = values.cast(arrow.int8())
            values = values.cast(arrow.float64(), safe=False)
        if isinstance(values, arrow.ChunkedArray):
            columns.append(values.to_numpy())
        else:
            columns.append(values.to_numpy(zero_copy_only=False))
    refuse_columns(name, refused, f"as with {name}.select([…])")
    return in_one(columns, X.num_rows), list(X.schema.names)


_ARROW_NUMBERS = (
    *("BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"),
    *("HALF_FLOAT", "FLOAT", "DOUBLE", "DECIMAL32", "DECIMAL64", "DECIMAL128", "DECIMAL256"),
)


# ---------------------------------------------------------------- xarray


def _from_xarray(X: Any, name: str) -> tuple[Any, list[str] | None]:
    xarray = sys.modules["xarray"]
    if isinstance(X, xarray.Dataset):
        return _from_variables(X, name)
    if not isinstance(X, xarray.DataArray):
        return X, None
    names = None
    if X.ndim == 2 and X.dims[1] in X.coords:
        names = _text_names(X.coords[X.dims[1]].values.tolist())
    return X.values, names


def _from_variables(X: Any, name: str) -> tuple[Any, list[str] | None]:
    variables = {str(key): X[key] for key in X.data_vars}
    dims = {values.dims for values in variables.values()}
    if len(dims) != 1 or len(next(iter(dims))) != 1:
        shown = ", ".join(f"'{key}' over {values.dims}" for key, values in list(variables.items())[:4])
        raise ValueError(
            f"{name} is a Dataset whose variables are not columns of one dimension ({shown or 'it has none'}): bring them to one with "
            f"{name}.stack(point=[…]), coordinates of which are variables after .reset_index('point').reset_coords()"
        )
    refused = [(key, str(values.dtype)) for key, values in variables.items() if values.dtype.kind not in "fiub"]
    refuse_columns(name, refused, f"as with {name}[['x', 'y']]")
    columns = [values.values for values in variables.values()]
    return in_one(columns, len(columns[0])), list(variables)


# ---------------------------------------------------------------- geopandas


def _from_geopandas(X: Any, name: str) -> tuple[Any, list[str] | None]:
    """The coordinates of points; what else a GeoDataFrame has is no coordinate."""
    geopandas = sys.modules["geopandas"]
    if not isinstance(X, (geopandas.GeoDataFrame, geopandas.GeoSeries)):
        return _from_pandas(X, name)
    points = X.geometry
    wrong = (points.geom_type != "Point") | points.is_empty | points.isna()
    if wrong.any():
        row = int(np.flatnonzero(wrong.to_numpy())[0])
        kind = points.geom_type.iloc[row]
        what = "has no geometry" if not isinstance(kind, str) else "is an empty point" if kind == "Point" else f"is a {kind}"
        raise ValueError(
            f"{name} has {int(wrong.sum())} rows without a point, the first of them row {row}, which {what}: leave them out, or take "
            f"{name}.geometry.centroid"
        )
    if points.has_z.any():
        if not points.has_z.all():
            raise ValueError(f"{name} has points with and without z: leave it out with {name}.geometry.force_2d()")
        return in_one([points.x, points.y, points.z], len(points)), ["x", "y", "z"]
    return in_one([points.x, points.y], len(points)), ["x", "y"]
