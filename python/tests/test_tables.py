"""Tests tables of other libraries. If a library is missing, its test skips."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest
from tables import TABLES, arrow_batch, arrow_table, pandas_frame, polars_frame, xarray_dataset

import epsflow
from epsflow import _plain_estimator
from epsflow._arrays import as_host_points as as_points
from epsflow._metrics import as_metric

GREATCIRCLE, HAVERSINE = as_metric("greatcircle"), as_metric("haversine")


@pytest.mark.parametrize("make", TABLES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.bool_])
def test_columns_become_coordinates(points, make, dtype):
    points = (points * 10).astype(dtype)
    found = as_points(make(points))
    wanted = np.float32 if dtype == np.float32 else np.float64
    assert found.dtype == wanted and found.flags.c_contiguous
    np.testing.assert_array_equal(found, points.astype(wanted))
    of_two_precisions = as_points(make(points, {"z": points[:, 0].astype(np.float32)}))
    assert of_two_precisions.dtype == wanted and of_two_precisions.shape == (60, 3)


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


def table_of(make, columns):
    """Returns a table of make()'s library with these columns, instead of x and y."""
    kind = type(make(np.zeros((1, 2))))
    if make is xarray_dataset:
        return kind({name: ("point", values) for name, values in columns.items()})
    return kind.from_pydict(columns) if make in (arrow_table, arrow_batch) else kind(columns)


@pytest.fixture
def sky() -> np.ndarray:
    """Returns longitudes that are not valid latitudes, and latitudes, in degrees."""
    return np.random.default_rng(6).uniform([100, -4], [110, 4], size=(60, 2))


@pytest.mark.parametrize("make", TABLES)
@pytest.mark.parametrize(
    "names", [("lon", "lat"), ("ra", "dec"), ("RAJ2000", "DEJ2000"), ("decimalLongitude", "decimalLatitude")]
)
def test_longitude_and_latitude_are_found_by_their_names(sky, make, names):
    (lon, lat), (x, y) = names, sky.T
    expected = epsflow.sweep(sky, 1.0, 4, metric="greatcircle")[0].labels
    assert expected.max() > 0
    radians = {"eps": np.radians(1.0), "min_samples": 4, "metric": "haversine"}
    others = {"id": np.arange(60), "name": ["a"] * 60}
    for columns in ({lon: x, lat: y}, {lat: y, lon: x}, {"z": x, lat: y, lon: x, **others}):
        X = table_of(make, columns)
        np.testing.assert_array_equal(as_points(X, GREATCIRCLE), sky)
        np.testing.assert_array_equal(epsflow.sweep(X, 1.0, 4, metric="greatcircle")[0].labels, expected)
        fitted = epsflow.DBSCAN(1.0, min_samples=4, metric="greatcircle").fit(X)
        np.testing.assert_array_equal(fitted.labels_, expected)
        assert fitted.feature_names_in_.tolist() == [lon, lat]
        np.testing.assert_array_equal(fitted.predict(table_of(make, {lat: y, lon: x})), expected)
        turned = table_of(make, {**columns, lon: np.radians(x), lat: np.radians(y)})
        np.testing.assert_array_equal(epsflow.sweep(turned, **radians)[0].labels, expected)
        assert epsflow.DBSCAN(**radians).fit(turned).feature_names_in_.tolist() == [lat, lon]


@pytest.mark.parametrize("make", TABLES)
def test_names_that_contradict_each_other(sky, make):
    x, y = sky.T
    expected = epsflow.sweep(sky, 1.0, 4, metric="greatcircle")[0].labels
    for names in (("lat", "x"), ("dec", "lon"), ("lat_1", "lon_2")):
        X = table_of(make, dict(zip(names, (y, x))))
        for use in (
            lambda X: epsflow.sweep(X, 1.0, 4, metric="greatcircle"),
            lambda X: epsflow.DBSCAN(metric="haversine").fit(X),
        ):
            words = f"'{names[0]}', '{names[1]}'.*metric_params={{'latitude_first': True}}"
            with pytest.raises(ValueError, match=words):
                use(X)
        said = {"metric": "greatcircle", "metric_params": {"latitude_first": True}}
        np.testing.assert_array_equal(epsflow.sweep(X, 1.0, 4, **said)[0].labels, expected)
    said["metric_params"] = {"latitude_first": False}
    turned = table_of(make, {"lat": x, "lon": y})
    np.testing.assert_array_equal(epsflow.sweep(turned, 1.0, 4, **said)[0].labels, expected)
    for columns, words in (
        ({"ra": x, "dec": y, "l": x, "b": y}, "'ra', 'dec', 'l', 'b': choose two$"),
        ({"x": x, "y": y, "z": y}, "takes two columns"),
    ):
        with pytest.raises(ValueError, match=words):
            epsflow.sweep(table_of(make, columns), 1.0, 4, metric="greatcircle")
    np.testing.assert_array_equal(as_points(table_of(make, {"x": x, "y": y}), GREATCIRCLE), sky)


@pytest.mark.parametrize("make", TABLES)
def test_a_unit_in_a_name_that_is_not_the_metrics(sky, make):
    radians = table_of(make, dict(zip(["lat_rad", "lon_rad"], np.radians(sky[:, ::-1]).T)))
    degrees = table_of(make, dict(zip(["RAdeg", "DEdeg"], sky.T)))
    in_radians = "'l.._rad', 'l.._rad' columns are in radians, and greatcircle takes degrees.*metric='haversine'"
    in_degrees = "'DEdeg', 'RAdeg' columns are in degrees, and haversine takes radians.*metric='greatcircle'"
    for X, metric, params, words in (
        (radians, "greatcircle", None, in_radians), (radians, "greatcircle", {"latitude_first": True}, in_radians),
        (degrees, "haversine", None, in_degrees),
    ):
        with pytest.raises(ValueError, match=words):
            epsflow.sweep(X, 1.0, 4, metric=metric, metric_params=params)
    found = epsflow.sweep(radians, np.radians(1.0), 4, metric="haversine")[0].labels
    np.testing.assert_array_equal(found, epsflow.sweep(sky, 1.0, 4, metric="greatcircle")[0].labels)


def test_longitudes_and_latitudes_of_other_containers(sky):
    xarray = pytest.importorskip("xarray")
    geopandas = pytest.importorskip("geopandas")
    array = xarray.DataArray(sky[:, ::-1], dims=("point", "axis"), coords={"axis": ["lat", "lon"]})
    np.testing.assert_array_equal(as_points(array, GREATCIRCLE), sky)
    series = geopandas.GeoSeries.from_xy(*np.radians(sky).T)
    np.testing.assert_array_equal(as_points(series, HAVERSINE), np.radians(sky)[:, ::-1])
    with pytest.raises(ValueError, match="haversine.*latitude first"):
        epsflow.sweep(sky, 1.0, 4, metric="haversine", metric_params={"latitude_first": False})


def test_longitudes_out_of_range(sky):
    sky[7, 0] = 1e300
    with pytest.raises(ValueError, match=r"longitude 1e\+300 in row 7, column 0"):
        epsflow.sweep(sky, 1.0, 4, metric="greatcircle")


@pytest.mark.parametrize("make", TABLES)
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_whole_numbers_that_would_become_one(points, make, dtype):
    whole = np.arange(60).astype(dtype)
    assert as_points(make(points, {"id": whole + dtype(2**53 - 59)}))[-1, 2] == 2**53
    X = make(points, {"id": whole + dtype(2**53 - 58)})
    for use in (as_points, lambda X: epsflow.DBSCAN().fit(X), lambda X: epsflow.Engine("cpu").load(X)):
        with pytest.raises(ValueError, match=f"column 'id' has {2**53 + 1}.*2\\*\\*53"):
            use(X)


@pytest.mark.parametrize("use", [as_points, lambda X: epsflow.DBSCAN().fit(X), lambda X: epsflow.sweep(X, 1, 2)])
def test_arrays_of_what_is_no_coordinate(points, use):
    low, high = -(2**53) - 1, 2**53 + 1
    texts = np.array([["0.5", str(high)]])
    times = (points * 1e9).astype("datetime64[s]")
    times[0, 0] = "NaT"
    for wrong, words in (
        ((np.array([[1, low], [1, 2]]), [[1, low], [1, 2]], np.array([[1, low]], dtype=object)), f"column 1 has {low}"),
        ((texts, texts.astype("S"), texts.astype(object), [[0, 1], [0.5, high]], [np.array([0.5, 0]), (0, high)]),
         f"column 1 has b?'?{high}"),
        ((times,), r"dtype datetime.*\(X - X.min\(\)\) / numpy.timedelta64"),
        ((times - times[1, 1],), "dtype timedelt.*such as X / numpy.timedelta64"),
        ((np.ma.masked_greater(points, 0.9),), "masked values in [0-9]+ rows.*drop_missing"),
    ):
        for X in wrong:
            with pytest.raises(ValueError, match=words):
                use(X)


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
    frame = pandas_frame(
        points, {"o": pandas.Series([1, 2.5] * 30, dtype=object), "n": pandas.array([None] + [1] * 59, dtype="Int64")}
    )
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
    stacked = grid.stack(point=["lat", "lon"]).reset_index("point").reset_coords()  # the message recommends this
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


def test_infinities_are_dropped(points):
    points[3, 1], points[5, 0], points[7, 1] = np.inf, np.nan, -np.inf
    found, rows = epsflow.drop_missing(points)
    assert len(epsflow.sweep(found, 0.1, 4)[0].labels) == 57
    assert np.setdiff1d(np.arange(60), rows).tolist() == [3, 5, 7]
    with pytest.raises(ValueError, match="inf.*drop_missing"):
        epsflow.sweep(points[:4], 0.1, 4)


@pytest.mark.parametrize("metric, first", [("greatcircle", "lon"), ("haversine", "lat")])
def test_the_estimator_takes_names_that_are_no_texts(sky, metric, first):
    pandas = pytest.importorskip("pandas")
    columns = dict(zip(("lon", "lat"), (np.radians(sky) if metric == "haversine" else sky).T))
    eps = np.radians(1.0) if metric == "haversine" else 1.0
    for order in (["lon", "lat"], ["lat", "lon"]):
        frame = pandas.DataFrame({name: columns[name] for name in order})
        frame.columns = pandas.MultiIndex.from_tuples([(name, "") for name in order])
        fitted = epsflow.DBSCAN(eps, min_samples=4, metric=metric).fit(frame)
        np.testing.assert_array_equal(fitted.labels_, epsflow.sweep(sky, 1.0, 4, metric="greatcircle")[0].labels)
        np.testing.assert_array_equal(fitted.components_[:, 0], columns[first][fitted.core_sample_indices_])
        np.testing.assert_array_equal(fitted.predict(frame), fitted.labels_)


def test_names_are_forgotten_without_scikit_learn(points):
    """Tests the replacement of scikit-learn's validate_data."""
    estimator = SimpleNamespace()
    _plain_estimator.validate_data(estimator, pandas_frame(points))
    assert estimator.feature_names_in_.tolist() == ["x", "y"]
    _plain_estimator.validate_data(estimator, points)
    assert not hasattr(estimator, "feature_names_in_")


def test_a_frame_without_columns():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"):
        epsflow.DBSCAN().fit(pandas.DataFrame(index=range(3)))


def test_geopandas_has_longitudes_in_x(sky):
    geopandas = pytest.importorskip("geopandas")
    expected = epsflow.sweep(sky, 1.0, 4, metric="greatcircle")[0].labels
    for X in (geopandas.GeoSeries.from_xy(*sky.T), geopandas.GeoSeries.from_xy(*sky.T, np.zeros(60))):
        for latitude_first in (True, False):
            of = {"metric": "greatcircle", "metric_params": {"latitude_first": latitude_first}}
            np.testing.assert_array_equal(epsflow.sweep(X, 1.0, 4, **of)[0].labels, expected)
            fitted = epsflow.DBSCAN(1.0, min_samples=4, **of).fit(X)
            np.testing.assert_array_equal(fitted.labels_, expected)
            assert fitted.feature_names_in_.tolist() == (["lat", "lon"] if latitude_first else ["lon", "lat"])
    X = geopandas.GeoSeries.from_xy(*np.radians(sky).T)
    for params in (None, {"latitude_first": True}):
        found = epsflow.sweep(X, np.radians(1.0), 4, metric="haversine", metric_params=params)
        np.testing.assert_array_equal(found[0].labels, expected)


def test_geopandas_says_what_its_coordinates_are(sky):
    geopandas = pytest.importorskip("geopandas")
    X = geopandas.GeoSeries.from_xy(*sky.T, crs=4326)
    np.testing.assert_array_equal(as_points(X, GREATCIRCLE), sky)
    np.testing.assert_array_equal(as_points(X, HAVERSINE), np.radians(sky)[:, ::-1])
    grads = geopandas.GeoSeries.from_xy(*(sky / 0.9).T, crs=4807)
    np.testing.assert_allclose(as_points(grads, GREATCIRCLE), sky, rtol=1e-14)
    np.testing.assert_allclose(as_points(grads, HAVERSINE), np.radians(sky)[:, ::-1], rtol=1e-14)
    for metric in (GREATCIRCLE, HAVERSINE):
        words = rf"X is in EPSG:3857, and metric='{metric.name}' takes longitudes.*X.to_crs\(4326\)"
        with pytest.raises(ValueError, match=words):
            as_points(X.to_crs(3857), metric)
        np.testing.assert_allclose(as_points(X.to_crs(3857).to_crs(4326), metric), as_points(X, metric), rtol=1e-12)
    assert as_points(X.to_crs(3857)).shape == (60, 2)


def test_predict_takes_the_coordinates_of_fit(sky):
    geopandas = pytest.importorskip("geopandas")
    X = geopandas.GeoSeries.from_xy(*sky.T, crs=4326)
    for metric in ("euclidean", "greatcircle"):
        fitted = epsflow.DBSCAN(1.0, min_samples=4, metric=metric).fit(X)
        for same in (X, X.set_crs(None, allow_override=True)):
            np.testing.assert_array_equal(fitted.predict(same), fitted.labels_)
        other = 3857 if metric == "euclidean" else 4269
        words = rf"X is in EPSG:{other}, and the points of fit were in EPSG:4326.*X.to_crs\('EPSG:4326'\)"
        with pytest.raises(ValueError, match=words):
            fitted.predict(X.to_crs(other))


@pytest.mark.parametrize("use", [as_points, lambda X: epsflow.DBSCAN().fit(X), epsflow.drop_missing])
def test_masks_of_parts_of_a_list_are_not_lost(use):
    rows = [np.ma.masked_array([1, 2], mask=[0, 1]), np.ma.masked_array([3, 4], mask=[0, 0])]
    for X in (rows, tuple(rows)):
        words = f"X is a {type(X).__name__} whose item 0 has masked values.*numpy.ma.stack.X."
        with pytest.raises(ValueError, match=words):
            use(X)
    assert epsflow.drop_missing(np.ma.stack(rows))[1].tolist() == [1]
    assert use([np.ma.masked_array([1, 2]), [3, 4]]) is not None
    pandas = pytest.importorskip("pandas")
    assert use([pandas.Series([1, 2]), pandas.Series([3, 4])]) is not None  # the mask of a Series is a method


def test_what_is_dropped_is_checked_like_the_rest():
    large = 2**53 + 1
    X = np.ma.masked_array([[1, 2], [large, 3], [4, 5]], mask=[[0, 1], [0, 0], [0, 0]])
    with pytest.raises(ValueError, match=f"column 0 has {large}"):
        epsflow.drop_missing(X)
    X[1, 0] = np.ma.masked
    found, rows = epsflow.drop_missing(X)
    assert found.tolist() == [[4, 5]] and rows.tolist() == [2]
    with pytest.raises(ValueError, match="Complex data not supported"):
        epsflow.drop_missing(np.ma.masked_array([[1j, 2], [3, 4]], mask=[[0, 0], [0, 1]]))
    with pytest.raises(ValueError, match="masked values in 1 rows"):
        as_points(X[1:])


class TestObjects:
    """Tests columns of Python objects and of decimals."""

    @pytest.mark.parametrize(
        "value", [np.datetime64("2026-01-01"), np.timedelta64(3, "s"), 1 + 2j, np.complex64(1 + 2j)]
    )
    def test_what_becomes_a_number_and_is_none(self, value):
        array = np.array([[1, 0], [2, 0]], dtype=object)
        array[1, 1] = value
        words = "Complex data not supported" if np.iscomplexobj(value) else "a time is"
        for use in (as_points, lambda X: epsflow.DBSCAN().fit(X)):
            with pytest.raises(ValueError, match=words):
                use(array)
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"x": [1.0, 2.0], "o": pandas.Series([1.0, value], dtype=object)})
        with pytest.raises(ValueError, match=rf"'o' \({type(value).__name__} such as "):
            as_points(frame)

    @pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table, arrow_batch])
    def test_decimals_that_would_become_one(self, points, make):
        large = [Decimal(2**53)] * 59
        assert as_points(make(points, {"id": [*large, Decimal("0.5")]}))[0, 2] == 2**53
        for value in (Decimal(2**53 + 1), -Decimal(2**53 + 1)):
            with pytest.raises(ValueError, match=f"column 'id' has {value}"):
                as_points(make(points, {"id": [*large, value]}))

    def test_decimals_in_arrays(self):
        assert np.isnan(as_points(np.array([[Decimal("NaN"), Decimal("0.5")]], dtype=object))[0, 0])
        with pytest.raises(ValueError, match=f"column 1 has {2**53 + 1}"):
            as_points([[1, Decimal(2**53 + 1)]])

    def test_decimals_of_arrow_in_pandas(self):
        pandas = pytest.importorskip("pandas")
        arrow = pytest.importorskip("pyarrow")
        column = pandas.Series([Decimal(1), Decimal(2**53 + 1)], dtype=pandas.ArrowDtype(arrow.decimal128(20)))
        assert as_points(pandas.DataFrame({"x": column[:1]})).tolist() == [[1.0]]
        with pytest.raises(ValueError, match=f"column 'x' has {2**53 + 1}"):
            as_points(pandas.DataFrame({"x": column}))
