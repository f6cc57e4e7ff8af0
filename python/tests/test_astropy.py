"""Tests astropy's tables, units, files and directions."""

from __future__ import annotations

import logging
import pickle

import numpy as np
import pytest

import epsflow
from epsflow._arrays import as_points
from epsflow._metrics import as_metric

coordinates = pytest.importorskip("astropy.coordinates")
table = pytest.importorskip("astropy.table")
units = pytest.importorskip("astropy.units")

GREATCIRCLE, HAVERSINE = as_metric("greatcircle"), as_metric("haversine")


@pytest.fixture
def points() -> np.ndarray:
    return np.random.default_rng(5).uniform(size=(60, 2))


@pytest.fixture(scope="module")
def sky() -> np.ndarray:
    """Returns longitudes and latitudes in degrees, with clusters across 0 degrees and far north."""
    random = np.random.default_rng(3)
    centres = np.array([[0.0, 10.0], [40.0, 85.0], [120.0, -30.0], [250.0, 60.0]])
    found = centres[random.integers(0, 4, 500)] + random.normal(size=(500, 2)) * [1.5, 0.8]
    return np.column_stack([found[:, 0] % 360, found[:, 1]])


@pytest.fixture(scope="module")
def labels(sky) -> np.ndarray:
    found = epsflow.sweep(sky, 0.5, 4, metric="greatcircle")[0]
    assert found.n_clusters > 3 and found.n_noise > 0
    return found.labels


@pytest.mark.parametrize("kind", ["Table", "QTable"])
def test_astropy_units(points, kind):
    def made(x, y):
        return getattr(table, kind)({"x": table.Column(points[:, 0], unit=x), "y": table.Column(points[:, 1], unit=y)})

    np.testing.assert_array_equal(as_points(made("deg", "deg")), points)
    np.testing.assert_array_equal(as_points(points * units.deg), points)
    with pytest.raises(ValueError, match=r"'x' in deg and 'y' in arcmin.*X\['y'\] = X\['y'\].to\('deg'\)"):
        as_points(made("deg", "arcmin"))
    mended = made("deg", "arcmin")
    mended["y"] = mended["y"].to("deg")
    np.testing.assert_allclose(as_points(mended), points / [1, 60], rtol=1e-15)
    with pytest.raises(ValueError, match="'x' in deg and 'y' in Mpc.*divide"):
        as_points(made("deg", "Mpc"))
    with pytest.raises(ValueError, match=r"'y' in none.*X\['y'\].unit ="):
        as_points(made("deg", None))


@pytest.mark.parametrize("kind", ["Table", "QTable"])
def test_astropy_masks(points, kind):
    mask = np.arange(60) == 7
    X = getattr(table, kind)(
        {"x": table.MaskedColumn(points[:, 0], mask=mask, unit="deg"), "y": table.Column(points[:, 1], unit="deg")}
    )
    with pytest.raises(ValueError, match="1 rows of the column 'x'.*drop_missing"):
        as_points(X)
    found, rows = epsflow.drop_missing(X)
    np.testing.assert_array_equal(found, points[~mask])
    np.testing.assert_array_equal(rows, np.flatnonzero(~mask))


def two_columns(x, y, names=("lon", "lat"), kind="QTable"):
    return getattr(table, kind)([x, y], names=names)


@pytest.mark.parametrize("kind", ["Table", "QTable"])
def test_angles_come_in_the_unit_of_the_metric(sky, kind):
    lon, lat = sky.T * units.deg
    radians = np.radians(sky)
    for unit in ("deg", "rad", "arcmin", "hourangle"):
        X = two_columns(lon.to(unit), lat.to(unit), kind=kind)
        np.testing.assert_allclose(as_points(X, GREATCIRCLE), sky, rtol=1e-14)
        np.testing.assert_allclose(as_points(X, HAVERSINE), radians[:, ::-1], rtol=1e-14)
        np.testing.assert_array_equal(as_points(X), np.column_stack([lon.to_value(unit), lat.to_value(unit)]))
    exact = two_columns(lon, lat, kind=kind)
    np.testing.assert_array_equal(as_points(exact, GREATCIRCLE), sky)  # without a conversion, no bit changes
    np.testing.assert_array_equal(as_points(np.radians(sky) * units.rad, HAVERSINE), radians)
    np.testing.assert_allclose(as_points(np.radians(sky) * units.rad, GREATCIRCLE), sky, rtol=1e-14)
    without = two_columns(sky[:, 0], sky[:, 1], kind=kind)
    np.testing.assert_array_equal(as_points(without, GREATCIRCLE), sky)
    single = two_columns(
        radians[:, 0].astype(np.float32) * units.rad, radians[:, 1].astype(np.float32) * units.rad, kind=kind
    )
    np.testing.assert_array_equal(
        as_points(single, GREATCIRCLE), (radians.astype(np.float32) * units.rad).astype(float).to_value("deg")
    )


def test_units_count_wherever_points_are_taken(sky, labels):
    radians = two_columns(*(np.radians(sky).T * units.rad))
    quantity = np.radians(sky) * units.rad
    for X in (radians, quantity):
        great = {"metric": "greatcircle"}
        np.testing.assert_array_equal(epsflow.sweep(X, 0.5, 4, **great)[0].labels, labels)
        np.testing.assert_array_equal(epsflow.Engine("cpu").load(X, **great).sweep(0.5, 4)[0].labels, labels)
        fitted = epsflow.DBSCAN(0.5, min_samples=4, **great).fit(X)
        np.testing.assert_array_equal(fitted.labels_, labels)
        np.testing.assert_array_equal(fitted.predict(X), labels)
        assert epsflow.neighbors(X, 0.5, **great).nnz == epsflow.neighbors(sky, 0.5, **great).nnz
        np.testing.assert_allclose(epsflow.drop_missing(X, **great)[0], sky, rtol=1e-14)


def test_lengths_are_no_angles(points):
    X = two_columns(points[:, 0] * units.Mpc, points[:, 1] * units.Mpc)
    with pytest.raises(ValueError, match="X has the column 'lon' in Mpc, and metric='greatcircle' takes a longitude"):
        epsflow.sweep(X, 0.1, 4, metric="greatcircle")
    with pytest.raises(ValueError, match="X has the column 'lat' in Mpc, and metric='haversine'"):
        epsflow.DBSCAN(0.1, metric="haversine").fit(X)
    with pytest.raises(ValueError, match="X is in km, and metric='greatcircle'"):
        epsflow.sweep(points * units.km, 0.1, 4, metric="greatcircle")
    with pytest.raises(ValueError, match=r"'lon' in deg and 'lat' in none.*X\['lat'\].unit ="):
        epsflow.sweep(two_columns(points[:, 0] * units.deg, points[:, 1]), 0.1, 4, metric="greatcircle")


@pytest.mark.parametrize("kind", ["Table", "QTable"])
def test_each_angle_has_its_unit(sky, labels, kind):
    lon, lat = sky.T * units.deg
    X = two_columns(lat, lon.to("hourangle"), names=["DEJ2000", "RAJ2000"], kind=kind)
    np.testing.assert_allclose(as_points(X, GREATCIRCLE), sky, rtol=1e-14)
    for found in (
        epsflow.sweep(X, 0.5, 4, metric="greatcircle")[0].labels,
        epsflow.DBSCAN(0.5, min_samples=4, metric="greatcircle").fit_predict(X),
    ):
        np.testing.assert_array_equal(found, labels)


def test_a_unit_counts_for_more_than_a_name(sky, labels):
    X = two_columns(*(sky.T * units.deg), names=["lon_rad", "lat_rad"])
    np.testing.assert_array_equal(epsflow.sweep(X, 0.5, 4, metric="greatcircle")[0].labels, labels)
    with pytest.raises(ValueError, match="'lon_rad', 'lat_rad' columns are in radians"):
        epsflow.sweep(two_columns(*sky.T, names=["lon_rad", "lat_rad"]), 0.5, 4, metric="greatcircle")


def test_factors_bring_units_together(points):
    X = two_columns(points[:, 0] * units.Mpc, points[:, 1] * units.km / units.s, names=["d", "v"])
    found = epsflow.sweep(X, 0.1, 4, metric_params={"scale": [1, 0.5]})[0].labels
    np.testing.assert_array_equal(found, epsflow.sweep(points, 0.1, 4, metric_params={"scale": [1, 0.5]})[0].labels)


def test_a_box_may_have_a_unit(points):
    expected = epsflow.sweep(points, 0.1, 4, metric_params={"box": 1})[0].labels
    assert (expected != epsflow.sweep(points, 0.1, 4)[0].labels).any()
    for X in (points * units.Mpc, two_columns(points[:, 0] * units.Mpc, points[:, 1] * units.Mpc, names=["x", "y"])):
        for box in (
            1 * units.Mpc, 1000 * units.kpc, [1, 1] * units.Mpc, [(0 * units.Mpc, 1 * units.Mpc), 1],
            [[0, 1000], [0, 1000]] * units.kpc,
        ):
            np.testing.assert_array_equal(epsflow.sweep(X, 0.1, 4, metric_params={"box": box})[0].labels, expected)
        np.testing.assert_array_equal(
            epsflow.DBSCAN(0.1, min_samples=4, metric_params={"box": 1 * units.Mpc}).fit_predict(X), expected
        )
    with pytest.raises(ValueError, match="box is 1.0 Mpc, and the coordinates have no unit"):
        epsflow.sweep(points, 0.1, 4, metric_params={"box": 1 * units.Mpc})
    with pytest.raises(ValueError, match="box is 1.0 deg, and is taken in Mpc"):
        epsflow.sweep(points * units.Mpc, 0.1, 4, metric_params={"box": 1 * units.deg})


FORMATS = [("votable", "votable"), ("ascii.ecsv", "ecsv"), ("fits", "fits")]


@pytest.mark.parametrize("form, ending", FORMATS)
@pytest.mark.parametrize("kind", ["Table", "QTable"])
def test_files_come_through_astropy(sky, labels, tmp_path, form, ending, kind):
    pytest.importorskip("yaml" if ending == "ecsv" else "astropy")
    file = tmp_path / f"catalogue.{ending}"
    lon, lat = np.radians(sky).T * units.rad
    table.QTable([lon, lat, [f"galaxy {i}" for i in range(500)]], names=["ra", "dec", "name"]).write(file, format=form)
    catalogue = getattr(table, kind).read(file, format=form)
    assert catalogue["ra"].unit == "rad"
    np.testing.assert_array_equal(epsflow.sweep(catalogue["ra", "dec"], 0.5, 4, metric="greatcircle")[0].labels, labels)
    np.testing.assert_array_equal(epsflow.sweep(catalogue, 0.5, 4, metric="greatcircle")[0].labels, labels)
    np.testing.assert_array_equal(epsflow.sweep(catalogue["dec", "ra"], 0.5, 4, metric="greatcircle")[0].labels, labels)


@pytest.mark.parametrize("form, ending", FORMATS)
@pytest.mark.parametrize("kind", ["Table", "QTable"])
def test_masked_rows_of_files(sky, tmp_path, form, ending, kind):
    pytest.importorskip("yaml" if ending == "ecsv" else "astropy")
    file = tmp_path / f"catalogue.{ending}"
    mask = np.arange(500) % 50 == 7
    written = table.Table(
        [table.MaskedColumn(np.radians(c), unit="rad", mask=mask) for c in sky.T], names=["ra", "dec"]
    )
    written.write(file, format=form)
    catalogue = getattr(table, kind).read(file, format=form)
    with pytest.raises(
        ValueError, match=r"10 rows of the column 'ra'.*drop_missing\(X, metric='greatcircle'\)"
    ) as refused:
        epsflow.sweep(catalogue, 0.5, 4, metric="greatcircle")
    assert "points, rows = " in str(refused.value)
    found, rows = epsflow.drop_missing(catalogue, metric="greatcircle")
    np.testing.assert_allclose(found, sky[~mask], rtol=1e-14)
    np.testing.assert_array_equal(rows, np.flatnonzero(~mask))


def test_directions_of_any_frame(sky, labels):
    icrs = coordinates.SkyCoord(sky, unit="deg")
    for X in (icrs, icrs.galactic, icrs.transform_to("fk5"), icrs.frame, coordinates.SkyCoord(icrs.cartesian)):
        np.testing.assert_array_equal(epsflow.sweep(X, 0.5, 4, metric="greatcircle")[0].labels, labels)
    np.testing.assert_array_equal(epsflow.sweep(icrs, np.radians(0.5), 4, metric="haversine")[0].labels, labels)
    latitude_first = {"metric": "greatcircle", "metric_params": {"latitude_first": True, "unit": "arcmin"}}
    np.testing.assert_array_equal(epsflow.sweep(icrs, 30, 4, **latitude_first)[0].labels, labels)
    np.testing.assert_array_equal(as_points(icrs, GREATCIRCLE), np.column_stack([icrs.ra.deg, icrs.dec.deg]))
    galactic = icrs.galactic
    np.testing.assert_array_equal(as_points(galactic, HAVERSINE), np.column_stack([galactic.b.rad, galactic.l.rad]))
    fitted = epsflow.DBSCAN(0.5, min_samples=4, metric="greatcircle").fit(icrs)
    np.testing.assert_array_equal(fitted.labels_, labels)
    np.testing.assert_array_equal(fitted.predict(icrs[:50]), labels[:50])


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_directions_want_a_metric_of_angles(sky, metric):
    directions = coordinates.SkyCoord(sky, unit="deg")
    with pytest.raises(
        TypeError, match=f"X is a SkyCoord, and metric='{metric}'.*say metric='greatcircle'.*X.cartesian.xyz.value.T"
    ):
        epsflow.DBSCAN(0.5, metric=metric).fit(directions)
    assert as_points(directions.cartesian.xyz.value.T).shape == (500, 3)


def test_directions_in_a_table_and_of_other_shapes(sky):
    directions = coordinates.SkyCoord(sky, unit="deg")
    catalogue = table.QTable({"at": directions, "z": np.zeros(500)})
    with pytest.raises(ValueError, match=r"'at' \(SkyCoord\).*X\['at'\]"):
        epsflow.sweep(catalogue, 0.5, 4, metric="greatcircle")
    assert len(epsflow.sweep(catalogue["at"], 0.5, 4, metric="greatcircle")) == 1
    for X in (directions[0], directions.reshape(50, 10)):
        with pytest.raises(ValueError, match=r"of shape \(.*X.reshape\(-1\)"):
            epsflow.sweep(X, 0.5, 4, metric="greatcircle")
        assert len(epsflow.sweep(X.reshape(-1), 0.5, 4, metric="greatcircle")[0].labels) == X.size


def test_distances_are_said_not_to_be_used(sky, labels, caplog):
    far = coordinates.SkyCoord(*(sky.T * units.deg), distance=np.linspace(1, 9, 500) * units.Mpc)
    with caplog.at_level(logging.WARNING, logger="epsflow"):
        np.testing.assert_array_equal(epsflow.sweep(far, 0.5, 4, metric="greatcircle")[0].labels, labels)
    assert len(caplog.records) == 1
    assert "X carries distances, which metric='greatcircle' does not use" in caplog.text
    assert "X.cartesian.xyz.to_value('Mpc').T with metric='euclidean'" in caplog.text
    assert epsflow.sweep(far.cartesian.xyz.to_value("Mpc").T, 0.5, 4)[0].n_clusters >= 0
    caplog.clear()
    epsflow.sweep(coordinates.SkyCoord(sky, unit="deg"), 0.5, 4, metric="greatcircle")
    assert not caplog.records


def test_masked_arrays_and_directions(sky):
    Masked = pytest.importorskip("astropy.utils.masked").Masked
    mask = np.arange(500) == 3
    array = Masked(np.radians(sky) * units.rad, mask=np.column_stack([mask, mask]))
    with pytest.raises(ValueError, match=r"masked values in 1 rows, .*drop_missing\(X, metric='greatcircle'\)"):
        epsflow.sweep(array, 0.5, 4, metric="greatcircle")
    found, rows = epsflow.drop_missing(array, metric="greatcircle")
    np.testing.assert_allclose(found, sky[~mask], rtol=1e-14)
    try:
        directions = coordinates.SkyCoord(*(Masked(c * units.deg, mask=mask) for c in sky.T))
    except TypeError:
        pytest.skip("this astropy has no masked directions")
    with pytest.raises(ValueError, match="masked values in 1 rows of its lon"):
        epsflow.sweep(directions, 0.5, 4, metric="greatcircle")
    found, rows = epsflow.drop_missing(directions, metric="greatcircle")
    np.testing.assert_allclose(found, sky[~mask], rtol=1e-14)
    np.testing.assert_array_equal(rows, np.flatnonzero(~mask))


@pytest.mark.parametrize("metric", ["greatcircle", "haversine"])
def test_an_eps_with_a_unit_is_converted_to_the_metrics(sky, labels, metric):
    X = coordinates.SkyCoord(*sky.T, unit="deg")
    for eps in (0.5 * units.deg, 30 * units.arcmin, coordinates.Angle("0d30m"), np.radians(0.5) * units.rad):
        np.testing.assert_array_equal(epsflow.sweep(X, eps, 4, metric=metric)[0].labels, labels)
        np.testing.assert_array_equal(epsflow.DBSCAN(eps, min_samples=4, metric=metric).fit(X).labels_, labels)
    several = epsflow.sweep(X, [0.25, 0.5] * units.deg, 4, metric=metric)
    assert len(several) == 2
    np.testing.assert_array_equal(several[1].labels, labels)
    np.testing.assert_array_equal(epsflow.sweep(X, variants=[(0.5 * units.deg, 4)], metric=metric)[0].labels, labels)
    data = epsflow.Engine(backend="cpu").load(X, metric=metric)
    np.testing.assert_array_equal(data.sweep(30 * units.arcmin, 4)[0].labels, labels)
    assert data.neighbors(30 * units.arcmin).nnz == data.neighbors(
        0.5 if metric == "greatcircle" else np.radians(0.5)
    ).nnz
    fitted = epsflow.DBSCAN(30 * units.arcmin, min_samples=4, metric=metric).fit(X)
    np.testing.assert_array_equal(fitted.predict(X), labels)
    with pytest.raises(ValueError, match="eps is 3.0 Mpc, and is taken in (deg|rad), which is another kind"):
        epsflow.sweep(X, 3 * units.Mpc, 4, metric=metric)


def test_an_eps_on_the_earth_may_be_a_length(sky):
    X = coordinates.SkyCoord(*sky.T, unit="deg")
    of = {"metric": "greatcircle", "metric_params": {"unit": "km"}}
    expected = epsflow.sweep(X, 60.0, 4, **of)[0].labels
    np.testing.assert_array_equal(epsflow.sweep(X, 60000 * units.m, 4, **of)[0].labels, expected)
    with pytest.raises(ValueError, match="eps is 0.5 deg, and is taken in km"):
        epsflow.sweep(X, 0.5 * units.deg, 4, **of)


def test_an_eps_with_a_unit_is_converted_to_that_of_the_coordinates(points):
    expected = epsflow.sweep(points, 0.1, 3)[0].labels
    for X in (points * units.Mpc, table.QTable({"x": points[:, 0] * units.Mpc, "y": points[:, 1] * units.Mpc})):
        for eps in (100 * units.kpc, 0.1, 0.1 * units.Mpc):
            np.testing.assert_array_equal(epsflow.sweep(X, eps, 3)[0].labels, expected)
            np.testing.assert_array_equal(epsflow.DBSCAN(eps, min_samples=3).fit(X).labels_, expected)
        np.testing.assert_array_equal(
            epsflow.Engine(backend="cpu").load(X).sweep(100 * units.kpc, 3)[0].labels, expected
        )
        with pytest.raises(ValueError, match="eps is 1.0 deg, and is taken in Mpc"):
            epsflow.sweep(X, 1 * units.deg, 3)
        with pytest.raises(ValueError, match="no unit"):
            epsflow.sweep(X, 100 * units.kpc, 3, metric_params={"scale": [1, 2]})
    with pytest.raises(
        ValueError, match=r"eps is 0.1 Mpc, and the coordinates have no unit: give a number, as eps.to_value\('Mpc'\)"
    ):
        epsflow.sweep(points, 0.1 * units.Mpc, 3)
    np.testing.assert_array_equal(epsflow.sweep(points, 0.1 * units.dimensionless_unscaled, 3)[0].labels, expected)


def test_results_of_an_eps_with_a_unit_are_found_by_it(points):
    found = epsflow.sweep(points * units.Mpc, [300, 100] * units.kpc, 3, core=True)
    assert [v.eps for v in found] == [0.3, 0.1]
    for result in (found, pickle.loads(pickle.dumps(found))):
        np.testing.assert_array_equal(result.labels(eps=300 * units.kpc, min_samples=3), result[0].labels)
        np.testing.assert_array_equal(result.core_sample_indices(eps=0.1, min_samples=3), result[1].core_sample_indices)
        with pytest.raises(ValueError, match="another kind"):
            result.labels(eps=1 * units.deg, min_samples=3)
    column = table.Column([0.3, 0.1], unit="Mpc")
    for eps in (column, table.MaskedColumn(column), column.to("kpc")):
        assert [v.eps for v in epsflow.sweep(points * units.Mpc, eps, 3)] == [0.3, 0.1]


def test_predict_takes_points_in_the_unit_of_fit(points):
    model = epsflow.DBSCAN(100 * units.kpc, min_samples=3).fit(points * units.Mpc)
    np.testing.assert_array_equal(model.predict(points * units.Mpc), model.labels_)
    np.testing.assert_array_equal(model.predict(points), model.labels_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(points), model.labels_)
    with pytest.raises(
        ValueError, match=r"X is in kpc, and the points of fit were in Mpc: convert it, as X.to\('Mpc'\)"
    ):
        model.predict((points * units.Mpc).to("kpc"))


def test_what_is_wrong_with_points_is_said_before_the_unit_of_eps(sky):
    X = coordinates.SkyCoord(*sky.T, unit="deg")
    for call in (
        lambda eps: epsflow.sweep(X, eps, 4), lambda eps: epsflow.DBSCAN(eps).fit(X),
        lambda eps: epsflow.neighbors(X, eps),
    ):
        with pytest.raises(TypeError, match="say metric='greatcircle'"):
            call(0.5 * units.deg)
    with pytest.raises(ValueError, match="'furlong' is none of 'deg', 'arcmin'"):
        epsflow.sweep(X, 0.5 * units.deg, 4, metric="greatcircle", metric_params={"unit": "furlong"})


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_predict_takes_the_frame_of_fit(sky):
    X = coordinates.SkyCoord(sky, unit="deg")
    model = epsflow.DBSCAN(0.5, min_samples=4, metric="greatcircle").fit(X)
    model = pickle.loads(pickle.dumps(model))
    for same in (X, X.frame, sky, sky * units.deg):
        np.testing.assert_array_equal(model.predict(same), model.labels_)
    for other, name in ((X.galactic, "Galactic Frame"), (X.transform_to("fk5"), r"FK5 Frame \(equinox=J2000.000\)")):
        with pytest.raises(
            ValueError, match=f"X is in {name}, and the points of fit were in ICRS Frame.*X.transform_to"
        ):
            model.predict(other)


def test_predict_takes_the_units_of_fit_of_each_column(points):
    def made(x, y):
        return table.QTable({"d": points[:, 0] * units.Unit(x), "v": points[:, 1] * units.Unit(y)})

    model = epsflow.DBSCAN(0.1, min_samples=3, metric_params={"scale": [1, 0.5]}).fit(made("km", "km / s"))
    np.testing.assert_array_equal(model.predict(made("km", "km / s")), model.labels_)
    for other, known in ((made("m", "km / s"), "km"), (made("km", "m / s"), "km / s")):
        with pytest.raises(ValueError, match=rf"the points of fit were in {known}: convert it, as X.to\('{known}'\)"):
            model.predict(other)


def test_units_of_parts_of_a_list_are_not_lost():
    X = [[1, 2] * units.deg, [100, 50] * units.arcmin]
    with pytest.raises(ValueError, match=r"X is a list whose item 0 is in deg.*astropy.units.Quantity\(X\)"):
        as_points(X)
    np.testing.assert_allclose(as_points(units.Quantity(X)), [[1, 2], [100 / 60, 50 / 60]])


def test_masked_whole_numbers_are_checked(points):
    large = 2**53 + 1
    mask = np.arange(60) == 7
    column = table.MaskedColumn(np.full(60, large), mask=mask, dtype=np.int64)
    with pytest.raises(ValueError, match=f"column 'id' has {large}"):
        epsflow.drop_missing(table.Table({"id": column, "x": points[:, 0]}))
    column[~mask] = 5
    assert epsflow.drop_missing(table.Table({"id": column, "x": points[:, 0]}))[0].shape == (59, 2)
    Masked = pytest.importorskip("astropy.utils.masked").Masked
    with pytest.raises(ValueError, match=f"column 1 has {large}"):
        epsflow.drop_missing(Masked(np.array([[1, large], [3, 4]]), mask=[[0, 0], [0, 1]]))
    with pytest.raises(ValueError, match="Complex data not supported"):
        epsflow.drop_missing(Masked(np.array([[1j, 2], [3, 4]]), mask=[[0, 0], [0, 1]]))


def test_weights_have_no_unit():
    X = np.zeros((2, 2))
    with pytest.raises(ValueError, match="sample_weight is in kg, and weights are numbers without a unit"):
        epsflow.sweep(X, 0.1, 1, sample_weight=[1, 2] * units.kg)
    assert len(epsflow.sweep(X, 0.1, 1, sample_weight=[1, 2] * units.one)) == 1
