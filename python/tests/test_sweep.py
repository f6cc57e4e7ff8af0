"""Compares sweeps, neighbours and engines with scikit-learn's labels and brute force."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import signal
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from checks import check_refused

import epsflow
from epsflow._arrays import as_host_points as as_points
from epsflow._tasks import python_words

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


def test_points_in_c_order_are_not_copied(blobs):
    for dtype in (np.float32, np.float64):
        X = np.ascontiguousarray(blobs, dtype=dtype)
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
    with ThreadPoolExecutor(4) as pool:
        for labels in pool.map(lambda _: data.sweep(0.1, 5)[0].labels, range(80)):
            np.testing.assert_array_equal(labels, expected)


def test_a_fork_makes_an_engine_of_its_own(blobs):
    data = epsflow.Engine("cpu").load(blobs)
    expected = epsflow.DBSCAN(0.1).fit(blobs).labels_
    child = os.fork()
    if child == 0:
        right = False
        try:
            shown = "CPU" in repr(data) and "CPU" in repr(epsflow.DBSCAN(engine=data.engine))
            right = shown and np.array_equal(epsflow.DBSCAN(0.1).fit(blobs).labels_, expected)
            data.sweep(0.1, 5)
            right = False
        except ValueError as error:
            right = right and "do not follow a fork" in str(error)
        finally:
            os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.fixture
def interruptible():
    # A shell ignores interrupts for background processes.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_ends_a_run_long_before_its_end(interruptible):
    X = np.random.default_rng(1).uniform(size=(2_000_000, 2))
    done = []
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        epsflow.sweep(
            X, eps=np.linspace(0.001, 0.01, 20), min_samples=range(2, 40),
            progress=lambda p: done.append(p.variants_done),
        )
    assert max(done, default=0) < 20 * 38 / 2


def test_an_interrupt_ends_the_condensing_of_a_hierarchy(interruptible):
    tree = epsflow.hierarchy(np.random.default_rng(1).uniform(size=(2_000_000, 1)), 2, backend="cpu")
    calls = 0

    def interrupt_at_last(*_) -> None:
        nonlocal calls
        calls += 1
        if calls == 4:  # work that keeps signals waiting until its end has one call before it and one after it
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt_at_last)
    ended = threading.Event()

    def send() -> None:
        while not ended.wait(0.02):
            os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            tree.condense(2)
    finally:
        ended.set()
        sender.join()


def test_interrupted_while_a_load_waits_for_its_turn(interruptible):
    engine = epsflow.Engine("cpu")
    data = engine.load(np.random.default_rng(1).uniform(size=(2_000_000, 2)))
    running, enough = threading.Event(), threading.Event()

    def until_enough(progress: epsflow.Progress) -> None:
        running.set()
        if enough.is_set():
            raise StopIteration

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(data.sweep, np.linspace(0.001, 0.01, 20), range(2, 80), progress=until_enough)
        assert running.wait(60)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            with pytest.raises(KeyboardInterrupt):
                engine.load(np.zeros((10, 2)))
            assert other.running()  # the other thread still has its turn
        finally:
            enough.set()
    # The callback's exception wins, although the run that it ended was cancelled.
    assert isinstance(other.exception(), StopIteration)
    assert len(engine.load(np.zeros((10, 2)))) == 10


def test_labels_and_masks_are_read_only(blobs, tmp_path):
    result = epsflow.sweep(blobs, 0.1, 5, core=True)
    result.save(tmp_path / "r")
    for variant in (result[0], epsflow.load(tmp_path / "r")[0], pickle.loads(pickle.dumps(result))[0]):
        assert variant.core.dtype == np.bool_
        np.testing.assert_array_equal(blobs[variant.core], blobs[variant.core_sample_indices])
        for array in (variant.labels, variant.core):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.flags.writeable = True
    none = epsflow.sweep(np.empty((0, 2)), 0.1, 5, core=True)[0]
    assert none.labels.shape == none.core.shape == (0,) and none.core.dtype == np.bool_
    labels = epsflow.DBSCAN(0.1, min_samples=5).fit_predict(blobs)
    labels[labels < 0] = 99  # the array belongs to the caller


def test_variants_are_found_although_their_eps_are_rounded(blobs):
    result = epsflow.sweep(blobs, np.arange(0.1, 0.5, 0.1), [5, 8], core=True)
    assert result[4].eps != 0.3
    assert result.variant(0.3, 5) is result[4]
    np.testing.assert_array_equal(result.labels(0.3, 8), result[5].labels)
    np.testing.assert_array_equal(result.core_sample_indices(0.3, 8), result[5].core_sample_indices)
    for eps, min_samples in ((0.3001, 5), (0.3, 6)):
        with pytest.raises(KeyError, match=f"eps={eps}, min_samples={min_samples}"):
            result.labels(eps, min_samples)
    near = epsflow.sweep(blobs, [0.3, np.nextafter(0.3, 1)], 5)
    assert near.variant(eps=0.3, min_samples=5) is near[0] and near.variant(np.nextafter(0.3, 1), 5) is near[1]


def test_an_engine_beside_what_it_is_made_with(blobs):
    engine = epsflow.Engine("cpu")
    for given, name in (({"backend": "cpu"}, "backend"), ({"memory": "1GiB"}, "memory"), ({"threads": 1}, "threads")):
        for call in (
            epsflow.neighbors, lambda X, eps, **more: epsflow.sweep(X, eps, 4, **more),
            lambda X, eps, **more: epsflow.plan(X, eps, 4, **more),
        ):
            with pytest.raises(TypeError, match=f"^{name} beside engine"):
                call(blobs, 0.1, engine=engine, **given)
    with pytest.raises(TypeError, match="memory and n_jobs beside engine"):
        epsflow.DBSCAN(0.1, engine=engine, memory=10**9, n_jobs=2).fit(blobs)
    assert len(epsflow.sweep(blobs, 0.1, 4, metric="minkowski", metric_params={"p": 3}, engine=engine)) == 1


def test_an_engine_is_closed(blobs):
    with epsflow.Engine("cpu") as engine:
        data = engine.load(blobs)
    assert "closed" in repr(engine) and "closed" in repr(data)
    engine.close()
    with pytest.raises(ValueError, match="closed"):
        engine.load(blobs)
    assert engine.backend == "cpu"
    with pytest.raises(ValueError, match="output='cupy' leaves labels on a GPU, and the engine works on the CPU"):
        data.sweep(0.1, 5, output="cupy")
    closed = pickle.loads(pickle.dumps(engine))
    assert repr(closed) == repr(engine) and closed.backend == "cpu"
    assert pickle.loads(pickle.dumps(data)).neighbors(0.1).nnz == data.neighbors(0.1).nnz
    assert data.neighbors(0.1).shape == (3000, 3000)


def test_models_outlive_their_engine(blobs):
    with epsflow.Engine("cpu", memory="1GiB", threads=1) as engine:
        model = epsflow.DBSCAN(0.1, engine=engine).fit(blobs)
        assert copy.copy(engine) is engine and copy.deepcopy(model).engine is engine
        again = pickle.loads(pickle.dumps(model))
    assert again.engine.backend == "cpu"
    for found in (model, again, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(found.labels_, epsflow.DBSCAN(0.1).fit(blobs).labels_)
        np.testing.assert_array_equal(found.predict(blobs), model.labels_)


def test_no_gpu_is_no_lack_of_memory(blobs):
    if "gpu" in epsflow.backends():
        pytest.skip("there is a GPU")
    with pytest.raises(RuntimeError, match="backend='cpu'"):
        epsflow.Engine("gpu")
    with pytest.raises(ValueError, match="decide asks for tensor cores, .* and the run is on the CPU: leave it out"):
        epsflow.sweep(blobs, 0.1, 5, decide="tensor16")


def test_messages_are_in_words_of_python(blobs):
    with pytest.raises(MemoryError, match="strategy='direct'") as error:
        epsflow.sweep(blobs, 0.3, 5, strategy="table", memory="200KB")
    assert "::" not in str(error.value)


def test_the_last_progress_is_all(blobs):
    seen: list[epsflow.Progress] = []
    for strategy in ("direct", "table"):
        epsflow.sweep(blobs, [0.1, 0.2], [5, 8], strategy=strategy, progress=seen.append)
        assert (seen[-1].variants_done, seen[-1].variants, seen[-1].share) == (4, 4, 1.0)
        assert seen[-1].eps in (0.1, 0.2)


def test_a_plan_says_what_a_sweep_does(blobs):
    plans = epsflow.plan(blobs, [0.1, 0.3], [5, 9])
    assert [p.eps for p in plans] == [0.3, 0.1] and plans[0].min_samples == (9, 5)
    assert all(p.fits and p.because and p.bytes > blobs.nbytes and p.cells > 0 for p in plans)
    assert all(p.seconds > 0 for p in epsflow.plan(blobs, [0.1, 0.3], [5, 9], backend="cpu"))
    (table,) = epsflow.Engine("cpu").load(blobs).plan(0.1, 5, strategy="table")
    assert table.strategy in ("packed table", "csr table") and table.because == "asked for"
    (direct,) = epsflow.plan(blobs, variants=[(0.1, 5)], strategy="direct", metric="manhattan")
    assert direct.strategy == "direct"
    with pytest.raises(ValueError, match="eps == 0"):
        epsflow.plan(blobs, 0, 5)
    weighted = epsflow.plan(blobs, [0.3, 0.1], 5, backend="cpu", sample_weight=np.ones(len(blobs)))
    assert all(
        w.bytes >= p.bytes + 8 * len(blobs) for w, p in zip(weighted, epsflow.plan(blobs, [0.3, 0.1], 5, backend="cpu"))
    )
    with pytest.raises(ValueError, match="one weight for each sample"):
        epsflow.plan(blobs, 0.3, 5, sample_weight=[1, 2])
    pandas = pytest.importorskip("pandas")
    assert list(pandas.DataFrame(plans)["eps"]) == [0.3, 0.1]


def test_results_say_of_what_they_are(blobs, tmp_path):
    X = blobs[:50] * [10, 5]
    for given, metric in (
        ({}, "euclidean"),
        ({"sample_weight": 2}, "euclidean, weighted"),
        ({"metric": "greatcircle", "metric_params": {"unit": "km"}}, "greatcircle, eps in km"),
    ):
        result = epsflow.sweep(X, 0.1, 5, **given)
        result.save(tmp_path / metric)
        loaded = epsflow.load(tmp_path / metric)
        assert result.metric == loaded.metric == metric
        assert result.input is None and loaded.input["points"] == 50
        assert result.rows is None and loaded.rows is None


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda X: epsflow.sweep(X, 0, 4), ValueError, "eps == 0"),
        (lambda X: epsflow.sweep(X, 0.1, 0), ValueError, "min_samples == 0"),
        (lambda X: epsflow.sweep(X[:, 0], 0.1, 4), ValueError, "Reshape your data"),
        (lambda X: epsflow.sweep(X.astype(complex), 0.1, 4), ValueError, "Complex data not supported"),
        (lambda X: epsflow.sweep(np.where(X > 4, np.nan, X), 0.1, 4), ValueError, "column"),
        (lambda X: epsflow.sweep(np.ma.masked_greater(X, 4), 0.1, 4), ValueError, "masked values"),
        (lambda X: epsflow.sweep(np.array([["a", "b"]]), 0.1, 4), ValueError, "not all of it is numbers"),
        (lambda X: epsflow.sweep(X, 0.1, 4, memory="1KB"), MemoryError, "raise memory"),
        (lambda X: epsflow.sweep(X, 0.1, 4, index="kd"), ValueError, "index='kd'"),
        (lambda X: epsflow.sweep(X, [], 4), ValueError, "no variant"),
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
        "sweep": lambda X, w, _: engine.load(X)._data.start_sweep([(0.3, 4)], {}, None),
        "neighbors": lambda X, w, _: engine.load(X)._data.start_neighbors(0.3, False),
        "weighted": lambda X, w, _: engine.load(X)._data.start_sweep([(0.3, 4)], {}, w),
        "predict": lambda X, w, labels: _core.start_predictor(X, labels, 0.3, EUCLIDEAN, {"threads": 1}),
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


def test_names_of_files_stay_as_they_are():
    text = "minpts == 0: in /data/minpts/eps_0.1_minpts_4.npy, minpts.csv and my-minpts; give another minpts."
    assert python_words(text) == text.replace("minpts ==", "min_samples ==").replace(
        "another minpts", "another min_samples"
    )


def test_labels_of_the_host_are_not_left_on_a_gpu(blobs, monkeypatch):
    data = epsflow.Engine("cpu").load(blobs)
    monkeypatch.setattr(data.engine, "_backend", "gpu")
    words = "^strategy='table' makes labels on the host, and output='cupy' leaves them on a GPU"
    with pytest.raises(ValueError, match=words):
        data.sweep(0.1, 5, output="cupy", strategy="table")


def test_gpus_that_are_not_there_or_are_said_twice():
    def sweep(**given):
        return lambda: epsflow.sweep(np.zeros((3, 2)), 1, 2, **given)

    check_refused(
        (sweep(gpus="0;1"), ValueError, "gpus is '0;1': give all, or numbers of GPUs as in 0,1"),
        (sweep(gpus="all", backend="cpu"), TypeError, "gpus beside engine"),
        (sweep(gpus="all", engine=epsflow.Engine(backend="cpu")), TypeError, "gpus beside engine"),
        (sweep(gpus="all", output="torch"), ValueError, "output"),
        (sweep(gpus=[]), ValueError, "gpus names no GPU"),
        (sweep(gpus=""), ValueError, "gpus names no GPU"),
    )
    if "gpu" not in epsflow.backends():
        check_refused((sweep(gpus=[0]), (ValueError, RuntimeError), "GPU"))
        return
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(2000, 2))
    weights = rng.uniform(0, 2, 2000)
    for given in ({}, {"lineage": True}, {"sample_weight": weights}, {"keep": "summary"}):
        shared = epsflow.sweep(X, [0.02, 0.03, 0.04], [3, 5], gpus=[0, 0], **given)
        one = epsflow.sweep(X, [0.02, 0.03, 0.04], [3, 5], **given)
        assert [v.n_clusters for v in shared] == [v.n_clusters for v in one]
        if "keep" not in given:
            assert all(np.array_equal(a.labels, b.labels) for a, b in zip(shared, one))
