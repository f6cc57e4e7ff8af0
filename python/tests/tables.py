"""Makes points [n, 2] as tables of other libraries, with columns x, y and others. A test skips without its library."""

import numpy as np
import pytest


def pandas_frame(points, extra=None):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"x": points[:, 0], "y": points[:, 1], **(extra or {})})


def polars_frame(points, extra=None):
    polars = pytest.importorskip("polars")
    return polars.DataFrame({"x": points[:, 0], "y": points[:, 1], **(extra or {})})


def arrow_table(points, extra=None):
    arrow = pytest.importorskip("pyarrow")
    return arrow.table({"x": points[:, 0].copy(), "y": points[:, 1].copy(), **(extra or {})})


def arrow_batch(points, extra=None):
    return arrow_table(points, extra).to_batches()[0]


def xarray_dataset(points, extra=None):
    xarray = pytest.importorskip("xarray")
    columns = {"x": points[:, 0], "y": points[:, 1], **(extra or {})}
    return xarray.Dataset({name: ("point", np.asarray(values)) for name, values in columns.items()})


def astropy_table(points, extra=None):
    table = pytest.importorskip("astropy.table")
    return table.Table({"x": points[:, 0], "y": points[:, 1], **(extra or {})})


def geo_frame(points, extra=None):
    geopandas = pytest.importorskip("geopandas")
    return geopandas.GeoDataFrame(extra or {}, geometry=geopandas.points_from_xy(*points.T), crs=4326)


TABLES = [pandas_frame, polars_frame, arrow_table, arrow_batch, xarray_dataset, astropy_table]
