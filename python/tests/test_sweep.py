"""Sweeps, neighbours and engines beside scikit-learn's labels and brute force."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import threading
import time
import weakref

import numpy as np
import pytest

import epsflow

sklearn_cluster = pytest.importorskip("sklearn.cluster")


@pytest.fixture(scope="module")
def blobs() -> np.ndarray:
    random = np.random.default_rng(7)
    centres = random.uniform(-5, 5, size=(12, 2))
    return np.concatenate([centre + random.normal(scale=0.3, size=(250, 2)) for centre in centres])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "byte-swapped", "read-only"])
def test_labels_are_those_of_scikit_learn(blobs, dtype, layout):
    X = blobs.astype(dtype)
    given = {
        "C": lambda: X,
        "F": lambda: np.asfortranarray(X),
        "strided": lambda: np.repeat(X, 2, axis=0)[::2],
        "reversed": lambda: X[::-1].copy()[::-1],
        "byte-swapped": lambda: X.astype(X.dtype.newbyteorder()),
        "read-only": lambda: X.copy(),
    }[layout]()
    if layout == "read-only":
        given.flags.writeable = False
    before = given.copy()
    result = epsflow.sweep(given, eps=[0.05, 0.1, 0.2], min_samples=[3, 5, 9], core=True)
    assert len(result) == 9
    for variant in result:
        theirs = sklearn_cluster.DBSCAN(
            eps=variant.eps, min_samples=variant.min_samples, algorithm="kd_tree"
        ).fit(X.astype(np.float64))
        np.testing.assert_array_equal(variant.labels, theirs.labels_)
        np.testing.assert_array_equal(variant.core_sample_indices, theirs.core_sample_indices_)
    np.testing.assert_array_equal(given, before)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dims", [2, 5, 16])
def test_a_sweep_is_64_fits_of_scikit_learn(dtype, dims):
    random = np.random.default_rng(dims)
    centres = random.uniform(-4, 4, size=(9, dims))
    X = np.concatenate([centre + random.normal(scale=0.4, size=(120, dims)) for centre in centres]).astype(dtype)
    eps = [round(0.1 * k * np.sqrt(dims), 3) for k in range(1, 9)]
    min_samples = [1, 2, 3, 5, 8, 13, 21, 34]
    result = epsflow.sweep(X, eps=eps, min_samples=min_samples, core=True)
    assert len(result) == 64
    clusters = set()
    for e in eps:
        for m in min_samples:
            theirs = sklearn_cluster.DBSCAN(eps=e, min_samples=m, algorithm="kd_tree").fit(X.astype(np.float64))
            np.testing.assert_array_equal(result.labels(eps=e, min_samples=m), theirs.labels_)
            np.testing.assert_array_equal(result.core_sample_indices(eps=e, min_samples=m), theirs.core_sample_indices_)
            clusters.add(result.variant(eps=e, min_samples=m).n_clusters)
    assert len(clusters) > 5


def test_points_in_c_order_are_not_copied(blobs):
    for dtype in (np.float32, np.float64):
        X = np.ascontiguousarray(blobs, dtype=dtype)
        from epsflow._arrays import as_points

        assert as_points(X) is X


def test_neighbors(blobs):
    X = blobs[:400]
    squares = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    table = epsflow.neighbors(X, 0.3, distances=True)
    rows, columns = np.nonzero(squares <= 0.3**2)
    np.testing.assert_array_equal(np.repeat(np.arange(400), np.diff(table.indptr)), rows)
    np.testing.assert_array_equal(table.indices, columns)
    np.testing.assert_allclose(table.data, np.sqrt(squares[rows, columns]), rtol=1e-14, atol=0)
    assert table.indptr.dtype == np.int64


def test_results_outlive_what_made_them(blobs):
    labels = epsflow.Engine("cpu").load(blobs.copy()).sweep(0.1, 5)[0].labels
    np.testing.assert_array_equal(labels, epsflow.DBSCAN(0.1, min_samples=5).fit(blobs).labels_)


def test_threads_share_an_engine(blobs):
    data = epsflow.Engine("cpu").load(blobs)
    expected = data.sweep(0.1, 5)[0].labels
    wrong: list[int] = []

    def work() -> None:
        for _ in range(20):
            if not np.array_equal(data.sweep(0.1, 5)[0].labels, expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_fork_makes_an_engine_of_its_own(blobs):
    data = epsflow.Engine("cpu").load(blobs)
    expected = epsflow.DBSCAN(0.1).fit(blobs).labels_
    child = os.fork()
    if child == 0:
        right = np.array_equal(epsflow.DBSCAN(0.1).fit(blobs).labels_, expected)
        try:
            data.sweep(0.1, 5)
            right = False
        except ValueError as error:
            right = right and "fork" in str(error)
        os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.fixture
def interruptible():
    # A shell ignores interrupts for what runs in its background.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupted_within_a_second(interruptible):
    X = np.random.default_rng(1).uniform(size=(2_000_000, 2))
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        epsflow.sweep(X, eps=np.linspace(0.001, 0.01, 20), min_samples=range(2, 40))
    assert time.perf_counter() - begin < 1.5


def test_interrupted_while_a_load_waits_for_its_turn(interruptible):
    engine = epsflow.Engine("cpu")
    data = engine.load(np.random.default_rng(1).uniform(size=(2_000_000, 2)))
    running, enough = threading.Event(), threading.Event()

    def until_enough(progress: epsflow.Progress) -> None:
        running.set()
        if enough.is_set():
            raise StopIteration

    ended: list[BaseException] = []

    def work() -> None:
        try:
            data.sweep(np.linspace(0.001, 0.01, 20), range(2, 80), progress=until_enough)
        except BaseException as error:
            ended.append(error)

    other = threading.Thread(target=work)
    other.start()
    assert running.wait(60)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    begin = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            engine.load(np.zeros((10, 2)))
        assert time.perf_counter() - begin < 1
    finally:
        enough.set()
        other.join()
    assert isinstance(ended[0], StopIteration)  # the callback's own, though the run that it ended was cancelled
    assert len(engine.load(np.zeros((10, 2)))) == 10


def test_pickle(blobs):
    fitted = pickle.loads(pickle.dumps(epsflow.DBSCAN(0.1, engine=epsflow.Engine("cpu")).fit(blobs)))
    np.testing.assert_array_equal(fitted.labels_, epsflow.DBSCAN(0.1).fit(blobs).labels_)
    assert fitted.engine.backend == "cpu"


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda X: epsflow.sweep(X, 0, 4), ValueError, "eps == 0"),
        (lambda X: epsflow.sweep(X, "a", 4), TypeError, "eps is 'a'"),
        (lambda X: epsflow.sweep(X, 0.1, 2.5), TypeError, "min_samples is 2.5"),
        (lambda X: epsflow.sweep(X, 0.1, 0), ValueError, "min_samples == 0"),
        (lambda X: epsflow.sweep(X[:, 0], 0.1, 4), ValueError, "Reshape your data"),
        (lambda X: epsflow.sweep(X.astype(complex), 0.1, 4), ValueError, "Complex data not supported"),
        (lambda X: epsflow.sweep(np.where(X > 4, np.nan, X), 0.1, 4), ValueError, "column"),
        (lambda X: epsflow.sweep(np.ma.masked_greater(X, 4), 0.1, 4), ValueError, "masked values"),
        (lambda X: epsflow.sweep(np.array([["a", "b"]]), 0.1, 4), ValueError, "not all of it is numbers"),
        (lambda X: epsflow.sweep(X, 0.1, 4, memory="1KB"), MemoryError, "raise memory"),
        (lambda X: epsflow.sweep(X, 0.1, 4, memory="much"), ValueError, "is no size"),
        (lambda X: epsflow.sweep(X, 0.1, 4, index="kd"), ValueError, "index='kd'"),
        (lambda X: epsflow.sweep(X, [], 4), ValueError, "no variant"),
        (lambda X: epsflow.DBSCAN(metric="precomputed").fit(X), ValueError, "give it the points"),
        (lambda X: epsflow.Engine("tpu"), ValueError, "backend='tpu'"),
    ],
)
def test_bad_input_is_named(blobs, call, error, words):
    with pytest.raises(error, match=words):
        call(blobs)


def test_a_task_keeps_the_arrays_that_it_reads(blobs):
    from epsflow import _core
    from epsflow._metrics import EUCLIDEAN

    def arrays():
        return np.array(blobs), np.ones(len(blobs)), np.zeros(len(blobs), dtype=np.int32)

    engine = epsflow.Engine("cpu", threads=1)
    starts = {
        "load": lambda X, w, _: engine._engine.start_load(X, EUCLIDEAN),
        "sweep": lambda X, w, _: engine.load(X)._data.start_sweep([(0.3, 4)], {}),
        "neighbors": lambda X, w, _: engine.load(X)._data.start_neighbors(0.3, False, {}),
        "weighted": lambda X, w, _: engine.load(X)._data.start_weighted([(0.3, 4)], {}, w),
        "predict": lambda X, w, labels: _core.start_predict(X, labels, 0.3, X, EUCLIDEAN, 0, 1),
    }
    for name, start in starts.items():
        X, weights, labels = arrays()
        task = start(X, weights, labels)
        read = {"weighted": [X, weights], "predict": [X, labels]}.get(name, [X])
        kept = [weakref.ref(array) for array in read]
        del X, weights, labels, read
        gc.collect()
        assert all(array() is not None for array in kept), name
        while not task.wait(0.1):
            pass
        del task
        gc.collect()
        assert all(array() is None for array in kept), name
