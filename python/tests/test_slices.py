"""Tests slices by values of every kind: missing values, intervals of times, and results from pickles or folders."""

from __future__ import annotations

import datetime as dt
import json
import pickle

import numpy as np
import pytest
from checks import check_same_tables
from programs import succeeded

import epsflow

X = np.arange(8.0).reshape(4, 2)
UTC = dt.timezone.utc


def of_numpy():
    texts = getattr(getattr(np, "dtypes", None), "StringDType", None)
    made = {
        **{f"float {kind}": np.array([1, 2, np.nan, 1], kind) for kind in ("f2", "f4", "f8", "g", "c16")},
        "time": np.array(["2015", "2016", "NaT", "2015"], "M8[D]"),
        "duration": np.array([1, 2, "NaT", 1], "m8[s]"),
        "masked": np.ma.array([1, 2, 3, 1], mask=[0, 0, 1, 0]),
        "masked texts": np.ma.array(["a", "b", "c", "a"], mask=[0, 0, 1, 0]),
        "None": np.array(["a", "b", None, "a"], object),
        "nan": np.array(["a", "b", np.nan, "a"], object),
        "NaT": np.array([1, 2, np.datetime64("NaT"), 1], object),
        "list of nan": ["a", "b", float("nan"), "a"],
        "tuple of None": (1, 2, None, 1),
    }
    if texts is not None:
        made["StringDType nan"] = np.array(["a", "b", np.nan, "a"], dtype=texts(na_object=np.nan))
        made["StringDType None"] = np.array(["a", "b", None, "a"], dtype=texts(na_object=None))
    return made


LISTS = {
    name: [first, second, None, first]
    for name, first, second in (
        ("int", 1, 2), ("float", 1.0, 2.0), ("text", "a", "b"), ("bool", True, False),
        ("date", dt.date(2024, 1, 1), dt.date(2024, 1, 2)),
        ("time", dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2)),
        ("zone", dt.datetime(2024, 1, 1, tzinfo=UTC), dt.datetime(2024, 1, 2, tzinfo=UTC)),
        ("duration", dt.timedelta(1), dt.timedelta(2)),
    )
}


def of_pandas():
    pd = pytest.importorskip("pandas")
    made = {}
    for name, values in LISTS.items():
        made[name], made[f"objects of {name}"] = pd.Series(values), pd.Series(values, dtype=object)
        made[f"category of {name}"] = made[name].astype("category")
    times, texts, numbers = made["time"], LISTS["text"], LISTS["int"]
    made = {
        **made, "string": pd.Series(texts, dtype="string"), "boolean": pd.Series(LISTS["bool"], dtype="boolean"),
        **{kind: pd.Series(numbers, dtype=kind) for kind in ("Int64", "Float64")},
        "period": pd.Series(pd.PeriodIndex(["2024-01", "2024-02", None, "2024-01"], freq="M")),
        "times with a zone": times.dt.tz_localize("Europe/Berlin"),
        "interval": pd.cut(pd.Series([1, 5, None, 1]), [0, 3, 6]),
        "index": pd.Index(texts),
        "index of times": pd.DatetimeIndex(times),
        "NA": np.array(["a", "b", pd.NA, "a"], object),
        "NaT among times": np.array([pd.NaT if time is None else time for time in LISTS["time"]], object),
    }
    try:
        import pyarrow as pa
    except ImportError:
        return made
    coded = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    return {
        **made, "Arrow int": pd.Series(numbers, dtype="int64[pyarrow]"),
        "Arrow texts": pd.Series(texts, dtype="string[pyarrow]"), "Arrow codes": pd.Series(texts, dtype=coded),
    }


def of_arrow():
    pa = pytest.importorskip("pyarrow")
    arrays = {name: pa.array(values) for name, values in LISTS.items()}
    arrays["codes"] = arrays["text"].dictionary_encode()
    arrays["decimal"] = pa.array([1, 2, None, 1], pa.decimal128(5))
    arrays["large"] = pa.array(LISTS["text"], pa.large_string())
    return {
        **arrays, **{f"chunks of {name}": pa.chunked_array([array[:1], array[1:]]) for name, array in arrays.items()}
    }


def of_polars():
    pl = pytest.importorskip("polars")
    made = {name: pl.Series(values) for name, values in LISTS.items()}
    made["nan"] = pl.Series([1.0, 2.0, float("nan"), 1.0])
    return {
        **made, "categories": pl.Series(LISTS["text"], dtype=pl.Categorical),
        "decimal": pl.Series(LISTS["int"], dtype=pl.Decimal(5, 1)),
    }


@pytest.mark.parametrize("library", [of_numpy, of_pandas, of_arrow, of_polars])
def test_a_missing_value_is_in_no_slice(library):
    for name, by in library().items():
        with pytest.raises(ValueError) as raised:
            epsflow.sweep_many(X, 1.5, 1, by=by)
        assert str(raised.value).startswith("by has no value in row 2: "), name
        whole = by.filter([True, True, False, True]) if hasattr(by, "null_count") else [by[i] for i in (0, 1, 3)]
        found = epsflow.sweep_many(X[:3], 1.5, 1, by=whole)
        assert sorted(found.sizes.tolist()) == [1, 2], name


MINUTES = [0, 0, 5, 5, 10]
SECONDS = [0, 14, 1, 15, 2]
FIVE = np.column_stack([MINUTES, SECONDS]).astype(float)


def times_of(zone=None):
    """Returns Python times, with a zone if one is given."""
    made = [dt.datetime(2024, 5, 10, 12, m, s, tzinfo=UTC) for m, s in zip(MINUTES, SECONDS)]
    return [time.astimezone(zone) if zone else time.replace(tzinfo=None) for time in made]


INDIA = dt.timezone(dt.timedelta(hours=5, minutes=32))


@pytest.mark.parametrize("width", [np.timedelta64(5, "m"), dt.timedelta(minutes=5), np.timedelta64(300, "s")])
def test_stretches_of_times_are_those_of_utc(width):
    pd = pytest.importorskip("pandas")
    series = pd.Series(pd.to_datetime(times_of(UTC)))
    begins = np.array(["2024-05-10T12:00", "2024-05-10T12:05", "2024-05-10T12:10"], "M8[us]")
    given = {
        "none": np.array(times_of(), "M8[us]"),
        "UTC": series,
        "zone": series.dt.tz_convert("Asia/Kolkata"),
        "index": pd.DatetimeIndex(series),
        "objects": series.astype(object),
        "Python": times_of(),
        "Python in UTC": times_of(UTC),
        "Python in a zone": times_of(INDIA),
        "several zones": [time.astimezone(zone) for time, zone in zip(times_of(UTC), [UTC, INDIA] * 3)],
        "category": series.astype("category"),
    }
    for name, by in given.items():
        found = epsflow.sweep_many(FIVE, 100, 1, by=by, width=width)
        assert found.sizes.tolist() == [2, 2, 1] and (found.keys == begins).all(), name
        assert len(epsflow.sweep_many(FIVE, 100, 1, by=by)) == 5, name
    assert epsflow.sweep_many(FIVE, 100, 1, by=series, width=pd.Timedelta("5min")).sizes.tolist() == [2, 2, 1]


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_stretches_of_times_of_other_libraries(library):
    module = pytest.importorskip(library)
    make = module.Series if library == "polars" else module.array
    since = [time - times_of()[0] for time in times_of()]
    for by in (make(times_of(UTC)), make(times_of()), make(since)):
        assert epsflow.sweep_many(FIVE, 100, 1, by=by, width=np.timedelta64(5, "m")).sizes.tolist() == [2, 2, 1]


def test_stretches_of_durations():
    pd = pytest.importorskip("pandas")
    since = [time - times_of()[0] for time in times_of()]
    for by in (since, pd.Series(since), pd.Series(since, dtype=object), np.array(since, "m8[ms]")):
        found = epsflow.sweep_many(FIVE, 100, 1, by=by, width=dt.timedelta(minutes=5))
        assert found.sizes.tolist() == [2, 2, 1] and found.keys.astype("m8[m]").astype(int).tolist() == [0, 5, 10]


def test_nanoseconds_and_times_before_1970():
    pd = pytest.importorskip("pandas")
    by = pd.Series(pd.to_datetime([1, 3, -1, -3], unit="ns", utc=True))
    found = epsflow.sweep_many(X, 100, 1, by=by, width=pd.Timedelta(2, "ns"))
    assert found.keys.astype(np.int64).tolist() == [-4, -2, 0, 2] and found.sizes.tolist() == [1, 1, 1, 1]


def test_stretches_of_months_and_of_days():
    days = np.array(["2023-12-31", "2024-01-01", "2024-01-31", "2024-02-01"], "M8[D]")
    for by in (days, days.astype("M8[s]"), days.tolist()):
        found = epsflow.sweep_many(X, 100, 1, by=by, width=np.timedelta64(1, "M"))
        assert found.sizes.tolist() == [1, 2, 1]
        assert found.keys.astype(str).tolist() == ["2023-12", "2024-01", "2024-02"]
    months = days.astype("M8[M]")
    assert epsflow.sweep_many(X, 100, 1, by=months, width=np.timedelta64(1, "Y")).sizes.tolist() == [1, 3]
    assert epsflow.sweep_many(X, 100, 1, by=months, width=np.timedelta64(36, "h")).sizes.tolist() == [1, 2, 1]


@pytest.mark.parametrize("kind", ["u1", "i1", "u2", "i4", "i8", "u8", "f4", "f8", "object", "Int64", "Float64"])
def test_stretches_of_numbers_of_every_kind(kind):
    by = np.array([0, 4, 5, 120], kind if kind[0] in "uifo" else "i8")
    if kind in ("Int64", "Float64"):
        by = pytest.importorskip("pandas").Series(by, dtype=kind)
    assert epsflow.sweep_many(X, 100, 1, by=by, width=5).sizes.tolist() == [2, 1, 1]
    assert epsflow.sweep_many(X, 100, 1, by=by, width=300).sizes.tolist() == [4]


@pytest.mark.parametrize(
    ("by", "width", "error", "words"),
    [
        (times_of(UTC), 300, TypeError, "of times it is one, as numpy.timedelta64"),
        (times_of(UTC), np.timedelta64(5), TypeError, "of times it is one, as numpy.timedelta64"),
        (times_of(UTC), np.timedelta64(-5, "m"), ValueError, "a time above 0"),
        (times_of(UTC), dt.timedelta(0), ValueError, "a time above 0"),
        ([times_of()[0], *times_of(UTC)[1:]], np.timedelta64(5, "m"), TypeError,
         "times with a zone and times without one"),
        ([times_of()[0], *times_of(UTC)[1:]], None, TypeError, "by has values that have no order"),
        ([1, np.inf, 2, 3, 4], None, ValueError, "row 1 has inf"),
        (list("abcde"), 3, ValueError, "width is for numbers and times"),
        ([1, 2, 3, 4, 5], np.timedelta64(5, "m"), TypeError, "width"),
        ([1, 2, 3, 4, 5], 0.5, ValueError, "whole width"),
    ],
)
def test_values_and_widths_that_are_none(by, width, error, words):
    with pytest.raises(error, match=words):
        epsflow.sweep_many(FIVE, 100, 1, by=by, width=width)


# ---------------------------------------------------------------- pickled


def require_same(a, b, core):
    assert a.variants == b.variants and (a.keys == b.keys).all() and (a.sizes == b.sizes).all()
    check_same_tables((a.summary, b.summary))
    for variant in a.variants:
        for slice in (None, *range(len(a)), -1):
            np.testing.assert_array_equal(a.labels(*variant, slice=slice), b.labels(*variant, slice=slice))
            if core:
                np.testing.assert_array_equal(a.core(*variant, slice=slice), b.core(*variant, slice=slice))


@pytest.fixture
def many():
    draw = np.random.default_rng(3)
    return draw.uniform(0, 3, (200, 2)), draw.integers(0, 4, 200)


@pytest.mark.parametrize("core", [False, True])
def test_results_are_pickled(many, core):
    points, by = many
    for given, said in (
        (points, {"by": by}), (points, {"offsets": [0, 50, 50, 200]}), ([points[:50], points[50:]], {}),
        (points, {"by": by.astype(str)}),
    ):
        found = epsflow.sweep_many(given, [0.2, 0.4], [3, 5], core=core, sample_weight=np.full(200, 1.5), **said)
        again = pickle.loads(pickle.dumps(found))
        require_same(found, again, core)
        catalogs = (result.catalog(0.4, 3, columns={"n": np.arange(200)}) for result in (found, again))
        check_same_tables(tuple(catalogs))
        require_same(found, pickle.loads(pickle.dumps(again)), core)
    counts = pickle.loads(pickle.dumps(epsflow.sweep_many(points, 0.3, 3, by=by, keep="summary")))
    assert counts.summary["n_points"].sum() == 200
    with pytest.raises(ValueError, match="kept counts alone"):
        counts.labels(0.3, 3)


# ---------------------------------------------------------------- folders


def write(path, points, by):
    np.savetxt(path, np.column_stack([by, points]), "%.17g", ",", header="t,x,y", comments="")


def test_a_folder_of_slices_gives_slices(tmp_path, program, many):
    points, by = many
    by = by * 2.5
    for name, order in (("sorted", np.argsort(by, kind="stable")), ("mixed", np.arange(200))):
        write(tmp_path / f"{name}.csv", points[order], by[order])
        grid = ("--by", "t", "--eps", "0.2,0.4", "--minpts", "3,5", "--core", "--out", tmp_path / name)
        succeeded(program("sweep", tmp_path / f"{name}.csv", *grid))
        found = epsflow.load(tmp_path / name)
        expected = epsflow.sweep_many(points[order], [0.2, 0.4], [3, 5], by=by[order], core=True)
        assert isinstance(found, epsflow.SlicedResult) and found.input["points"] == 200 and found.rows is None
        check_same_tables((found.summary, expected.summary))
        for variant in found.variants:
            np.testing.assert_array_equal(found.labels(*variant), expected.labels(*variant))
            np.testing.assert_array_equal(found.core(*variant), expected.core(*variant))
        again = pickle.loads(pickle.dumps(found))
        np.testing.assert_array_equal(again.labels(0.4, 3), expected.labels(0.4, 3))
        if name == "sorted":
            require_same(found, expected, True)
        else:
            with pytest.raises(ValueError, match="does not say which points are in which slice"):
                found.labels(0.4, 3, slice=0)
        with pytest.raises(ValueError, match="the result was loaded or unpickled, and has no points"):
            found.catalog(0.4, 3)
        for merged in (
            lambda: epsflow.catalog(points, found), lambda: epsflow.validity(points, found),
            lambda: epsflow.compare(found, found), lambda: epsflow.members(found),
        ):
            words = r"which has labels of several variants: choose those of one with labels\(eps, min_samples, slice\)"
            with pytest.raises(TypeError, match="SlicedResult, " + words):
                merged()


def test_a_folder_of_files_gives_slices(tmp_path, program, many):
    points, _ = many
    parts = {"a.csv": points[:50], "b, second.csv": points[50:60], "c.csv": points[60:]}
    for name, part in parts.items():
        np.savetxt(tmp_path / name, part, delimiter=",", fmt="%.17g")
    grid = ("--by-file", "--eps", 0.4, "--minpts", 3, "--out", tmp_path / "out")
    succeeded(program("sweep", *(tmp_path / name for name in parts), *grid))
    found, expected = epsflow.load(tmp_path / "out"), epsflow.sweep_many(list(parts.values()), 0.4, 3)
    assert [str(key).rpartition("/")[2] for key in found.keys] == list(parts) and found.sizes.tolist() == [50, 10, 140]
    for slice in range(3):
        np.testing.assert_array_equal(found.labels(0.4, 3, slice=slice), expected.labels(0.4, 3, slice=slice))
    assert found.rows.tolist() == list(range(200))


def test_a_folder_of_slices_that_lacks_something(tmp_path, program, many):
    points, by = many
    write(tmp_path / "x.csv", points, by)
    sweep = ("sweep", tmp_path / "x.csv", "--by", "t", "--eps", 0.4, "--minpts", 3, "--out")
    succeeded(program(*sweep, tmp_path / "counts", "--keep", "summary"))
    found = epsflow.load(tmp_path / "counts")
    check_same_tables((found.summary, epsflow.sweep_many(points, 0.4, 3, by=by).summary))
    for counts in (found, pickle.loads(pickle.dumps(found))):
        with pytest.raises(ValueError, match="has no labels of eps=0.4"):
            counts.labels(0.4, 3)
    succeeded(program(*sweep, tmp_path / "out"))
    with pytest.raises(ValueError, match="did not keep which points are core"):
        epsflow.load(tmp_path / "out").core(0.4, 3)
    (tmp_path / "out" / "slices.csv").write_text("t,points\n1,200\n")
    with pytest.raises(ValueError, match="slices.csv"):
        epsflow.load(tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "sweep.json").read_text())
    manifest["files"] = [file for file in manifest["files"] if file["name"] != "slices.csv"]
    (tmp_path / "out" / "sweep.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match="has results of 4 slices by t.*no slices.csv"):
        epsflow.load(tmp_path / "out")


def test_the_hdf5_of_slices_is_refused(tmp_path, program, many):
    pytest.importorskip("h5py")
    points, by = many
    write(tmp_path / "x.csv", points, by)
    sweep = ("sweep", tmp_path / "x.csv", "--by", "t", "--eps", 0.4, "--minpts", 3, "--hdf5", "--out")
    done = program(*sweep, tmp_path / "out")
    if done.returncode != 0 and "HDF5" in done.stderr:
        pytest.skip("the program has no HDF5")
    succeeded(done)
    with pytest.raises(ValueError, match="results of 4 slices by t.*load the folder that it lies in"):
        epsflow.load(tmp_path / "out" / "sweep.h5")
