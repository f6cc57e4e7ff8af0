"""Tests maps of spheres: matplotlib's projections, the choice of longitude and latitude, and coast lines."""

from __future__ import annotations

import numpy as np
import pytest

import epsflow

matplotlib = pytest.importorskip("matplotlib")

from matplotlib import pyplot  # noqa: E402
from test_plot_clusters import shown_image  # noqa: E402

from epsflow.plot._views import flattener  # noqa: E402


@pytest.mark.parametrize("kind", ["mollweide", "aitoff"])
def test_skies_are_those_of_matplotlib(kind):
    ax = pyplot.figure().add_subplot(projection=kind)
    random = np.random.default_rng(5)
    lon, lat = random.uniform(-np.pi, np.pi, 2000), np.arcsin(random.uniform(-1, 1, 2000))
    expected = ax.transProjection.transform(np.column_stack([lon, lat]))
    np.testing.assert_allclose(np.column_stack(flattener(kind)(lon, lat)), expected, atol=2e-3)


@pytest.mark.parametrize("n", [300, 40_000])
@pytest.mark.parametrize("kind", ["mollweide", "aitoff"])
def test_right_ascension_grows_to_the_left_on_a_sky(kind, n):
    X = np.tile([[200.0, 40.0], [160.0, -20.0]], (n // 2, 1))
    labels = np.tile([0, -1], n // 2)
    ax = epsflow.plot.clusters(X, labels, kind=kind, columns=["ra", "dec"], pixels=400)
    ax.figure.canvas.draw()
    assert ax.name == kind and ax.get_xlabel() == "right ascension (°)"
    texts = [text.get_text() for text in ax.get_xticklabels()]
    assert texts[0] == "330" and texts[-1] == "30" and texts[5] == "180"
    # The axes show these directions here, with 180 in the middle.
    expected = ax.transProjection.transform(np.radians([[180 - 200.0, 40], [180 - 160.0, -20]]))
    if n == 300:
        found = ax.collections[0].get_offsets()
        np.testing.assert_allclose([found[-1], found[0]], expected, atol=2e-3)
        return
    array, image = shown_image(ax)
    left, right, bottom, top = image.get_extent()
    rows, columns = array.shape[:2]
    assert abs(columns / rows - 2) < 0.02  # the sky is twice as wide as high
    for (x, y), grey in zip(expected, (False, True)):
        pixel = array[int((y - bottom) / (top - bottom) * rows), int((x - left) / (right - left) * columns)]
        assert pixel[3] == 255 and (np.ptp(pixel[:3].astype(int)) == 0) == grey


def test_names_and_fields_decide():
    random = np.random.default_rng(1)
    n = 200
    wide, small = random.uniform([0, -60], [360, 60], (n, 2)), random.uniform([100, 10], [130, 30], (n, 2))
    labels = np.zeros(n, int)
    pandas = pytest.importorskip("pandas")
    galactic = epsflow.plot.clusters(pandas.DataFrame(wide, columns=["l", "b"]), labels)
    assert galactic.name == "mollweide" and galactic.get_xlabel() == "galactic longitude (°)"
    field = epsflow.plot.clusters(small, labels, columns=["ra", "dec"])
    assert field.name == "rectilinear" and field.get_xlim()[0] > field.get_xlim()[1]
    assert abs(field.get_aspect() - 1 / np.cos(np.radians(20))) < 0.01
    earth = epsflow.plot.clusters(pandas.DataFrame(small[:, ::-1], columns=["lat", "lon"]), labels)
    assert earth.get_xlabel() == "longitude (°)" and 95 < earth.get_xlim()[0] < 100 < 130 < earth.get_xlim()[1] < 135
    assert epsflow.plot.clusters(wide, labels).get_xlabel() == "x"
    names = epsflow.plot.clusters(wide, labels, columns=["u", "v"], unit="mag")
    assert (names.get_xlabel(), names.get_ylabel()) == ("u (mag)", "v (mag)")


def test_a_field_over_the_date_line_is_in_one_piece():
    random = np.random.default_rng(3)
    lon = (random.uniform(170, 190, 400) + 180) % 360 - 180
    ax = epsflow.plot.clusters(
        np.column_stack([lon, random.uniform(-20, 0, 400)]), np.zeros(400, int), columns=["lon", "lat"]
    )
    left, right = ax.get_xlim()
    assert 169 < left < 171 and 189 < right < 191
    ax.figure.canvas.draw()
    assert "-175" in [text.get_text() for text in ax.get_xticklabels()]


def test_coast_lines_come_from_the_data_of_cartopy(tmp_path, monkeypatch):
    cartopy = pytest.importorskip("cartopy")
    shapefile = pytest.importorskip("shapefile")
    pytest.importorskip("cartopy.io.shapereader")
    monkeypatch.setitem(cartopy.config, "data_dir", tmp_path)
    monkeypatch.setitem(cartopy.config, "pre_existing_data_dir", tmp_path / "none")
    X, labels = np.random.default_rng(0).uniform([170, -50], [190, -30], (100, 2)), np.zeros(100, int)
    with pytest.warns(UserWarning, match="cartopy_feature_download physical"):
        epsflow.plot.clusters(X, labels, columns=["lon", "lat"])
    folder = tmp_path / "shapefiles" / "natural_earth" / "physical"
    folder.mkdir(parents=True)
    with shapefile.Writer(str(folder / "ne_50m_coastline")) as writer:
        writer.field("name", "C")
        for line in ([[175, -40], [178, -38]], [[-179, -35], [-175, -36]], [[10, 50], [12, 52]]):
            writer.line([line])
            writer.record("coast")
    ax = epsflow.plot.clusters(X, labels, columns=["lon", "lat"])
    lines = ax.collections[-1].get_segments()
    # Europe is outside the field, and lines west of the date line are moved by a full turn.
    assert [line.tolist() for line in lines] == [[[175, -40], [178, -38]], [[181, -35], [185, -36]]]


@pytest.mark.parametrize("kind", ["array", "pandas", "astropy"])
def test_longitudes_are_drawn_across_in_degrees_whatever_columns_and_metric_have(kind):
    random = np.random.default_rng(2)
    lat, lon = random.uniform(40, 50, 200), random.uniform(100, 130, 200)
    X, metric, eps = np.radians(np.column_stack([lat, lon])), "haversine", 0.02
    words = ("longitude (°)", "latitude (°)")
    if kind == "pandas":  # the metric expects longitude first
        X, metric, eps = pytest.importorskip("pandas").DataFrame({"lat": lat, "lon": lon}), "greatcircle", 1
    if kind == "astropy":
        table, units = pytest.importorskip("astropy.table"), pytest.importorskip("astropy.units")
        X = table.QTable({"dec": X[:, 0] * units.rad, "ra": X[:, 1] * units.rad})
        words = ("right ascension (°)", "declination (°)")
    variant = epsflow.sweep(X, eps, 5, metric=metric)[0]
    for labels in [variant] if kind == "array" else [variant, variant.labels]:
        ax = epsflow.plot.clusters(X, labels)
        np.testing.assert_allclose(sorted(map(tuple, ax.collections[0].get_offsets())), sorted(zip(lon, lat)))
        assert (ax.get_xlabel(), ax.get_ylabel()) == words


@pytest.mark.parametrize(
    ("names", "label"),
    [
        (["glon", "glat"], "galactic longitude (°)"),
        (["RAJ2000", "DEJ2000"], "right ascension (°)"),
        (["ipp_lon_deg", "ipp_lat_deg"], "longitude (°)"),
        (["elon", "elat"], "ecliptic longitude (°)"),
        (["lon", "y"], "lon"),
        (["lon_rad", "lat_rad"], "lon_rad"),
    ],
)
def test_names_say_which_sphere(names, label):
    X = np.random.default_rng(0).uniform(0, 30, (50, 2))
    assert epsflow.plot.clusters(X, np.zeros(50, int), columns=names).get_xlabel() == label
