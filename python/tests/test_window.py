"""Windows over streams of points."""

import copy
import datetime
import pickle
from concurrent.futures import ThreadPoolExecutor

import epsflow
import numpy as np
import pytest
from checks import check_refused
from scipy import sparse
from sklearn.cluster import DBSCAN
from sklearn.utils.estimator_checks import parametrize_with_checks


def blobs(seed, n=300):
    random = np.random.default_rng(seed)
    centres = random.uniform(0, 10, (6, 2))
    return centres[random.integers(0, 6, n)] + random.normal(0, 0.3, (n, 2))


def test_labels_of_every_step_are_scikit_learns():
    window = epsflow.Window(0.3, 5, max_points=900)
    kept = np.empty((0, 2))
    continued = 0
    for step in range(60):
        X = blobs(step, 300 if step % 20 == 0 else 15)
        done = window.step(X)
        kept = np.concatenate([kept, X])[-900:]
        continued += not done.from_scratch
        np.testing.assert_array_equal(window.points, kept)
        expected = DBSCAN(eps=0.3, min_samples=5, algorithm="kd_tree").fit(kept)
        np.testing.assert_array_equal(window.labels, expected.labels_)
        np.testing.assert_array_equal(np.flatnonzero(window.core), expected.core_sample_indices_)
        assert len(window) == len(kept) and window.ids[-1] == done.ids[-1]
    assert continued > 40


def test_clusters_keep_their_ids():
    near = np.random.default_rng(1).normal(0, 0.2, (50, 2))
    window = epsflow.Window(0.5, 5)
    window.step(np.concatenate([near, near + 10]))
    assert list(window.clusters["id"]) == [0, 1]
    assert [event.event for event in window.events] == ["born", "born"]
    left = window.step(leave=window.ids[:50])
    assert left.n_left == 50
    assert list(window.clusters["id"]) == [1]
    assert [(event.event, event.before, event.sizes_before) for event in window.events] == [
        ("continued", (1,), (50,)), ("ended", (0,), (50,))
    ]
    window.step(near)
    assert list(window.clusters["id"]) == [1, 2]
    assert set(window.cluster_ids) == {1, 2}
    bridge = np.stack([np.linspace(0, 10, 200)] * 2, axis=1)
    window.step(bridge)
    (event,) = window.events
    assert (event.event, event.before, event.after) == ("merged", (1, 2), (1,))
    window.step(leave=window.ids[-200:])
    (event,) = window.events
    assert (event.event, event.before, event.after) == ("split", (1,), (1, 3))


def test_points_leave_by_age():
    window = epsflow.Window(1, 2, max_age=datetime.timedelta(minutes=5))
    start = np.datetime64("2026-01-01T00:00")
    X = np.zeros((10, 1))
    window.step(X, times=start + np.arange(10) * np.timedelta64(1, "m"))
    assert len(window) == 6
    np.testing.assert_array_equal(window.times, start + np.arange(4, 10) * np.timedelta64(1, "m"))
    late = window.step(X[:2], times=[start, start + np.timedelta64(8, "m")])
    assert late.n_too_old == 1 and len(window) == 7
    window.step(now=start + np.timedelta64(1, "h"))
    assert len(window) == 0 and len(window.labels) == 0


def test_tables_with_a_column_of_times():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"t": pandas.date_range("2026-01-01", periods=20, freq="min"), "x": 0.0, "y": 1.0})
    window = epsflow.Window(1, 2, max_age=600)
    window.step(table, times="t")
    assert window.points.shape == (11, 2)


def test_several_variants():
    window = epsflow.Window([0.2, 0.4], [3, 6])
    X = blobs(3)
    window.step(X)
    for (eps, min_samples), result in zip(window.variants, window.results):
        np.testing.assert_array_equal(result.labels, epsflow.DBSCAN(eps, min_samples=min_samples).fit(X).labels_)
    np.testing.assert_array_equal(window.result(0.4, 6).labels, window.results[3].labels)
    with pytest.raises(AttributeError, match="has 4 variants"):
        window.labels
    with pytest.raises(KeyError):
        window.result(0.3, 3)


@pytest.mark.parametrize("copied", [lambda w: pickle.loads(pickle.dumps(w)), copy.deepcopy])
@pytest.mark.parametrize("dated", [False, True])
def test_windows_pickle(copied, dated):
    random = np.random.default_rng(4)
    max_age = np.timedelta64(3, "s") if dated else 3
    window = epsflow.Window([0.2, 0.3], [5, 9], max_age=max_age, metric_params={"scale": [1, 2]})

    def step(of, number, n):
        times = np.full(n, number / 2)
        if dated:
            times = np.datetime64("2026-01-01") + (1000 * times).astype("timedelta64[ms]")
        of.step(blobs(number, n), times=times, sample_weight=weights[:n])

    weights = random.uniform(0, 3, 100)
    for number in range(8):
        step(window, number, 100)
    twin = copied(window)
    for number in range(8, 12):
        step(window, number, 20), step(twin, number, 20)
        np.testing.assert_array_equal(window.ids, twin.ids)
        for variant in ((0.2, 5), (0.3, 9)):
            np.testing.assert_array_equal(window.result(*variant).cluster_ids, twin.result(*variant).cluster_ids)
            assert window.result(*variant).events == twin.result(*variant).events
    assert len(copied(epsflow.Window(1, 2))) == 0


def test_weights():
    window = epsflow.Window(0.3, 5)
    X = blobs(4, 100)
    weights = np.random.default_rng(4).uniform(0, 3, 100)
    window.step(X, sample_weight=weights)
    expected = epsflow.DBSCAN(0.3, min_samples=5).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(window.labels, expected.labels_)
    with pytest.raises(ValueError, match="weights"):
        window.step(X)


@pytest.mark.parametrize(
    "given, text", [
        ({"X": [[0.0, np.nan]], "times": [6.0]}, "row 0"),
        ({"X": [[0.0, 1.0, 2.0]]}, "3 features, and the window has 2"),
        ({"leave": [99]}, "id 99 is to leave, and is not in the window"),
        ({"leave": [1, 1]}, "id 1 is to leave twice"),
        ({"leave": [-1]}, "has the id -1"),
        ({"X": [[0.0, 1.0]]}, "these have none"),
        ({"X": [[0.0, 1.0]], "times": [np.nan]}, "missing or infinite"),
        ({"X": [[0.0, 1.0]], "times": [1.0, 2.0]}, "1 points arrive"),
        ({"X": [[0.0, 1.0]], "times": [datetime.datetime(2026, 1, 1)]}, "times are dates"),
    ]
)
def test_a_step_that_fails_changes_nothing(given, text):
    window = epsflow.Window(0.5, 2)
    window.step(np.zeros((5, 2)), times=np.arange(5))
    with pytest.raises(ValueError, match=text):
        window.step(**given)
    assert len(window) == 5
    window.step(np.zeros((1, 2)), times=[6])
    assert list(window.ids) == [0, 1, 2, 3, 4, 5] and list(window.labels) == [0] * 6


def test_a_first_step_that_fails_fixes_nothing():
    window = epsflow.Window(0.5, 2, max_age=10)
    with pytest.raises(ValueError, match="NaN|nan"):
        window.step([[np.nan, 1.0]], times=[0])
    window.step([[0.0, 1.0, 2.0]], times=[datetime.datetime(2026, 1, 1)])
    assert len(window) == 1


def test_ages_of_dates_are_exact():
    window = epsflow.Window(0.5, 1, max_age=datetime.timedelta(milliseconds=100))
    times = np.datetime64("2026-01-01T00:00:00.000") + np.arange(2000) * np.timedelta64(100, "ms")
    for time in times:
        window.step([[0.0]], times=[time])
    assert list(window.times) == list(times[-2:])


def test_threads_share_a_window():
    window = epsflow.Window(0.3, 5, max_points=2000)
    window.step(blobs(0))

    def use(number):
        for seed in range(30):
            if number % 2 == 0:
                window.step(blobs(seed, 50))
            else:
                labels, core = window.labels, window.core
                assert labels.max() < len(labels) and core.any() and len(window.clusters) > 0
                assert isinstance(window.events, list) and len(window.points) > 0

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(use, range(4)))  # raises the first error of a thread
    expected = epsflow.DBSCAN(0.3, min_samples=5).fit_predict(window.points)
    np.testing.assert_array_equal(window.labels, expected)


@pytest.mark.parametrize(
    "times, error, text", [
        (np.array([5], dtype=object), TypeError, "times has 5, of type int"),
        (["noon"], TypeError, "dtype"),
        ([2**60 + 1], ValueError, "above 2\\^53"),
        (np.array(["NaT"], "datetime64[s]"), ValueError, "missing"),
    ]
)
def test_times_that_are_none(times, error, text):
    with pytest.raises(error, match=text):
        epsflow.Window(0.5, 2).step([[0.0]], times=times)


def test_zones_are_not_mixed():
    plain, zoned = datetime.datetime(2026, 1, 1), datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    window = epsflow.Window(0.5, 2)
    window.step(np.zeros((1, 2)), times=[zoned])
    for times, words in (([plain], "earlier steps were dates with a zone"), ([plain, zoned], "some times have a zone")):
        with pytest.raises(ValueError, match=words):
            window.step(np.zeros((len(times), 2)), times=times)


def test_wrong_parameters():
    begun = epsflow.Window(1, 2)
    begun.step(np.zeros((1, 2)))
    check_refused(
        (lambda: begun.step(sparse.csr_array(np.eye(2))), TypeError, "Sparse data"),
        (lambda: epsflow.Window(1, 2, max_age=-1), ValueError, "max_age"),
        (lambda: epsflow.Window(1, 2, max_points=0), ValueError, "max_points"),
        (lambda: epsflow.Window(1, 2, max_age=1).step([[0.0]]), ValueError, "max_age needs the times"),
        (lambda: epsflow.Window(1, 2, max_age=datetime.timedelta(1)).step([[0.0]], times=[1]), ValueError,
         "times are numbers: give a number"),
        (lambda: epsflow.Window(1, 2).step(), ValueError, "no points yet"),
        (lambda: epsflow.Window(1, 2).labels, ValueError, "no points: call its step"),
        (lambda: epsflow.Window(1.0, 2, output="dlpack", backend="cpu").step(np.zeros((3, 2))), ValueError,
         "works on the CPU"),
        (lambda: epsflow.Window(1.0, 2, output="pandas"), ValueError, "output"),
    )


@parametrize_with_checks([epsflow.WindowDBSCAN()])
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


def test_estimator():
    model = epsflow.WindowDBSCAN(eps=0.3, min_samples=5, max_points=250)
    for seed in range(3):
        model.partial_fit(blobs(seed, 100))
    kept = np.concatenate([blobs(seed, 100) for seed in range(3)])[-250:]
    np.testing.assert_array_equal(model.labels_, epsflow.DBSCAN(0.3, min_samples=5).fit_predict(kept))
    assert len(model.cluster_ids_) == 250 and model.n_features_in_ == 2
    np.testing.assert_array_equal(model.fit_predict(kept), model.labels_)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit([[1.0, 2.0, 3.0]])
    with pytest.raises(TypeError, match="sample_weight"):
        model.fit_predict(kept, sample_weight=np.ones(250))
