"""Tables of other libraries; each test skips where its library is absent."""

from __future__ import annotations

import numpy as np
import pytest

import epsflow
from epsflow._arrays import as_points


@pytest.fixture
def points() -> np.ndarray:
    return np.random.default_rng(5).uniform(size=(60, 2))


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


TABLES = [pandas_frame, polars_frame, arrow_table, arrow_batch, xarray_dataset, astropy_table]


@pytest.mark.parametrize("make", TABLES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.bool_])
def test_columns_become_coordinates(points, make, dtype):
    points = (points * 10).astype(dtype)
    found = as_points(make(points))
    wanted = np.float32 if dtype == np.float32 else np.float64
    assert found.dtype == wanted and found.flags.c_contiguous
    np.testing.assert_array_equal(found, points.astype(wanted))


@pytest.mark.parametrize("make", TABLES)
def test_of_two_precisions_the_better(points, make):
    table = make(points, {"z": points[:, 0].astype(np.float32)})
    assert as_points(table).dtype == np.float64 and as_points(table).shape == (60, 3)


@pytest.mark.parametrize("make", TABLES)
def test_the_estimator_knows_the_names(points, make):
    fitted = epsflow.DBSCAN(0.1).fit(make(points))
    assert fitted.feature_names_in_.tolist() == ["x", "y"] and fitted.n_features_in_ == 2
    np.testing.assert_array_equal(fitted.labels_, epsflow.DBSCAN(0.1).fit(points).labels_)
    np.testing.assert_array_equal(fitted.labels_, epsflow.sweep(make(points), 0.1, 5)[0].labels)
    assert not hasattr(fitted.fit(points), "feature_names_in_")


@pytest.mark.parametrize("make", TABLES)
@pytest.mark.parametrize("use", [as_points, lambda X: epsflow.DBSCAN().fit(X), epsflow.drop_missing])
def test_text_is_refused_by_its_column(points, make, use):
    with pytest.raises(ValueError, match="'name'.*leave out what is no coordinate"):
        use(make(points, {"name": ["1.5"] * 60}))


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table])
def test_dates_are_refused_by_their_column(points, make):
    with pytest.raises(ValueError, match="'when'"):
        as_points(make(points, {"when": np.array(["2026-01-01"] * 60, dtype="datetime64[ms]")}))


@pytest.mark.parametrize("make", [polars_frame, arrow_table, arrow_batch])
def test_nulls_are_refused_and_dropped_when_asked(points, make):
    table = make(points, {"z": [None] + [1] * 59})
    with pytest.raises(ValueError, match="column"):
        epsflow.sweep(table, 0.1, 5)
    found, rows = epsflow.drop_missing(table)
    assert found.shape == (59, 3) and rows.tolist() == list(range(1, 60))


def test_pandas_objects_and_nullable_numbers(points):
    pandas = pytest.importorskip("pandas")
    frame = pandas_frame(points, {"o": pandas.Series([1, 2.5] * 30, dtype=object), "n": pandas.array([None] + [1] * 59, dtype="Int64")})
    assert as_points(frame).shape == (60, 4) and np.isnan(as_points(frame)[0, 3])
    assert epsflow.drop_missing(frame)[1].tolist() == list(range(1, 60))
    frame["o"] = pandas.Series([1, "2.5"] * 30, dtype=object)
    with pytest.raises(ValueError, match="'o' \\(text such as '2.5'\\)"):
        as_points(frame)
    twice = pandas.DataFrame(points, columns=["x", "x"])
    np.testing.assert_array_equal(as_points(twice), points)
    numbered = epsflow.DBSCAN().fit(pandas.DataFrame(points))
    assert not hasattr(numbered, "feature_names_in_")


def test_a_lazy_frame_is_to_be_collected(points):
    with pytest.raises(TypeError, match="collect"):
        as_points(polars_frame(points).lazy())


def test_xarray(points):
    xarray = pytest.importorskip("xarray")
    array = xarray.DataArray(points, dims=("point", "axis"), coords={"axis": ["x", "y"]})
    np.testing.assert_array_equal(as_points(array), points)
    assert epsflow.DBSCAN().fit(array).feature_names_in_.tolist() == ["x", "y"]
    assert not hasattr(epsflow.DBSCAN().fit(xarray.DataArray(points)), "feature_names_in_")
    with pytest.raises(ValueError, match="Expected 2D array"):
        as_points(array[:, 0])
    grid = xarray.Dataset({"t": (("lat", "lon"), np.ones((3, 4)))}, coords={"lat": [1.0, 2, 3], "lon": [1.0, 2, 3, 4]})
    with pytest.raises(ValueError, match=r"'t' over \('lat', 'lon'\).*stack"):
        as_points(grid)
    stacked = grid.stack(point=["lat", "lon"]).reset_index("point").reset_coords()  # the remedy of the message
    assert as_points(stacked).shape == (12, 3)


def test_geopandas(points):
    geopandas = pytest.importorskip("geopandas")
    shapely = pytest.importorskip("shapely")
    series = geopandas.GeoSeries.from_xy(points[:, 0], points[:, 1])
    frame = geopandas.GeoDataFrame({"name": ["a"] * 60}, geometry=series)
    for X in (series, frame):
        np.testing.assert_array_equal(as_points(X), points)
    assert epsflow.DBSCAN().fit(frame).feature_names_in_.tolist() == ["x", "y"]
    deep = geopandas.GeoSeries.from_xy(points[:, 0], points[:, 1], np.arange(60))
    np.testing.assert_array_equal(as_points(deep)[:, 2], np.arange(60))
    for wrong, words in [
        (shapely.LineString([(0, 0), (1, 1)]), "row 3, which is a LineString.*centroid"),
        (shapely.Point(), "row 3, which is an empty point"),
        (None, "row 3, which has no geometry"),
        (shapely.Point(1, 2, 3), "with and without z"),
    ]:
        with pytest.raises(ValueError, match=words):
            as_points(geopandas.GeoSeries([*series[:3], wrong, *series[4:]]))


def test_masked_rows_are_dropped_when_asked(points):
    X = np.ma.masked_greater(points, 0.8)
    found, rows = epsflow.drop_missing(X)
    np.testing.assert_array_equal(rows, np.flatnonzero((points <= 0.8).all(axis=1)))
    np.testing.assert_array_equal(found, points[rows])
    assert epsflow.drop_missing(points)[0].shape == points.shape
