"""Compares catalogues, friends of friends and runs over many data sets with pandas, oracles and loops."""

import numpy as np
import pytest

import epsflow

pandas = pytest.importorskip("pandas")


@pytest.fixture
def blobs():
    draw = np.random.default_rng(4)
    X = np.concatenate([draw.normal(c, 0.1, (60, 2)) for c in (0, 2, 5)] + [draw.uniform(-9, 9, (30, 2))])
    return X[draw.permutation(len(X))]


def test_catalog_is_what_pandas_groups(blobs):
    variant = epsflow.sweep(blobs, 0.3, 5, core=True)[0]
    mass = np.random.default_rng(1).uniform(0, 2, len(blobs))
    v = np.where(mass > 1.9, np.nan, mass**2)
    found = epsflow.catalog(blobs, variant, columns={"v": v})
    frame = pandas.DataFrame(blobs, columns=["x", "y"]).assign(v=v, core=variant.core, label=variant.labels)
    groups = frame[frame.label >= 0].groupby("label")
    np.testing.assert_array_equal(found["cluster"], groups.size().index)
    np.testing.assert_array_equal(found["size"], groups.size())
    np.testing.assert_array_equal(found["core"], groups["core"].sum())
    np.testing.assert_array_equal(found["first_core"], frame[frame.core].reset_index().groupby("label")["index"].min())
    np.testing.assert_allclose(found["y_spread"], groups["y"].std(ddof=0), rtol=1e-12)
    np.testing.assert_array_equal(found["y_upper"], groups["y"].max())
    np.testing.assert_allclose(found["v_mean"], groups["v"].mean(), rtol=1e-12)
    np.testing.assert_array_equal(found["v_min"], groups["v"].min())
    weighted = epsflow.catalog(blobs, variant.labels, weights=mass)
    expected = frame.assign(mx=mass * blobs[:, 0], m=mass)[frame.label >= 0].groupby("label")
    np.testing.assert_allclose(weighted["x_center"], expected["mx"].sum() / expected["m"].sum(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(weighted["weight_total"], expected["m"].sum(), rtol=1e-12)


def test_catalog_takes_tables_estimators_and_labels_with_gaps(blobs):
    table = pandas.DataFrame(blobs, columns=["lon", "lat"])
    result = epsflow.sweep(table, 0.3, 5)
    made = result.variant(0.3, 5).catalog
    assert list(made.columns[:4]) == ["cluster", "size", "lon_center", "lon_spread"]
    fitted = epsflow.DBSCAN(eps=0.3, min_samples=5).fit(blobs)
    of_estimator = epsflow.catalog(blobs, fitted)
    np.testing.assert_array_equal(of_estimator["core"].sum(), len(fitted.core_sample_indices_))
    labels = np.where(fitted.labels_ >= 0, 1000 * (fitted.labels_ + 1), -1)
    np.testing.assert_array_equal(epsflow.catalog(blobs, labels)["cluster"], 1000 * (of_estimator["cluster"] + 1))
    assert len(epsflow.catalog(blobs, np.full(len(blobs), -1))) == 0


def test_members_are_the_points_of_each_cluster(blobs):
    labels = epsflow.sweep(blobs, 0.3, 5)[0].labels
    points, offsets, clusters = epsflow.members(labels)
    np.testing.assert_array_equal(clusters, np.arange(labels.max() + 1))
    for k, cluster in enumerate(clusters):
        np.testing.assert_array_equal(points[offsets[k] : offsets[k + 1]], np.flatnonzero(labels == cluster))
    with pytest.raises(ValueError, match="has the label -2"):
        epsflow.members([0, -2])


@pytest.mark.parametrize("kind", ["?", *"bBhHiIlLqQ", ">i4", ">u8", object, "boolean", list])
def test_masks_of_every_kind(blobs, kind):
    variant = epsflow.sweep(blobs, 0.3, 5, core=True)[0]
    if kind is list:
        mask = variant.core.tolist()
    else:
        mask = pandas.Series(variant.core, dtype=kind) if kind == "boolean" else variant.core.astype(kind)
    times, labels = np.repeat([0, 1], len(blobs) // 2), np.where(variant.core, variant.labels, -1)
    found, expected = (
        (epsflow.catalog(blobs, variant.labels, core=core), epsflow.tracks(blobs, labels, times, core=core, eps=0.3))
        for core in (mask, variant.core)
    )
    pandas.testing.assert_frame_equal(found[0], expected[0])
    pandas.testing.assert_frame_equal(found[1].links, expected[1].links)


def test_catalog_refuses(blobs):
    n = len(blobs)
    for bad, error, text in (
        ({"core": np.full(n, 2)}, TypeError, "core has dtype int64, and is True or False"),
        ({"core": np.full(n, -1, "i1")}, TypeError, "core has dtype int8"),
        ({"core": np.ones(n)}, TypeError, "core has dtype float64"),
        ({"core": np.array(["a"] * n)}, TypeError, "core has dtype <U1"),
        ({"core": np.array([True, None] * (n // 2), object)}, TypeError, "core has dtype object"),
        ({"core": np.ma.array(np.ones(n, bool), mask=np.arange(n) == 3)}, ValueError, "core has masked values"),
        ({"core": np.arange(5)}, ValueError, r"core.shape == \(5,\).*numpy.isin"),
        ({"core": np.ones((n, 1), bool)}, ValueError, "core.shape"),
        ({"core": np.ones(3, bool)}, ValueError, "core.shape"),
        ({"weights": np.full(n, -1.0)}, ValueError, "weight -1"),
        ({"columns": {"v": np.ones(3)}}, ValueError, "'v' has the shape"),
        ({"columns": {"v": np.array(["a"] * n)}}, ValueError, "are numbers"),
        ({"labels": np.zeros(3, int)}, ValueError, "give one for each"),
    ):
        with pytest.raises(error, match=text):
            epsflow.catalog(blobs, **{"labels": np.zeros(n, int), **bad})


def test_slices_without_clusters(blobs):
    found = epsflow.sweep_many(blobs, 1e-9, 3, offsets=[0, 5, len(blobs)], core=True)
    assert len(found.catalog(1e-9, 3)) == 0


def test_a_catalog_takes_the_metric():
    found = epsflow.catalog([[9.9, 1.0], [0.1, 1.2], [0.3, 1.1]], [0, 0, 0], metric_params={"box": [10, None]})
    np.testing.assert_allclose(found["x_center"], [0.1], atol=1e-12)
    over = epsflow.catalog([[0.0, 89], [180, 89]], [0, 0], metric="greatcircle", metric_params={"unit": "km"})
    np.testing.assert_allclose(over["radius"], [6371.0088 * np.pi / 180])


def test_friends_of_friends():
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    draw = np.random.default_rng(5)
    X = draw.uniform(0, 10, (400, 3))
    mass, velocity = draw.uniform(1, 2, 400), draw.normal(0, 1, (400, 3))
    groups = epsflow.friends_of_friends(X, b=0.4, box=10, min_size=3, weights=mass, velocity=velocity)
    length = 0.4 * (1000 / 400) ** (1 / 3)
    assert groups.linking_length == pytest.approx(length)
    # The expected labels are the connected components of all pairs.
    away = np.abs(X[:, None] - X[None])
    linked = (np.minimum(away, 10 - away) ** 2).sum(axis=2) <= length**2
    _, label = csgraph.connected_components(linked)
    _, first, sizes = np.unique(label, return_index=True, return_counts=True)
    kept = [(-size, row) for row, size in zip(first, sizes) if size >= 3]
    expected = np.full(400, -1)
    for number, (_, row) in enumerate(sorted(kept)):
        expected[label == label[row]] = number
    np.testing.assert_array_equal(groups.labels, expected)
    table = groups.catalog
    np.testing.assert_array_equal(table["size"], [-size for size, _ in sorted(kept)])
    members = expected == 0
    np.testing.assert_allclose(table["vx_mean"][0], np.average(velocity[members, 0], weights=mass[members]), rtol=1e-12)
    swift = epsflow.friends_of_friends(X, b=0.4, box=10, min_size=3, dialect="swift")
    np.testing.assert_array_equal(swift.labels, np.where(expected < 0, 2147483647, expected + 1))
    ours = epsflow.friends_of_friends(X, b=0.4, box=10, min_size=3, dialect="nbodykit", velocity=velocity)
    assert ours.catalog.dtype.names == ("CMPosition", "CMVelocity", "Length")
    np.testing.assert_array_equal(ours.catalog["Length"], [0, *table["size"]])
    for bad, text in (
        ({}, "one of linking_length and b"), ({"b": 0.2}, "box"), ({"linking_length": 1, "dialect": "velo"}, "dialect")
    ):
        with pytest.raises(ValueError, match=text):
            epsflow.friends_of_friends(X, **bad)


def test_points_join_the_group_of_the_nearest_one():
    spatial = pytest.importorskip("scipy.spatial")
    draw = np.random.default_rng(9)
    X, gas = draw.uniform(0, 10, (400, 3)), draw.uniform(0, 10, (700, 3)).astype(np.float32)
    groups = epsflow.friends_of_friends(X, 1.0, min_size=3, attach=gas, box=10)
    away, nearest = spatial.cKDTree(X, boxsize=10).query(gas, distance_upper_bound=1.0)
    expected = np.where(np.isfinite(away), np.append(groups.labels, -1)[nearest], -1)
    assert 50 < (expected >= 0).sum() < 650 and (np.isfinite(away) & (expected < 0)).any()
    np.testing.assert_array_equal(groups.attached, expected)
    sizes = np.bincount(expected[expected >= 0], minlength=groups.n_groups)
    np.testing.assert_array_equal(groups.catalog["attached"], sizes)
    swift = epsflow.friends_of_friends(X, 1.0, min_size=3, attach=gas, dialect="swift", box=10)
    np.testing.assert_array_equal(swift.attached, np.where(expected < 0, 2147483647, expected + 1))
    assert epsflow.friends_of_friends(X, 0.6).attached is None
    with pytest.raises(ValueError, match="attach has 2 columns"):
        epsflow.friends_of_friends(X, 0.6, attach=gas[:, :2])


def test_groups_as_swift_writes_them(tmp_path):
    h5py = pytest.importorskip("h5py")
    X = np.random.default_rng(7).uniform(0, 10, (300, 3))
    groups = epsflow.friends_of_friends(X, b=0.5, box=10, weights=np.full(300, 2.0), dialect="swift")
    file = tmp_path / "fof.hdf5"
    groups.to_swift(file)
    with h5py.File(file) as held:
        assert set(held["Groups"]) == {"Masses", "Centres", "GroupIDs", "Sizes"}
        np.testing.assert_array_equal(held["Groups/GroupIDs"], np.arange(1, groups.n_groups + 1))
        np.testing.assert_array_equal(held["Groups/Masses"], 2.0 * held["Groups/Sizes"][()])
        np.testing.assert_array_equal(held["Header"].attrs["BoxSize"], [10, 10, 10])
    with pytest.raises(FileExistsError):
        groups.to_swift(file)
    groups.to_swift(file, overwrite=True)
    with pytest.raises(ValueError, match="three dimensions"):
        epsflow.friends_of_friends(X[:, :2], 0.5).to_swift(tmp_path / "flat.hdf5")
    swiftsimio = pytest.importorskip("swiftsimio")
    loaded = swiftsimio.load(str(file)).fof_groups
    np.testing.assert_array_equal(np.asarray(loaded.sizes), np.bincount(groups.labels[groups.labels < 2147483647])[1:])
    assert str(loaded.centres.units) == "Mpc"


@pytest.mark.parametrize("way", ["list", "offsets", "by", "times"])
def test_many_data_sets_are_each_as_if_alone(way):
    draw = np.random.default_rng(6)
    parts = [draw.uniform(0, 3, (n, 2)) for n in (40, 1, 90, 60)]
    X, number = np.concatenate(parts), np.repeat(np.arange(4), [len(p) for p in parts])
    order = draw.permutation(len(X)) if way in ("by", "times") else np.arange(len(X))
    said = {
        "list": {},
        "offsets": {"offsets": np.concatenate([[0], np.cumsum([len(p) for p in parts])])},
        "by": {"by": number[order] * 5},
        "times": {
            "by": (np.datetime64("2015-03-17T00:00") + np.timedelta64(5, "m") * number + np.timedelta64(1, "m"))[order],
            "width": np.timedelta64(5, "m"),
        },
    }[way]
    points = parts if way == "list" else X[order]
    found = epsflow.sweep_many(points, eps=[0.2, 0.4], min_samples=[3, 5], core=True, **said)
    assert len(found) == 4
    np.testing.assert_array_equal(found.sizes, [40, 1, 90, 60])
    for s, part in enumerate(parts):
        rows = order[np.isin(order, np.flatnonzero(number == s))]
        for i, (eps, min_samples) in enumerate(found.variants):
            alone = epsflow.sweep(X[rows], eps, min_samples, core=True)[0]
            np.testing.assert_array_equal(found.labels(eps, min_samples, slice=s), alone.labels)
            np.testing.assert_array_equal(found.core(eps, min_samples, slice=s), alone.core)
            row, counts = found.summary.iloc[4 * s + i], (len(part), alone.n_clusters, alone.n_noise, alone.n_core)
            assert (row.n_points, row.n_clusters, row.n_noise, row.n_core) == counts
    whole = found.labels(0.4, 3)
    np.testing.assert_array_equal(whole[number[order] == 2], found.labels(0.4, 3, slice=2))
    table = found.catalog(0.4, 3)
    assert np.isin(np.asarray(table["slice"]), np.asarray(found.keys)).all()
    assert (number[order][table["first_core"]] == [list(found.keys).index(key) for key in table["slice"]]).all()


def test_many_data_sets_refuse():
    X = np.zeros((4, 2))
    for bad, text in (
        ({"by": [0, 1]}, "by.shape"),
        ({"offsets": [0, 5]}, "ends at 5"),
        ({"offsets": [0, 3, 2, 4]}, "must not descend"),
        ({"offsets": [0.5, 4]}, "whole numbers"),
        ({"offsets": np.array([], int)}, "whole numbers"),
        ({"width": 3, "offsets": [0, 4]}, "width is about"),
    ):
        with pytest.raises(ValueError, match=text):
            epsflow.sweep_many(X, 1, 2, **bad)
    nanoseconds = np.array([1700000000123456789, 1700000000123456790, 0, 0])
    assert list(epsflow.sweep_many(X, 1, 2, by=nanoseconds).keys) == sorted(set(nanoseconds.tolist()))
    counts = epsflow.sweep_many(X, 1, 2, offsets=[0, 2, 4], keep="summary")
    assert list(counts.summary["n_clusters"]) == [1, 1]
    with pytest.raises(IndexError, match="no slice 7"):
        epsflow.sweep_many(X, 1, 2, offsets=[0, 2, 4]).labels(1, 2, slice=7)
    weighted = epsflow.sweep_many(X, 1, 3, offsets=[0, 1, 4], sample_weight=[3, 1, 1, 0])
    assert list(weighted.summary["n_clusters"]) == [1, 0]
