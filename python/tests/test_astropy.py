"""Tests astropy's tables, units, files and directions."""

from __future__ import annotations

import logging
import pickle

import numpy as np
import pytest

from checks import check_equal, check_refused

import epsflow
from epsflow._arrays import as_host_points as as_points
from epsflow._metrics import as_metric

coordinates = pytest.importorskip("astropy.coordinates")
table = pytest.importorskip("astropy.table")
units = pytest.importorskip("astropy.units")

GREATCIRCLE, HAVERSINE = as_metric("greatcircle"), as_metric("haversine")
GREAT = {"metric": "greatcircle"}


@pytest.fixture(params=["Table", "QTable"])
def kind(request):
    return getattr(table, request.param)


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


def in_units(X, first, second, names=("lon", "lat"), kind=table.QTable):
    """Returns a table of two columns in the given units, or without one if it is None."""
    return kind([table.Column(values, unit=unit) for values, unit in zip(X.T, (first, second))], names=names)


def swept(X, eps=0.5, **options):
    """Returns the labels on the sphere, for which eps is in degrees by default."""
    return epsflow.sweep(X, eps, 4, **{"metric": "greatcircle", **options})[0].labels


def test_astropy_units(points, kind):
    def made(x, y):
        return in_units(points, x, y, ["x", "y"], kind)

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


def test_angles_come_in_the_unit_of_the_metric(sky, kind):
    radians = np.radians(sky)
    for unit in ("deg", "rad", "arcmin", "hourangle"):
        values = (sky * units.deg).to_value(unit)
        X = in_units(values, unit, unit, kind=kind)
        np.testing.assert_allclose(as_points(X, GREATCIRCLE), sky, rtol=1e-14)
        np.testing.assert_allclose(as_points(X, HAVERSINE), radians[:, ::-1], rtol=1e-14)
        np.testing.assert_array_equal(as_points(X), values)
    X = in_units(sky[:, ::-1] / [1, 15], "deg", "hourangle", ["DEJ2000", "RAJ2000"], kind)  # an hour has 15 degrees
    np.testing.assert_allclose(as_points(X, GREATCIRCLE), sky, rtol=1e-14)
    for unit in ("deg", None):  # without a conversion, no bit changes
        np.testing.assert_array_equal(as_points(in_units(sky, unit, unit, kind=kind), GREATCIRCLE), sky)
    np.testing.assert_array_equal(as_points(radians * units.rad, HAVERSINE), radians)
    np.testing.assert_allclose(as_points(radians * units.rad, GREATCIRCLE), sky, rtol=1e-14)
    single = radians.astype(np.float32)
    expected = (single * units.rad).astype(float).to_value("deg")
    np.testing.assert_array_equal(as_points(in_units(single, "rad", "rad", kind=kind), GREATCIRCLE), expected)


def test_units_count_wherever_points_are_taken(sky, labels):
    radians = np.radians(sky)
    for X in (in_units(radians, "rad", "rad"), radians * units.rad):
        loaded, fitted = epsflow.Engine("cpu").load(X, **GREAT), epsflow.DBSCAN(0.5, min_samples=4, **GREAT).fit(X)
        check_equal(labels, swept(X), loaded.sweep(0.5, 4)[0].labels, fitted.labels_, fitted.predict(X))
        assert epsflow.neighbors(X, 0.5, **GREAT).nnz == epsflow.neighbors(sky, 0.5, **GREAT).nnz
        np.testing.assert_allclose(epsflow.drop_missing(X, **GREAT)[0], sky, rtol=1e-14)


def test_lengths_are_no_angles(points):
    X, half = in_units(points, "Mpc", "Mpc"), in_units(points, "deg", None)
    longitude = "X has the column 'lon' in Mpc, and metric='greatcircle' takes a longitude"
    latitude = "X has the column 'lat' in Mpc, and metric='haversine'"
    check_refused(
        (lambda: swept(X), ValueError, longitude),
        (lambda: epsflow.DBSCAN(0.1, metric="haversine").fit(X), ValueError, latitude),
        (lambda: swept(points * units.km), ValueError, "X is in km, and metric='greatcircle'"),
        (lambda: swept(half), ValueError, r"'lon' in deg and 'lat' in none.*X\['lat'\].unit ="),
    )


def test_a_unit_counts_for_more_than_a_name(sky, labels):
    names = ["lon_rad", "lat_rad"]
    np.testing.assert_array_equal(swept(in_units(sky, "deg", "deg", names)), labels)
    with pytest.raises(ValueError, match="'lon_rad', 'lat_rad' columns are in radians"):
        swept(in_units(sky, None, None, names))


def test_factors_bring_units_together(points):
    scaled = {"metric": "euclidean", "metric_params": {"scale": [1, 0.5]}}
    X = in_units(points, "Mpc", "km / s", ["d", "v"])
    np.testing.assert_array_equal(swept(X, 0.1, **scaled), swept(points, 0.1, **scaled))


def test_a_box_may_have_a_unit(points):
    def in_box(X, box):
        return epsflow.sweep(X, 0.1, 4, metric_params={"box": box})[0].labels

    expected = in_box(points, 1)
    assert (expected != epsflow.sweep(points, 0.1, 4)[0].labels).any()
    for X in (points * units.Mpc, in_units(points, "Mpc", "Mpc", ["x", "y"])):
        for box in (
            1 * units.Mpc, 1000 * units.kpc, [1, 1] * units.Mpc, [(0 * units.Mpc, 1 * units.Mpc), 1],
            [[0, 1000], [0, 1000]] * units.kpc,
        ):
            np.testing.assert_array_equal(in_box(X, box), expected)
        fitted = epsflow.DBSCAN(0.1, min_samples=4, metric_params={"box": 1 * units.Mpc}).fit(X)
        np.testing.assert_array_equal(fitted.labels_, expected)
    check_refused(
        (lambda: in_box(points, 1 * units.Mpc), ValueError, "box is 1.0 Mpc, and the coordinates have no unit"),
        (lambda: in_box(points * units.Mpc, 1 * units.deg), ValueError, "box is 1.0 deg, and is taken in Mpc"),
    )


@pytest.fixture(params=["votable", "ascii.ecsv", "fits"])
def reread(request, kind, tmp_path):
    """Returns a function that writes a table to a file and reads it again."""
    if request.param == "ascii.ecsv":
        pytest.importorskip("yaml")

    def through_a_file(written):
        written.write(tmp_path / "catalogue", format=request.param)
        return kind.read(tmp_path / "catalogue", format=request.param)

    return through_a_file


def test_files_come_through_astropy(sky, labels, reread):
    written = in_units(np.radians(sky), "rad", "rad", ["ra", "dec"])
    written["name"] = [f"galaxy {i}" for i in range(500)]
    catalogue = reread(written)
    assert catalogue["ra"].unit == "rad"
    check_equal(labels, swept(catalogue["ra", "dec"]), swept(catalogue), swept(catalogue["dec", "ra"]))


def test_masked_rows_of_files(sky, reread):
    mask = np.arange(500) % 50 == 7
    written = [table.MaskedColumn(np.radians(c), unit="rad", mask=mask) for c in sky.T]
    catalogue = reread(table.Table(written, names=["ra", "dec"]))
    words = r"10 rows of the column 'ra'.*drop_missing\(X, metric='greatcircle'\)"
    with pytest.raises(ValueError, match=words) as refused:
        swept(catalogue)
    assert "points, rows = " in str(refused.value)
    found, rows = epsflow.drop_missing(catalogue, metric="greatcircle")
    np.testing.assert_allclose(found, sky[~mask], rtol=1e-14)
    np.testing.assert_array_equal(rows, np.flatnonzero(~mask))


def test_directions_of_any_frame(sky, labels):
    icrs = coordinates.SkyCoord(sky, unit="deg")
    galactic = icrs.galactic
    frames = (icrs, galactic, icrs.transform_to("fk5"), icrs.frame, coordinates.SkyCoord(icrs.cartesian))
    latitude_first = {"latitude_first": True, "unit": "arcmin"}
    fitted = epsflow.DBSCAN(0.5, min_samples=4, **GREAT).fit(icrs)
    check_equal(labels, fitted.labels_, *(swept(X) for X in frames))
    check_equal(labels, swept(icrs, np.radians(0.5), metric="haversine"), swept(icrs, 30, metric_params=latitude_first))
    np.testing.assert_array_equal(as_points(icrs, GREATCIRCLE), np.column_stack([icrs.ra.deg, icrs.dec.deg]))
    np.testing.assert_array_equal(as_points(galactic, HAVERSINE), np.column_stack([galactic.b.rad, galactic.l.rad]))
    np.testing.assert_array_equal(fitted.predict(icrs[:50]), labels[:50])


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_directions_want_a_metric_of_angles(sky, metric):
    directions = coordinates.SkyCoord(sky, unit="deg")
    words = f"X is a SkyCoord, and metric='{metric}'.*say metric='greatcircle'.*X.cartesian.xyz.value.T"
    with pytest.raises(TypeError, match=words):
        epsflow.DBSCAN(0.5, metric=metric).fit(directions)
    assert as_points(directions.cartesian.xyz.value.T).shape == (500, 3)


def test_directions_in_a_table_and_of_other_shapes(sky):
    directions = coordinates.SkyCoord(sky, unit="deg")
    catalogue = table.QTable({"at": directions, "z": np.zeros(500)})
    with pytest.raises(ValueError, match=r"'at' \(SkyCoord\).*X\['at'\]"):
        swept(catalogue)
    assert len(swept(catalogue["at"])) == 500
    for X in (directions[0], directions.reshape(50, 10)):
        with pytest.raises(ValueError, match=r"of shape \(.*X.reshape\(-1\)"):
            swept(X)
        assert len(swept(X.reshape(-1))) == X.size


def test_distances_are_said_not_to_be_used(sky, labels, caplog):
    far = coordinates.SkyCoord(*(sky.T * units.deg), distance=np.linspace(1, 9, 500) * units.Mpc)
    with caplog.at_level(logging.WARNING, logger="epsflow"):
        np.testing.assert_array_equal(swept(far), labels)
    assert len(caplog.records) == 1
    assert "X carries distances, which metric='greatcircle' does not use" in caplog.text
    assert "X.cartesian.xyz.to_value('Mpc').T with metric='euclidean'" in caplog.text
    assert epsflow.sweep(far.cartesian.xyz.to_value("Mpc").T, 0.5, 4)[0].n_clusters >= 0
    caplog.clear()
    swept(coordinates.SkyCoord(sky, unit="deg"))
    assert not caplog.records


def test_masked_arrays_and_directions(sky):
    Masked = pytest.importorskip("astropy.utils.masked").Masked
    mask = np.arange(500) == 3
    array = Masked(np.radians(sky) * units.rad, mask=np.column_stack([mask, mask]))
    with pytest.raises(ValueError, match=r"masked values in 1 rows, .*drop_missing\(X, metric='greatcircle'\)"):
        swept(array)
    found, rows = epsflow.drop_missing(array, metric="greatcircle")
    np.testing.assert_allclose(found, sky[~mask], rtol=1e-14)
    try:
        directions = coordinates.SkyCoord(*(Masked(c * units.deg, mask=mask) for c in sky.T))
    except TypeError:
        pytest.skip("this astropy has no masked directions")
    with pytest.raises(ValueError, match="masked values in 1 rows of its lon"):
        swept(directions)
    found, rows = epsflow.drop_missing(directions, metric="greatcircle")
    np.testing.assert_allclose(found, sky[~mask], rtol=1e-14)
    np.testing.assert_array_equal(rows, np.flatnonzero(~mask))


@pytest.mark.parametrize("metric", ["greatcircle", "haversine"])
def test_an_eps_with_a_unit_is_converted_to_the_metrics(sky, labels, metric):
    X = coordinates.SkyCoord(*sky.T, unit="deg")
    for eps in (0.5 * units.deg, 30 * units.arcmin, coordinates.Angle("0d30m"), np.radians(0.5) * units.rad):
        fitted = epsflow.DBSCAN(eps, min_samples=4, metric=metric).fit(X)
        check_equal(labels, swept(X, eps, metric=metric), fitted.labels_, fitted.predict(X))
    several = epsflow.sweep(X, [0.25, 0.5] * units.deg, 4, metric=metric)
    assert len(several) == 2
    listed = epsflow.sweep(X, variants=[(0.5 * units.deg, 4)], metric=metric)[0]
    data = epsflow.Engine(backend="cpu").load(X, metric=metric)
    check_equal(labels, several[1].labels, listed.labels, data.sweep(30 * units.arcmin, 4)[0].labels)
    plain = 0.5 if metric == "greatcircle" else np.radians(0.5)
    assert data.neighbors(30 * units.arcmin).nnz == data.neighbors(plain).nnz
    with pytest.raises(ValueError, match="eps is 3.0 Mpc, and is taken in (deg|rad), which is another kind"):
        epsflow.sweep(X, 3 * units.Mpc, 4, metric=metric)


def test_an_eps_on_the_earth_may_be_a_length(sky):
    X = coordinates.SkyCoord(*sky.T, unit="deg")
    km = {"metric_params": {"unit": "km"}}
    np.testing.assert_array_equal(swept(X, 60000 * units.m, **km), swept(X, 60.0, **km))
    with pytest.raises(ValueError, match="eps is 0.5 deg, and is taken in km"):
        swept(X, 0.5 * units.deg, **km)


def test_an_eps_with_a_unit_is_converted_to_that_of_the_coordinates(points):
    expected = epsflow.sweep(points, 0.1, 3)[0].labels
    for X in (points * units.Mpc, in_units(points, "Mpc", "Mpc", ["x", "y"])):
        for eps in (100 * units.kpc, 0.1, 0.1 * units.Mpc):
            fitted = epsflow.DBSCAN(eps, min_samples=3).fit(X)
            check_equal(expected, epsflow.sweep(X, eps, 3)[0].labels, fitted.labels_)
        data = epsflow.Engine(backend="cpu").load(X)
        np.testing.assert_array_equal(data.sweep(100 * units.kpc, 3)[0].labels, expected)
        with pytest.raises(ValueError, match="eps is 1.0 deg, and is taken in Mpc"):
            epsflow.sweep(X, 1 * units.deg, 3)
        with pytest.raises(ValueError, match="no unit"):
            epsflow.sweep(X, 100 * units.kpc, 3, metric_params={"scale": [1, 2]})
    words = r"eps is 0.1 Mpc, and the coordinates have no unit: give a number, as eps.to_value\('Mpc'\)"
    with pytest.raises(ValueError, match=words):
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
    check_equal(model.labels_, *(model.predict(same) for same in (X, X.frame, sky, sky * units.deg)))
    for other, name in ((X.galactic, "Galactic Frame"), (X.transform_to("fk5"), r"FK5 Frame \(equinox=J2000.000\)")):
        words = f"X is in {name}, and the points of fit were in ICRS Frame.*X.transform_to"
        with pytest.raises(ValueError, match=words):
            model.predict(other)


def test_predict_takes_the_units_of_fit_of_each_column(points):
    def made(x, y):
        return in_units(points, x, y, ["d", "v"])

    model = epsflow.DBSCAN(0.1, min_samples=3, metric_params={"scale": [1, 0.5]}).fit(made("km", "km / s"))
    np.testing.assert_array_equal(model.predict(made("km", "km / s")), model.labels_)
    of_one = epsflow.DBSCAN(100 * units.pc, min_samples=3).fit(points * units.kpc)
    again = pickle.loads(pickle.dumps(of_one))
    check_equal(of_one.labels_, of_one.predict(points * units.kpc), of_one.predict(points), again.predict(points))
    for fitted, other, known in (
        (model, made("m", "km / s"), "km"), (model, made("km", "m / s"), "km / s"), (of_one, points * units.pc, "kpc")
    ):
        with pytest.raises(ValueError, match=rf"the points of fit were in {known}: convert it, as X.to\('{known}'\)"):
            fitted.predict(other)


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
