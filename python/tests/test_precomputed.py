"""Tests distances as input. Labels must equal the labels of the points, or scikit-learn's on the same distances."""

from __future__ import annotations

import logging
import pickle

import numpy as np
import pytest
from checks import check_refused
from programs import succeeded

import epsflow

sparse = pytest.importorskip("scipy.sparse")
cluster = pytest.importorskip("sklearn.cluster")
pairwise = pytest.importorskip("sklearn.metrics").pairwise_distances
neighbors = pytest.importorskip("sklearn.neighbors")


@pytest.fixture
def points() -> np.ndarray:
    rng = np.random.default_rng(7)
    return np.concatenate(
        [rng.normal(center, 0.2, (60, 2)) for center in ((0, 0), (1, 1), (3, 0))] + [rng.uniform(-1, 4, (40, 2))]
    )


def theirs(distances, eps, min_samples, weights=None):
    return cluster.DBSCAN(eps=eps, min_samples=min_samples, metric="precomputed").fit(distances, sample_weight=weights)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("metric", ["manhattan", "canberra", "braycurtis"])
def test_every_variant_is_that_of_scikit_learn(points, dtype, metric):
    distances = pairwise(points, metric=metric).astype(dtype)
    all_eps = [float(np.quantile(distances, q)) * (1 + 1e-6) for q in (0.01, 0.05, 0.2)]
    result = epsflow.sweep(distances, all_eps, [1, 3, 8], metric="precomputed", core=True)
    assert len(result) == 9 and result.metric == "precomputed"
    for variant in result:
        expected = theirs(distances, variant.eps, variant.min_samples)
        np.testing.assert_array_equal(variant.labels, expected.labels_)
        np.testing.assert_array_equal(variant.core_sample_indices, expected.core_sample_indices_)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array, sparse.coo_array, sparse.lil_matrix])
def test_sparse_distances_serve_every_eps_below_their_own(points, make):
    graph = neighbors.radius_neighbors_graph(points, 0.5, mode="distance")  # without points as their own neighbours
    table = make(graph)
    before = table.copy()
    for eps in (0.5, 0.3, 0.1):
        model = epsflow.DBSCAN(eps, min_samples=5, metric="precomputed").fit(table)
        expected = theirs(graph, eps, 5)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_array_equal(model.core_sample_indices_, expected.core_sample_indices_)
        assert (abs(model.components_ - graph.tocsr()[expected.core_sample_indices_]) > 0).nnz == 0
    assert (abs(table.tocsr() - before.tocsr()) > 0).nnz == 0


def test_our_own_table_gives_the_labels_of_its_points_up_to_its_eps(points):
    table = epsflow.neighbors(points, 0.4, distances=True)
    for variant in epsflow.sweep(table, [0.4, 0.2], [4, 9], metric="precomputed"):
        np.testing.assert_array_equal(variant.labels, epsflow.sweep(points, variant.eps, variant.min_samples)[0].labels)
    assert table.epsflow_eps == 0.4 and epsflow.Engine("cpu").load(points).neighbors(0.4).epsflow_eps == 0.4
    words = r"within eps=0.4, and eps=0.5 is larger, .*: make it with that eps, neighbors\(…, 0.5, distances=True\)"
    model = epsflow.DBSCAN(0.5, metric="precomputed")
    check_refused(
        (lambda: epsflow.sweep(table, [0.2, 0.5], 4, metric="precomputed"), ValueError, words),
        (lambda: model.fit(table), ValueError, words),
        (lambda: model.fit(pickle.loads(pickle.dumps(table))), ValueError, words),
    )
    expected = epsflow.sweep(points, 0.4, 4)[0].labels
    np.testing.assert_array_equal(epsflow.DBSCAN(0.4, min_samples=4, metric="precomputed").fit(table).labels_, expected)
    # A matrix that SciPy derives from it belongs to the caller and may have another unit.
    for own in (table * 100, sparse.csr_array(table * 100).tocoo()):
        np.testing.assert_array_equal(epsflow.sweep(own, 40, 4, metric="precomputed")[0].labels, expected)
    assert not hasattr(table.copy(), "epsflow_eps")
    table.data *= 100
    del table.epsflow_eps
    assert len(epsflow.sweep(table, 50, 4, metric="precomputed")) == 1
    of_angles = {"metric": "greatcircle", "metric_params": {"unit": "km"}}
    assert epsflow.neighbors(points, 60, distances=True, **of_angles).epsflow_eps == 60


def test_tables_of_the_program(points, tmp_path, program):
    h5py = pytest.importorskip("h5py")
    np.save(tmp_path / "points.npy", points)
    for name, options in (("far", ["--distances"]), ("who", [])):
        words = ("neighbors", tmp_path / "points.npy", "--eps", 0.4, "--out", tmp_path / f"{name}.h5")
        succeeded(program(*words, *options))
    own = epsflow.neighbors(points, 0.4, distances=True)
    table = epsflow.read_neighbors(tmp_path / "far.h5")
    assert table.shape == own.shape and table.dtype == own.dtype and table.epsflow_eps == 0.4
    for ours, theirs in ((own.indptr, table.indptr), (own.indices, table.indices), (own.data, table.data)):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
    who = epsflow.read_neighbors(str(tmp_path / "who.h5"))
    assert who.dtype == bool and (who != epsflow.neighbors(points, 0.4)).nnz == 0
    with h5py.File(tmp_path / "far.h5") as opened:
        assert set(opened) == {"offsets", "ids", "distances"}


WHOLE = {
    "offsets": np.array([0, 2, 4, 5], np.uint64), "ids": np.array([0, 1, 0, 1, 2], np.uint32),
    "distances": np.array([0, 0.5, 0.5, 0, 0]), "eps": 1.0,
}
DAMAGE = [  # the parts that differ, without those that are None
    ({"ids": None}, "ids"),
    ({"eps": None}, "eps"),
    ({"eps": -1.0}, "eps == -1"),
    ({"eps": "wide"}, "wide"),
    ({"ids": WHOLE["ids"].astype(float)}, "/ids is of type float64"),
    ({"offsets": np.zeros((2, 2), np.uint64)}, r"/offsets is of type uint64 and shape \(2, 2\)"),
    ({"offsets": np.zeros(0, np.uint64)}, "its offsets do not ascend from 0"),
    ({"ids": WHOLE["ids"][:-1]}, "its offsets do not ascend from 0 to the number of its ids, 4"),
    ({"offsets": np.array([0, 9, 4, 5], np.uint64)}, "its offsets do not ascend"),
    ({"ids": np.array([0, 1, 0, 3, 2], np.uint32)}, "it has 3 rows, and an id is 3"),
    ({"distances": WHOLE["distances"][:-1]}, "it has 5 ids and 4 distances"),
]


@pytest.mark.parametrize(("damage", "words"), DAMAGE, ids=[words[:20] for _, words in DAMAGE])
def test_damaged_tables_are_refused(tmp_path, damage, words):
    h5py = pytest.importorskip("h5py")
    for name, parts in (("whole", WHOLE), ("damaged", {**WHOLE, **damage})):
        with h5py.File(tmp_path / f"{name}.h5", "w") as opened:
            for part, value in parts.items():
                if value is not None:
                    (opened["offsets"].attrs if part == "eps" else opened)[part] = value
    assert epsflow.read_neighbors(tmp_path / "whole.h5").toarray().tolist() == [[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]]
    words = rf"damaged.h5 is no table of neighbours .*{words}.*; `epsflow neighbors … --distances --out`"
    with pytest.raises(ValueError, match=words):
        epsflow.read_neighbors(tmp_path / "damaged.h5")


def test_other_files_are_no_tables(tmp_path):
    h5py = pytest.importorskip("h5py")
    (tmp_path / "text.h5").write_text("x,y\n1,2\n")
    with pytest.raises(ValueError, match="text.h5 is no HDF5, in which `epsflow neighbors"):
        epsflow.read_neighbors(tmp_path / "text.h5")
    with h5py.File(tmp_path / "group.h5", "w") as opened:
        opened.create_group("offsets")
        opened["offsets"].attrs["eps"] = 1.0
    (tmp_path / "cut.h5").write_bytes((tmp_path / "group.h5").read_bytes()[:400])
    for name in ("group", "cut"):
        with pytest.raises(ValueError, match=f"{name}.h5 is no table of neighbours of epsflow, or is damaged"):
            epsflow.read_neighbors(tmp_path / f"{name}.h5")
    with pytest.raises(FileNotFoundError):
        epsflow.read_neighbors(tmp_path / "missing.h5")
    for file, error in ((None, TypeError), ("", ValueError)):
        with pytest.raises(error, match="file is .*file can have|file is None, of type NoneType"):
            epsflow.read_neighbors(file)


def test_weights_and_threads(points):
    distances = pairwise(points)
    weights = np.random.default_rng(1).integers(0, 5, len(points)) / 2
    expected = theirs(distances, 0.3, 6, weights).labels_
    for X in (distances, sparse.csr_array(np.where(distances <= 0.6, distances, 0))):
        result = epsflow.sweep(X, 0.3, 6, metric="precomputed", sample_weight=weights, threads=2, memory="1GiB")
        np.testing.assert_array_equal(result[0].labels, expected)
        assert result.metric == "precomputed, weighted"
    engine = epsflow.Engine("cpu", threads=1)
    model = epsflow.DBSCAN(0.3, min_samples=6, metric="precomputed", engine=engine)
    np.testing.assert_array_equal(model.fit(distances, sample_weight=weights).labels_, expected)


def test_results_are_saved_and_loaded(points, tmp_path):
    result = epsflow.sweep(pairwise(points), 0.3, 6, metric="precomputed")
    result.save(tmp_path / "results")
    np.testing.assert_array_equal(epsflow.load(tmp_path / "results")[0].labels, result[0].labels)


def test_sparse_points_are_made_dense_within_the_memory(points, caplog):
    X = sparse.csr_array(points)
    expected = epsflow.sweep(points, 0.3, 5)[0].labels
    with caplog.at_level(logging.WARNING, logger="epsflow"):
        np.testing.assert_array_equal(epsflow.sweep(X, 0.3, 5)[0].labels, expected)
        np.testing.assert_array_equal(epsflow.DBSCAN(0.3).fit_predict(X), expected)
    assert sum("X is sparse and was made dense, 220 x 2" in record.message for record in caplog.records) == 2
    with pytest.raises(MemoryError, match="X is sparse, .* raise memory, or reduce the dimensions"):
        epsflow.sweep(sparse.csr_array((10**6, 1000)), 0.3, 5, memory="1GB")
    with pytest.raises(MemoryError, match="9.5 MiB: raise memory"):
        epsflow.sweep(sparse.csr_array((10**5, 1000)), 0.3, 5, engine=epsflow.Engine("cpu", memory="10MB"))
    assert epsflow.neighbors(X, 0.3).nnz == epsflow.neighbors(points, 0.3).nnz and len(epsflow.plan(X, 0.3, 5)) == 1
    with pytest.raises(ValueError, match="Expected 2D array"):
        epsflow.sweep(sparse.coo_array(np.ones(4)), 0.3, 3)


def test_matrices_of_any_size_and_kind(points):
    n = 4200
    line = np.sort(np.random.default_rng(3).random(n)).astype(np.float32)
    expected = epsflow.sweep(line[:, None].astype(float), 1e-3, 5)[0]
    distances = np.abs(line[:, None].astype(float) - line)
    np.testing.assert_array_equal(epsflow.sweep(distances, 1e-3, 5, metric="precomputed")[0].labels, expected.labels)
    whole = (pairwise(points) * 10).astype(int)
    for X in (whole, np.asfortranarray(whole), whole.tolist(), whole[:, :], sparse.csr_array(whole).astype(np.int64)):
        graph = theirs(X, 3, 4).labels_
        np.testing.assert_array_equal(epsflow.DBSCAN(3, min_samples=4, metric="precomputed").fit(X).labels_, graph)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_distances_of_float32_are_compared_as_scikit_learn_compares_them(make):
    for eps in np.arange(1, 100) / 100:
        distances = make(np.array([[0, eps], [eps, 0]], dtype=np.float32))
        model = epsflow.DBSCAN(float(eps), min_samples=2, metric="precomputed").fit(distances)
        np.testing.assert_array_equal(model.labels_, theirs(distances, float(eps), 2).labels_)
        assert epsflow.sweep(distances, float(eps), 2, metric="precomputed")[0].eps == eps


def test_random_distances_that_are_not_symmetric_are_clustered_as_by_scikit_learn():
    rng = np.random.default_rng(5)
    for _ in range(300):
        distances = rng.random((rng.integers(1, 12),) * 2)
        eps, min_samples = rng.choice([0.1, 0.3, 0.5]), int(rng.integers(1, 6))
        model = epsflow.DBSCAN(eps, min_samples=min_samples, metric="precomputed").fit(distances)
        expected = theirs(distances, eps, min_samples)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_array_equal(model.core_sample_indices_, expected.core_sample_indices_)
        np.testing.assert_array_equal(model.components_, expected.components_)


def _falling():
    table = sparse.csr_array(np.ones((3, 3)))
    table.indptr[1] = 7
    return table


BAD = [
    (np.zeros((3, 2)), {}, ValueError, "must be square. X has the shape"),
    (sparse.csr_array((3, 2)), {}, ValueError, "must be square. X has the shape"),
    (np.array([[0, -1.0], [-1.0, 0]]), {}, ValueError, "row 0 .* the distance -1 to point 1"),
    (np.array([[0, np.nan], [1, 0]]), {}, ValueError, "row 0 .* nan"),
    (np.array([[0.0, 1.0], [3.0, 0.0]]), {}, ValueError,
     "row 0 .* has point 1 at the distance 1, and row 1 does not have point 0.*symmetric"),
    (sparse.csr_array(np.array([[0.0, 1.0], [0.0, 0.0]])), {}, ValueError, "row 1 does not have point 0"),
    (epsflow.neighbors(np.zeros((2, 2)), 1), {}, TypeError, "dtype bool.*neighbors.*distances=True"),
    (_falling(), {}, ValueError, "X.indptr falls after row 1, from 7 to 6: it must ascend"),
    (np.zeros((2, 2), dtype=str), {}, TypeError, "distances are numbers"),
    (sparse.csr_array(np.ones((2, 2), dtype=complex)), {}, TypeError, "distances are numbers"),
    (np.ma.array(np.zeros((2, 2)), mask=np.eye(2)), {}, ValueError, "masked distances"),
    (np.zeros((2, 2)), {"backend": "tpu"}, ValueError, "backend='tpu' is none of 'auto', 'cpu', 'gpu'"),
    (np.zeros((2, 2)), {"strategy": "table"}, ValueError, "strategy beside metric='precomputed'"),
    (np.zeros((2, 2)), {"index": "grid", "decide": "scalar"}, ValueError, "index and decide beside"),
    (np.zeros((2, 2)), {"metric_params": {}}, ValueError, "metric_params beside"),
    (np.zeros((2, 2)), {"backend": "gpu"}, ValueError, "clustered on the CPU"),
    (np.zeros((2, 2)), {"sample_weight": [1.0]}, ValueError, "sample_weight"),
    (np.zeros((2, 2)), {"memory": 100}, MemoryError, "memory"),
]


@pytest.mark.parametrize(("X", "options", "error", "words"), BAD, ids=[words[:30] for *_, words in BAD])
def test_what_are_no_distances_is_refused(X, options, error, words):
    with pytest.raises(error, match=words):
        epsflow.sweep(X, 1.5, 2, metric="precomputed", **options)


def test_what_searches_points_takes_no_distances(points):
    distances = pairwise(points)
    model = epsflow.DBSCAN(0.3, metric="precomputed")
    fitted = epsflow.DBSCAN(0.3, metric="precomputed").fit(distances)
    engine = epsflow.Engine("cpu")
    engine.close()
    given = {"metric": "precomputed"}
    check_refused(
        (lambda: epsflow.plan(distances, 1, 2, **given), ValueError, "here points are searched"),
        (lambda: epsflow.neighbors(distances, 1, **given), ValueError, "here points are searched"),
        (lambda: model.fit(distances, sample_weight=np.zeros(len(points))), ValueError, "at least one non-zero"),
        (lambda: epsflow.sweep(distances, 1, 2, engine=engine, **given), ValueError, "the engine is closed"),
        (lambda: fitted.predict(distances), ValueError, r"predict\(\) searches points"),
    )
