"""Compares the pixels of cluster maps with independent counts, and tests the texts of the axes."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from checks import check_refused

import epsflow

matplotlib = pytest.importorskip("matplotlib")

from matplotlib import pyplot  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402

from epsflow.plot._colors import codes_of, found_in, image_of  # noqa: E402
from epsflow.plot._raster import EMPTY, NOISE, Extent, Raster, is_sparse, rasterise, spread  # noqa: E402
from epsflow.plot._style import NOISE_COLOR, PALETTE  # noqa: E402


def flat(part):
    return part[:, 0], part[:, 1]


def expected_raster(points, labels, extent, shape):
    """Counts each pixel with dictionaries."""
    rows, columns = shape
    inside = defaultdict(Counter)
    for (x, y), label in zip(points.tolist(), labels.tolist()):
        column = min(int((x - extent.left) / (extent.right - extent.left) * columns), columns - 1)
        row = min(int((y - extent.bottom) / (extent.top - extent.bottom) * rows), rows - 1)
        inside[row, column][label] += 1
    cluster, count = np.full(shape, EMPTY), np.zeros(shape, np.int64)
    for pixel, counter in inside.items():
        of_noise = counter.pop(-1, 0)
        cluster[pixel] = min(counter, key=lambda label: (-counter[label], label), default=NOISE)
        count[pixel] = sum(counter.values()) or of_noise
    return cluster, count


@pytest.mark.parametrize(
    ("n", "noise"), [(1, 0.0), (1, 1.0), (50, 0.3), (3000, 0.0), (3000, 0.3), (3000, 1.0), (400_000, 0.3)]
)
def test_a_pixel_has_the_cluster_with_the_most_points(n, noise):
    random = np.random.default_rng(n)
    labels = random.integers(0, 40, n).astype(np.int32) * 7  # numbers may have gaps
    points = np.column_stack([labels / 280 + random.normal(0, 0.2, n), random.uniform(-1, 2, n)])
    labels[random.random(n) < noise] = -1
    extent = Extent(points[:, 0].min(), points[:, 0].max() or 1.0, -1.0, 2.0)
    if extent.left >= extent.right:
        extent = extent._replace(right=extent.left + 1)
    cluster, count = expected_raster(points, labels, extent, (12, 9))
    found = rasterise(points, labels, flat, extent, (12, 9))
    np.testing.assert_array_equal(found.cluster, cluster)
    np.testing.assert_array_equal(found.points, count)


def test_dots_of_clusters_lie_above_noise_and_the_fuller_above_the_emptier():
    cluster = np.full((5, 7), EMPTY, np.int32)
    count = np.zeros((5, 7), np.int64)
    for (row, column), what, points in (((2, 1), 3, 2), ((2, 3), 8, 5), ((2, 5), NOISE, 9)):
        cluster[row, column], count[row, column] = what, points
    found = spread(Raster(cluster, count)).cluster
    assert (found[1:4, 0:2] == 3).all()
    assert (found[1:4, 2:5] == 8).all()  # 5 points outweigh 2, and a cluster outweighs noise
    assert found[2, 5] == NOISE and (found[1:4, 6] == NOISE).all() and (found[[0, 4]] == EMPTY).all()
    beside_noise = Raster(np.array([[4, NOISE, EMPTY]], np.int32), np.array([[1, 50, 0]]))
    assert spread(beside_noise).cluster.tolist() == [[4, 4, NOISE]]


def test_only_sparse_rasters_are_spread():
    cluster = np.full((9, 9), 1, np.int32)
    cluster[0, 0] = EMPTY
    dense, alone = Raster(cluster, np.where(cluster >= 0, 1, 0)), np.full((9, 9), EMPTY, np.int32)
    alone[::3, ::3] = NOISE
    assert not is_sparse(dense) and is_sparse(Raster(alone, np.where(alone == NOISE, 1, 0)))
    assert not is_sparse(Raster(np.full((9, 9), EMPTY, np.int32), np.zeros((9, 9), int)))


def test_colours_are_fuller_where_more_points_are_and_noise_is_grey():
    labels = np.array([5] * 60 + [2] * 30 + [-1] * 10, np.int32)
    found = found_in(labels)
    raster = Raster(np.array([[5, 5, 2], [NOISE, NOISE, EMPTY]], np.int32), np.array([[50, 10, 30], [9, 1, 0]]))
    image = image_of(
        raster, found, codes_of(found, np.array([5, 2]), np.array([0.1, 0.9]), np.array([0.5, 0.5]), np.array([60, 30]))
    )
    assert image.shape == (2, 3, 4) and image[1, 2, 3] == 0 and (image[:, :2, 3] == 255).all()
    colour = 255 * np.array(to_rgb(PALETTE[0]))
    assert np.abs(image[0, 0, :3] - colour).max() <= 1  # the fullest pixel of the largest cluster
    assert (image[0, 1, :3] > image[0, 0, :3]).all()
    grey = image[1, :2, :3].astype(int)
    assert (np.ptp(grey, axis=1) == 0).all()  # red, green and blue are equal
    assert grey[1, 0] > grey[0, 0] >= round(255 * to_rgb(NOISE_COLOR)[0])


def test_colours_come_again_far_away():
    random = np.random.default_rng(2)
    n = 60
    x, y = random.uniform(0, 1, (2, n))
    labels = np.repeat(np.arange(n), np.arange(n, 0, -1)).astype(np.int32)
    codes = codes_of(found_in(labels), np.arange(n), x, y, np.ones(n))
    assert codes[: len(PALETTE)].tolist() == list(range(len(PALETTE)))
    for i in range(len(PALETTE), n):
        distances = [
            min(np.hypot(x[i] - x[j], y[i] - y[j]) for j in range(i) if codes[j] == code)
            for code in range(len(PALETTE))
        ]
        assert codes[i] == int(np.argmax(distances))


def clumps(n, d=2, seed=0):
    random = np.random.default_rng(seed)
    labels = random.integers(-1, 4, n).astype(np.int32)
    middles = np.array([[0, 0, 0], [8, 0, 3], [0, 6, 6], [8, 6, 9], [4, 3, 5]], float)[:, :d]
    return middles[labels] + random.normal(0, np.where(labels == -1, 3, 0.4)[:, None], (n, d)), labels


def shown_image(ax):
    (image,) = ax.images
    return np.asarray(image.get_array()), image


def test_many_points_are_an_image_of_the_raster():
    X, labels = clumps(60_000)
    ax = epsflow.plot.clusters(X, labels, pixels=120)
    array, image = shown_image(ax)
    left, right, bottom, top = image.get_extent()
    assert left < X[:, 0].min() and right > X[:, 0].max() and bottom < X[:, 1].min() and top > X[:, 1].max()
    assert max(array.shape[:2]) == 120 and image.origin == "lower"
    cluster, _ = expected_raster(X, labels, Extent(left, right, bottom, top), array.shape[:2])
    grey = (np.ptp(array[..., :3].astype(int), axis=2) == 0) & (array[..., 3] > 0)
    np.testing.assert_array_equal(array[..., 3] > 0, cluster != EMPTY)
    assert not grey[cluster >= 0].any() and grey[cluster == NOISE].mean() > 0.5
    assert ax.get_aspect() == 1 and not ax.collections


def test_few_points_are_marks_with_noise_below():
    X, labels = clumps(500)
    ax = epsflow.plot.clusters(X, labels)
    (marks,) = ax.collections
    colors = marks.get_facecolors()[:, :3]
    n_noise = int((labels == -1).sum())
    np.testing.assert_allclose(colors[:n_noise], np.tile(to_rgb(NOISE_COLOR), (n_noise, 1)))
    assert not (np.ptp(colors[n_noise:], axis=1) == 0).any()
    color_at = {tuple(position): tuple(color) for position, color in zip(marks.get_offsets().tolist(), colors.tolist())}
    largest = np.bincount(labels[labels >= 0]).argmax()
    assert {color_at[tuple(x)] for x in X[labels == largest].tolist()} == {to_rgb(PALETTE[0])}
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[0] == f"cluster {largest}: {(labels == largest).sum()}"
    assert texts[-2:] == [f"noise: {n_noise}", "all points: 500"]


def test_a_variant_tells_its_parameters_and_counts():
    X, _ = clumps(2000)
    variant = epsflow.sweep(X, 0.3, 10)[0]
    ax = epsflow.plot.clusters(X, variant)
    share = 100 * variant.n_noise / len(X)
    assert ax.get_title(loc="left") == f"eps 0.3, min_samples 10: {variant.n_clusters} clusters, {share:.3g} % noise"
    title = epsflow.plot.clusters(X, variant.labels).get_title(loc="left")
    assert title == f"{variant.n_clusters} clusters, {share:.3g} % noise"


def test_three_columns_are_three_planes():
    X, labels = clumps(30_000, d=3)
    figure = epsflow.plot.clusters(X, labels, unit="Mpc", pixels=60)
    below, above, beside, corner = figure.axes
    assert (below.get_xlabel(), below.get_ylabel(), above.get_ylabel(), beside.get_xlabel()) == (
        "x (Mpc)", "y (Mpc)", "z (Mpc)", "z (Mpc)"
    )
    assert corner.get_legend() is not None
    for ax, (x, y) in zip((below, above, beside), ((0, 1), (0, 2), (2, 1))):
        array, image = shown_image(ax)
        cluster, _ = expected_raster(X[:, [x, y]], labels, Extent(*image.get_extent()), array.shape[:2])
        assert (array[cluster != EMPTY][:, 3] == 255).all()
        assert not (np.ptp(array[cluster >= 0][:, :3].astype(int), axis=1) == 0).any()
    assert below.get_xlim() == above.get_xlim() and below.get_ylim() == beside.get_ylim()


def test_many_columns_are_principal_components():
    random = np.random.default_rng(9)
    X = random.normal(size=(400, 6)) * [5, 0.1, 3, 0.1, 0.1, 0.1] + 7
    ax = epsflow.plot.clusters(X, np.zeros(400, int))
    centred = X - X.mean(axis=0)
    _, values, axes = np.linalg.svd(centred, full_matrices=False)
    parts = 100 * values**2 / (values**2).sum()
    assert ax.get_xlabel() == f"principal component 1 ({parts[0]:.0f} %)"
    assert ax.get_ylabel() == f"principal component 2 ({parts[1]:.0f} %)"
    offsets = np.asarray(ax.collections[0].get_offsets())
    for i in (0, 1):
        scores = centred @ axes[i] * np.sign(axes[i][abs(axes[i]).argmax()])
        np.testing.assert_allclose(offsets[:, i], scores, atol=1e-9)


def test_one_column_is_drawn_over_its_rows():
    ax = epsflow.plot.clusters(np.array([[3.0], [1.0], [2.0]]), [0, -1, 0])
    assert ax.get_ylabel() == "row"
    assert sorted(map(tuple, ax.collections[0].get_offsets().tolist())) == [(1, 1), (2, 2), (3, 0)]


def test_columns_of_tables_and_arrays():
    pandas = pytest.importorskip("pandas")
    X, labels = clumps(100, d=3)
    table = pandas.DataFrame({"a": X[:, 0], "name": ["text"] * 100, "c": X[:, 2]})
    ax = epsflow.plot.clusters(table, labels, columns=["c", "a"])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("c", "a")
    by_number = epsflow.plot.clusters(X, labels, columns=[2, 0])
    assert (by_number.get_xlabel(), by_number.get_ylabel()) == ("x2", "x0")
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), by_number.collections[0].get_offsets())


def test_units_of_astropy_stand_on_the_axes():
    table = pytest.importorskip("astropy.table")
    coordinates = pytest.importorskip("astropy.coordinates")
    units = pytest.importorskip("astropy.units")
    X, labels = clumps(50)
    ax = epsflow.plot.clusters(table.QTable({"x": X[:, 0] * units.kpc, "y": X[:, 1] * units.kpc}), labels)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x (kpc)", "y (kpc)")
    sky = coordinates.SkyCoord(
        l=np.linspace(0, 350, 50) * units.deg, b=np.linspace(-60, 60, 50) * units.deg, frame="galactic"
    )
    assert epsflow.plot.clusters(sky, labels).get_xlabel() == "galactic longitude (°)"
    horizon = coordinates.SkyCoord(
        az=np.linspace(0, 50, 50) * units.deg, alt=np.linspace(10, 60, 50) * units.deg, frame="altaz"
    )
    assert epsflow.plot.clusters(horizon, labels).get_xlabel() == "longitude (°)"


def test_axes_and_figures_that_are_given():
    X, labels = clumps(50)
    figure, (_, ax) = pyplot.subplots(1, 2)
    assert epsflow.plot.clusters(X, labels, ax=ax) is ax and ax.get_legend() is None
    other = pyplot.figure()
    assert epsflow.plot.clusters(X, labels, figure=other).figure is other
    sky = pyplot.figure().add_subplot(projection="aitoff")
    assert epsflow.plot.clusters(X, labels, kind="aitoff", ax=sky) is sky
    assert matplotlib.rcParams["axes.spines.top"]  # the style is reset


def test_no_points_are_said():
    ax = epsflow.plot.clusters(np.zeros((0, 2)), np.zeros(0, int))
    assert [text.get_text() for text in ax.texts] == ["no points"] and not ax.collections and not ax.images


@pytest.mark.parametrize("labels", [[-1, -1], [0, 0]])
def test_points_at_one_position(labels):
    ax = epsflow.plot.clusters(np.full((2, 2), 3.0), labels)
    assert ax.get_xlim()[0] < 3 < ax.get_xlim()[1] and ax.get_ylim()[0] < 3 < ax.get_ylim()[1]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"kind": "round"}, ValueError,
         "kind='round' is none of 'auto', 'plane', 'geographic', 'sky', 'mollweide', 'aitoff', 'planes', 'principal'"),
        ({"labels": [0, 1]}, ValueError, "there are 3 points and 2 labels: give one for each"),
        ({"labels": [0.5, 1, 2]}, TypeError, "labels has dtype float64, and labels are whole numbers"),
        ({"X": [[0, 1], [np.nan, 2], [3, np.inf]]}, ValueError,
         "X has NaN or infinity in 2 rows, the first of them row 1: leave them out with .*drop_missing"),
        ({"kind": "planes"}, ValueError, "kind='planes' draws three columns, and X has 2: choose them with columns"),
        ({"kind": "sky", "X": np.zeros((3, 3))}, ValueError, "kind='sky' draws two columns, and X has 3: choose them"),
        ({"kind": "principal", "X": np.zeros((3, 1))}, ValueError,
         "kind='principal' draws two columns or more, and X has 1: give kind='auto'"),
        ({"kind": "geographic", "X": [[0, 100], [1, 1], [2, 2]]}, ValueError,
         "X has the latitude 100, and latitudes are from -90 to 90 degrees: longitude comes"),
        ({"columns": ["a"]}, ValueError,
         "columns names 1 columns, and X has 2 without names: give a name for each, or numbers"),
        ({"columns": [0, 2]}, ValueError, "X has no column 2; its columns are numbered from 0 to 1"),
        ({"columns": "xy"}, TypeError, "columns is 'xy', of type str; it is a list of names or numbers"),
        ({"pixels": 1}, ValueError, "pixels == 1, must be >= 2"),
        ({"pixels": 10_001}, ValueError, "pixels == 10001, must be at most 10000: an image has their square"),
        ({"ax": 3}, TypeError, "ax is of type int; it is the axes of a figure"),
        ({"figure": 3}, TypeError, "figure is of type int; it is a figure of matplotlib"),
    ],
)
def test_bad_input_is_refused(arguments, error, text):
    given = {"X": [[0.0, 0], [1, 1], [2, 2]], "labels": [0, 0, -1], **arguments}
    with pytest.raises(error, match=text):
        epsflow.plot.clusters(**given)


def test_missing_columns_and_axes_of_another_kind_are_refused():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"x": [0.0, 1], "y": [0.0, 1], "z": [1.0, 2]})
    ax, polar = pyplot.figure().add_subplot(), pyplot.figure().add_subplot(projection="polar")

    def draw(**more):
        return lambda: epsflow.plot.clusters(X, [0, 0], **more)

    check_refused(
        (draw(columns=["x", "w"]), ValueError, "X has no column 'w'; it has x, y, z"),
        (draw(ax=ax, figure=ax.figure), TypeError, "ax and figure are both given"),
        (draw(ax=ax), ValueError, "kind='planes' draws three axes, and ax is one"),
        (draw(columns=["x", "y"], kind="aitoff", ax=ax), ValueError,
         "ax has the projection 'rectilinear', and the picture is a sky: give axes made with projection='aitoff'"),
        (draw(columns=["x", "y"], ax=polar), ValueError, "ax has the projection 'polar', and the picture is a plane"),
    )
