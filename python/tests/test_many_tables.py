"""Functions of several tables find the columns of each by name, or refuse them. Arrays of records are tables too."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from checks import check_refused
from tables import TABLES, geo_frame
from test_tables import table_of

import epsflow

# Points are far apart in x and close in y. At eps 1.5 with these scales, exchanged columns change the labels.
POINTS = np.array([[0, 0], [1, 0.1], [2, 0.2], [30, 0.3]])
SCALE = {"metric_params": {"scale": [1, 10.0]}}
LABELS = [0, 0, 0, -1]


def records(points):
    return np.rec.fromarrays(points.T, names="x,y")


def structured(points):
    return np.array(records(points))


ALL = [*TABLES, records, structured]


def renamed(make, names, points):
    """Returns a table of make()'s library with the columns of points under these names."""
    if make in TABLES:
        return table_of(make, dict(zip(names, points.T)))
    made = make(points)
    made.dtype.names = names
    return made


@pytest.mark.parametrize("make", ALL)
def test_tables_of_a_list_are_joined_by_name(make):
    table, turned = make(POINTS), renamed(make, ("y", "x"), POINTS[:, ::-1])
    for listed in ([table, turned], (table, turned), iter([table, turned])):
        found = epsflow.sweep_many(listed, 1.5, 2, **SCALE)
        assert found.labels(1.5, 2).tolist() == LABELS * 2 and found.sizes.tolist() == [4, 4]
        assert found.keys.tolist() == [0, 1]
    backwards = epsflow.sweep_many([turned, table], 1.5, 2, metric_params={"scale": [10.0, 1]})
    assert backwards.labels(1.5, 2).tolist() == LABELS * 2  # columns have the order of the first table
    np.testing.assert_array_equal(found.labels(1.5, 2, slice=1), epsflow.sweep(table, 1.5, 2, **SCALE)[0].labels)
    words = r"X\[1\] has the columns \['.', '.'\], and X\[0\] has \['x', 'y'\]: give the same columns"
    for wrong in (("y", "q"), ("x", "z")):
        with pytest.raises(ValueError, match=words):
            epsflow.sweep_many([table, renamed(make, wrong, POINTS)], 1.5, 2)


@pytest.mark.parametrize("make", ALL)
def test_points_to_attach_and_columns_of_catalogues_are_found_by_name(make):
    table, turned = make(POINTS), renamed(make, ("y", "x"), POINTS[:, ::-1])
    assert epsflow.catalog(table, LABELS, columns=["x"])["x_sum"][0] == 3
    for attach in (turned, POINTS):
        assert epsflow.friends_of_friends(table, 1.5, attach=attach, **SCALE).attached.tolist() == LABELS
    with pytest.raises(ValueError, match=r"attach has the columns \['y', 'q'\], and X has \['x', 'y'\]"):
        epsflow.friends_of_friends(table, 1.5, attach=renamed(make, ("y", "q"), POINTS))


def test_arrays_without_names_have_the_order_of_the_tables():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(POINTS, columns=["x", "y"])
    turned = table[["y", "x"]]
    numbered, twice = pandas.DataFrame(POINTS), pandas.DataFrame(POINTS, columns=["x", "x"])
    for listed in (
        [table, POINTS], [POINTS, table], [POINTS, POINTS], [numbered, table], [numbered, numbered[[1, 0]]],
        [twice, twice],
    ):
        assert epsflow.sweep_many(listed, 1.5, 2, **SCALE).labels(1.5, 2).tolist() == LABELS * 2
    no_names = r"X\[{}\] has no names of columns, and the tables of X have theirs in different orders"
    for listed, words in (
        ([POINTS, table, turned], no_names.format(0)), ([table, turned, numbered], no_names.format(2)),
        ([twice, table], "same columns"), ([table, table[["x"]]], r"X\[1\] has 1 columns, and X\[0\] has 2"),
    ):
        with pytest.raises(ValueError, match=words):
            epsflow.sweep_many(listed, 1.5, 2)


def test_longitudes_and_latitudes_of_a_list_are_found_by_name():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"lon": [0.0, 1, 2, 30], "lat": [0.0, 60, 61, 62]})
    found = epsflow.sweep_many([table, table[["lat", "lon"]]], 0.6, 2, metric="greatcircle")
    np.testing.assert_array_equal(found.labels(0.6, 2, slice=0), found.labels(0.6, 2, slice=1))
    with pytest.raises(ValueError, match="same columns"):
        epsflow.sweep_many([table, table.rename(columns={"lon": "l", "lat": "b"})], 0.6, 2, metric="greatcircle")


def test_units_frames_and_systems_of_coordinates_must_agree():
    pytest.importorskip("astropy")
    import astropy.units as u
    from astropy.coordinates import SkyCoord
    from astropy.table import QTable

    near, far = (QTable({"x": [0, 1, 2] * unit, "y": [0, 0, 0] * unit}) for unit in (u.kpc, u.Mpc))
    assert epsflow.sweep_many([near, near["y", "x"]], 1.0, 2).labels(1.0, 2).tolist() == [0] * 6
    with pytest.raises(ValueError, match=r"X\[1\] is in Mpc, and X\[0\] is in kpc"):
        epsflow.sweep_many([near, far], 1.0, 2)
    with pytest.raises(ValueError, match="attach is in Mpc, and X is in kpc"):
        epsflow.friends_of_friends(near, 1.0, attach=far)
    sky = SkyCoord([0, 1, 2] * u.deg, [0, 0, 0] * u.deg)
    assert epsflow.sweep_many([sky, sky], 1.0, 2, metric="greatcircle").labels(1.0, 2).tolist() == [0] * 6
    with pytest.raises(ValueError, match=r"X\[1\] is in Galactic"):
        epsflow.sweep_many([sky, sky.galactic], 1.0, 2, metric="greatcircle")


def test_maps_of_a_list_must_agree():
    frame = geo_frame(POINTS)
    np.testing.assert_array_equal(epsflow.sweep_many([frame, frame.geometry], 1.5, 2).sizes, [4, 4])
    with pytest.raises(ValueError, match="EPSG:3857.*EPSG:4326"):
        epsflow.sweep_many([frame, frame.to_crs(3857)], 1.5, 2)


def test_what_is_no_list_of_data_sets():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(POINTS, columns=["x", "y"])
    for X in (table, POINTS, POINTS.tolist(), table["x"]):
        with pytest.raises(ValueError, match="nowhere"):
            epsflow.sweep_many(X, 1, 2)
    check_refused(
        (lambda: epsflow.sweep_many({"a": table}, 1, 2), TypeError, r"X is a dict.*list\(X.values\(\)\)"),
        (lambda: epsflow.sweep_many([table], 1, 2, by=[0, 0, 0, 0]), ValueError, "two ways"),
    )
    lazy = pytest.importorskip("polars").LazyFrame({"x": [1.0]})
    with pytest.raises(TypeError, match=r"X\[0\] is a LazyFrame.*X\[0\].collect"):
        epsflow.sweep_many([lazy], 1, 2)


def test_components_of_velocities_are_found_by_name():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(POINTS, columns=["x", "y"])
    velocity = np.array([[5.0, 1], [6, 2], [7, 3], [8, 4]])
    for names in (["x", "y"], ["vx", "vy"]):
        table = pandas.DataFrame(velocity, columns=names)
        for given in (table, table[names[::-1]], velocity):
            catalog = epsflow.friends_of_friends(X, 1.5, velocity=given).catalog
            assert (catalog["vx_mean"][0], catalog["vy_mean"][0]) == (6, 2)
            found = epsflow.sweep_velocities(X, np.zeros(4), given, 1.5, 2)
            np.testing.assert_array_equal(found.velocities, velocity)
    other = pandas.DataFrame(velocity, columns=["u", "v"])  # other names have no effect
    np.testing.assert_array_equal(epsflow.sweep_velocities(X, np.zeros(4), other, 1.5, 2).velocities, velocity)


@pytest.mark.parametrize("make", [records, structured])
def test_records_are_tables(make):
    X = make(POINTS)
    expected = epsflow.sweep(POINTS, 1.5, 2, core=True, **SCALE)
    found = epsflow.sweep(X, 1.5, 2, core=True, **SCALE)
    np.testing.assert_array_equal(found[0].labels, expected[0].labels)
    beside = found.labelled(1.5, 2)
    assert beside.dtype.names == ("x", "y", "label", "core") and beside["label"].tolist() == LABELS
    assert beside["y"].tolist() == POINTS[:, 1].tolist()
    with pytest.raises(ValueError, match="X has 'x' already"):
        found.labelled(1.5, 2, label_name="x")
    fitted = epsflow.DBSCAN(1.5, min_samples=2, metric_params={"scale": [1, 10.0]}).fit(X)
    assert fitted.feature_names_in_.tolist() == ["x", "y"] and fitted.predict(X).tolist() == LABELS
    assert epsflow.catalog(X, LABELS, columns=["y"])["y_sum"][0] == pytest.approx(0.3)
    with pytest.raises(ValueError, match="X has no column 'z'; it has x, y"):
        epsflow.catalog(X, LABELS, columns=["z"])
    assert pickle.loads(pickle.dumps(found)).labels(1.5, 2).tolist() == LABELS
    sky = np.rec.fromarrays([[60.0, 60], [0.0, 1]], names="dec,ra")
    assert epsflow.sweep(sky, 0.6, 2, metric="greatcircle")[0].labels.tolist() == [0, 0]


def test_vectors_of_records_are_columns():
    X = np.zeros(4, [("pos", ">f8", 2), ("w", "i2")])
    X["pos"] = POINTS
    found = epsflow.DBSCAN(1.5, min_samples=2).fit(X)
    assert found.feature_names_in_.tolist() == ["pos[0]", "pos[1]", "w"] and found.labels_.tolist() == LABELS
    single = np.zeros(4, [("x", "f4"), ("y", "f4")])
    assert epsflow.drop_missing(single)[0].dtype == np.float32


def test_records_that_are_no_points():
    masked = np.ma.array(structured(POINTS), mask=[(0, 0), (1, 0), (0, 0), (0, 0)])
    for X, words in (
        (np.array([(1, "a")], [("x", int), ("s", "U3")]),
         r"X has a column that is no number, 's' \(text\): leave out.*X\[\['x', 'y'\]\]"),
        (np.zeros((2, 2), [("x", float)]), "X has the shape .2, 2., and records of points come one after another"),
        (np.array([(2**53 + 1, 0)], [("x", int), ("y", int)]), "'x'.*2\\*\\*53"),
        (masked, "masked values in 1 rows of the field 'x'.*drop_missing"),
    ):
        with pytest.raises(ValueError, match=words):
            epsflow.sweep(X, 1, 1)
    points, rows = epsflow.drop_missing(masked)
    assert rows.tolist() == [0, 2, 3] and points.tolist() == POINTS[[0, 2, 3]].tolist()
