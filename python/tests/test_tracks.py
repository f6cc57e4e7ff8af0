"""Tests tracks(), which tracks clusters from slice to slice."""

from __future__ import annotations

import datetime
import itertools
import re
import sys
import warnings

import numpy as np
import pytest

import epsflow


def disc(x, y, r):
    """Returns the pixels of a round storm cell."""
    side = np.arange(-np.ceil(r), np.ceil(r) + 1)
    grid = np.array(list(itertools.product(side, side)))
    return grid[(grid**2).sum(axis=1) <= r * r] + [x, y]


STORM = [  # the discs (x, y, r) of each frame
    [(10, 10, 4), (30, 10, 4), (60, 40, 5)],
    [(13, 10, 4), (27, 10, 4), (62, 40, 5), (10, 50, 3)],  # (10, 50) begins
    [(16, 10, 4), (24, 10, 4), (64, 40, 5), (11, 50, 3)],  # those at y = 10 touch, so they merge
    [(19, 10, 4), (22, 10, 4), (63, 36, 3), (63, 44, 3), (12, 50, 3)],
    [(20, 10, 4), (63, 34, 3), (63, 46, 3)],  # (12, 50) has ended; (63, 40) has split
    [],
    [(20, 10, 4)],  # begins again
]
TIMES = np.datetime64("2024-01-10T23:50", "s") + np.arange(len(STORM)) * np.timedelta64(300, "s")


def storm(noise=20, seed=0):
    """Returns points, labels, times, core points and pixels of all frames; epsflow clusters each frame."""
    random = np.random.default_rng(seed)
    points, times, labels, core = [], [], [], []
    for frame, discs in enumerate(STORM):
        pixels = np.unique(np.concatenate([disc(*d) for d in discs] or [np.empty((0, 2))]), axis=0)
        if len(discs):
            pixels = np.concatenate([pixels, np.stack([random.permutation(noise) * 3.0, np.full(noise, 80.0)], axis=1)])
        variant = epsflow.sweep(pixels, 1.5, 5, core=True)[0] if len(pixels) else None
        points.append(pixels)
        times.append(np.full(len(pixels), TIMES[frame]))
        labels.append(variant.labels if variant else np.empty(0, int))
        core.append(variant.core if variant else np.empty(0, bool))
    X = np.concatenate(points)
    return (
        X, np.concatenate(labels), np.concatenate(times), np.concatenate(core), (X[:, 1] * 1000 + X[:, 0]).astype(int)
    )


def track(by="cores", **parameters):
    X, labels, times, core, pixels = storm()
    if by == "cores":
        return epsflow.tracks(X, labels, times, slices=TIMES, core=core, eps=1.5, **parameters)
    return epsflow.tracks(X, labels, times, slices=TIMES, match="ids", ids=pixels, **parameters)


@pytest.mark.parametrize("by", ["cores", "ids"])
def test_a_storm(by):
    found = track(by)
    events = {(e.event, e.frame, len(e.before), len(e.after)) for e in found.events if e.event != "continuation"}
    assert events == {
        ("birth", 1, 0, 1), ("merge", 2, 2, 1), ("split", 3, 1, 2), ("death", 4, 1, 0), ("death", 5, 1, 0),
        ("birth", 6, 0, 1),
    }
    table = found._table
    assert found.n_features == len(table["feature"]) == 3 + 4 + 3 + 4 + 3 + 1
    assert found.n_tracks == 4 and found.n_cells == 6
    np.testing.assert_array_equal(table["feature"], np.arange(1, found.n_features + 1))
    np.testing.assert_array_equal(found.times, TIMES)
    merge = next(e for e in found.events if e.event == "merge")
    assert merge.time == TIMES[2]
    cells = [set(table["cell"][np.array(side) - 1]) for side in (merge.before, merge.after)]
    assert cells[1] < cells[0] and len(set(table["track"][np.array(merge.before + merge.after) - 1])) == 1
    np.testing.assert_array_equal(np.bincount(found.features)[1:], table["num"])


def test_the_table_has_tobacs_columns():
    pandas = pytest.importorskip("pandas")
    table = track().table
    assert list(table.columns) == [
        "frame", "idx", "hdim_1", "hdim_2", "num", "feature", "time", "timestr", "y", "x", "cell", "track", "time_cell",
        "label",
    ]  # fmt: skip
    assert table.time.dtype == "datetime64[ns]" and table.timestr[0] == "2024-01-10 23:50:00"
    assert table.timestr[7] == "2024-01-11 00:00:00"
    assert (table.groupby("frame").idx.min() == 1).all() and table.frame.is_monotonic_increasing
    assert (table.time_cell == table.time - table.groupby("cell").time.transform("min")).all()
    assert isinstance(track().links, pandas.DataFrame)


def test_tobac_reads_it(tmp_path):
    pandas = pytest.importorskip("pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        merge_split = pytest.importorskip("tobac.merge_split", reason="tobac is not installed, which reads the table")
    found = track()
    found.to_csv(tmp_path / "tracks.csv")
    table = pandas.read_csv(tmp_path / "tracks.csv", parse_dates=["time"])
    table["time_cell"] = pandas.to_timedelta(table["time_cell"])
    pandas.testing.assert_frame_equal(table, found.table, check_dtype=False)
    made = merge_split.merge_split_MEST(table, dxy=1, distance=13, frame_len=1)
    np.testing.assert_array_equal(made.feature_parent_cell_id, table.cell)
    # Both find the same families, although tobac compares the ends and starts of cells.
    ours = table.groupby("cell").track.first()
    theirs = made.cell_parent_track_id.to_series()
    assert {frozenset(c) for c in ours.groupby(ours).groups.values()} == {
        frozenset(c) for c in theirs.groupby(theirs).groups.values()
    }


def test_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    found = track()
    assert isinstance(found.table, dict) and isinstance(found.links, dict)
    assert set(found.links) == {"before", "after", "before_points", "after_points", "same_cell"}


def test_csv(tmp_path):
    path = tmp_path / "tracks.csv"
    track().to_csv(path)
    lines = path.read_text().splitlines()
    assert lines[0].startswith("frame,idx,hdim_1,hdim_2,num,feature,time,timestr,y,x,cell,track,time_cell")
    assert lines[1].split(",")[6:8] == ["2024-01-10 23:50:00"] * 2 and "0 days 00:05:00" in lines[5]
    with pytest.raises(FileExistsError, match="overwrite=True"):
        track().to_csv(path)
    track().to_csv(path, overwrite=True)


def test_links_count_the_core_points_of_both_sides():
    links = epsflow.tracks([[0.0], [1.0], [0.5]], [0, 0, 0], [0, 0, 1], core=np.ones(3, bool), eps=0.6)._links
    counts = [links[name].tolist() for name in ("before", "after", "before_points", "after_points")]
    assert counts == [[1], [2], [2], [1]]


def test_the_sphere_and_a_box():
    lat, lon = [10.0, 10.0, 10.2, 10.2], [179.5, -179.5, 179.9, -179.7]
    given = {"core": np.ones(4, bool), "eps": np.radians(1.1), "metric": "haversine"}
    found = epsflow.tracks(np.radians([lat, lon]).T, [0, 0, 0, 0], [1, 1, 2, 2], **given)
    assert found.n_tracks == 1 and found._table["timestr"].tolist() == ["1", "2"]
    np.testing.assert_allclose(np.abs(found._table["lon"]), [180, 179.9], atol=1e-6)
    # A great circle lies north of the parallel.
    assert found._table["lat"][0] > 10 and found._table["lat"][0] == pytest.approx(10, abs=1e-3)
    box = {"core": [True, True], "eps": 0.5, "metric_params": {"box": [10.0, None]}}
    assert epsflow.tracks([[9.9, 0], [0.3, 0]], [0, 0], [0, 1], **box).n_tracks == 1
    found = epsflow.tracks([[9.9, 0], [0.3, 2]], [0, 0], [0, 0], **box)
    np.testing.assert_allclose([found._table["x"][0], found._table["y"][0]], [0.1, 1])


def test_three_columns_and_none():
    found = epsflow.tracks([[1.0, 2.0, 3.0]], [4], [0.5], core=[True], eps=1)
    assert [found._table[c][0] for c in ("x", "y", "z", "vdim", "hdim_1", "label", "time", "timestr")] == [
        1, 2, 3, 3, 2, 4, 0.5, "0.5"
    ]
    found = epsflow.tracks(None, [0, 0], [0, 1], match="ids", ids=["a", "a"])
    assert found.n_tracks == 1 and "x" not in found._table


def test_ids_may_be_texts_and_any_integers():
    labels, times = [0, 0, 1, 0, 1, 1], [0, 0, 0, 1, 1, 1]
    want = epsflow.tracks(None, labels, times, match="ids", ids=[1, 2, 3, 1, 2, 3])
    for ids in (
        ["b", "a", "c"], np.array([1, 2**64 - 1, 7], dtype=np.uint64), np.array([-5, 0, 5], dtype=np.int8),
        np.array(["x", "y", "z"], dtype=object),
    ):
        found = epsflow.tracks(None, labels, times, match="ids", ids=np.tile(ids, 2))
        for column, values in want._links.items():
            np.testing.assert_array_equal(found._links[column], values)
    assert want._links["before_points"].tolist() == [1, 1, 1]


def test_times_of_any_kind():
    moments = [datetime.datetime(2024, 1, 1, 0, m) for m in (0, 0, 5, 5)]
    want = epsflow.tracks(None, [0, 1, 0, 1], moments, match="ids", ids=[1, 2, 1, 2])
    assert want._table["timestr"].tolist()[2] == "2024-01-01 00:05:00"
    for times in (
        np.array(moments, dtype="datetime64[ms]"), [0, 0, 5, 5], np.array([0.5, 0.5, 5, 5], dtype=np.float32)
    ):
        found = epsflow.tracks(None, [0, 1, 0, 1], times, match="ids", ids=[1, 2, 1, 2])
        np.testing.assert_array_equal(found._table["track"], want._table["track"])
    late = np.array(["3000-01-01", "3000-01-02"], dtype="datetime64[D]")
    table = epsflow.tracks(None, [0, 0], late, match="ids", ids=[1, 1])._table
    assert table["timestr"].tolist()[1] == "3000-01-02 00:00:00"


def test_nothing_one_point_and_empty_slices():
    found = epsflow.tracks(np.empty((0, 2)), [], [], core=np.empty(0, bool), eps=1)
    assert found.n_features == found.n_tracks == 0 and found.events == [] and len(found._table["frame"]) == 0
    found = epsflow.tracks([[0.0, 0.0]], [0], [3], core=[True], eps=1, slices=[1, 2, 3, 4])
    assert found._table["frame"].tolist() == [2]
    assert [(e.event, e.frame) for e in found.events] == [("birth", 2), ("death", 3)]
    assert epsflow.tracks([[0.0, 0.0]], [-1], [3], core=[False], eps=1).n_features == 0


def wrong(X=((0.0, 0.0), (1.0, 0.0)), labels=(0, 0), times=(0, 1), **parameters):
    given = {"core": [True, True], "eps": 1.0, **parameters}
    given = {name: value for name, value in given.items() if value is not ...}
    return lambda: epsflow.tracks(None if X is None else np.array(X), labels, times, **given)


BY_IDS = {"match": "ids", "core": ..., "eps": ...}
WRONG = [
    (wrong(times=(1, 0)), ValueError, "times has 0 at row 1, after 1: sort all rows by time"),
    (wrong(times=(0, np.nan)), ValueError, "times has nan at row 1"),
    (wrong(times=np.array(["2024-01-01", "NaT"], dtype="datetime64[s]")), ValueError, "times has NaT at row 1"),
    (wrong(times=("a", "b")), TypeError, "times are numbers or datetime64"),
    (wrong(times=(True, True)), TypeError, "times has dtype bool"),
    (wrong(times=[datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)] * 2), TypeError,
     "times has a time zone at row 0: convert all to UTC"),
    (wrong(times=(0,)), ValueError, "there are 2 labels and 1 times"),
    (wrong(times=((0, 1),)), ValueError, "times has shape (1, 2)"),
    (wrong(slices=(0, 0, 1)), ValueError, "slices has 0 at index 1, after 0: give each slice once"),
    (wrong(slices=(1, 0)), ValueError, "slices has 0 at index 1"),
    (wrong(slices=(0, 2)), ValueError, "row 1 has the time 1, which is none of slices"),
    (wrong(slices=np.array(["2024-01-01"], dtype="datetime64[s]")), TypeError,
     "slices has dtype datetime64[ns] and times int64"),
    (wrong(labels=(0, 0, 0)), ValueError, "there are 2 points and 3 labels"),
    (wrong(labels=(0.5, 0)), TypeError, "labels has dtype float64"),
    (wrong(labels=(0, -2)), ValueError, "labels has the label -2"),
    (wrong(core=None), TypeError, "match='cores' needs core"),
    (wrong(core=[True]), ValueError, "core has shape (1,), and there are 2 labels"),
    (wrong(core=[0]), ValueError, "core has 1 values and there are 2 labels: give a mask"),
    (wrong(core=[0.5, 1]), TypeError, "core has dtype float64"),
    (wrong(core=[0, 5]), TypeError, "core has dtype int64"),
    (wrong(eps=None), TypeError, "match='cores' needs eps"),
    (wrong(eps=0), ValueError, "eps == 0, must be > 0"),
    (wrong(X=None), ValueError, "X is None, and match='cores' goes by distances"),
    (wrong(X=((0.0, np.nan), (0.0, 0.0))), ValueError, "row 0, column 1 is nan"),
    (wrong(ids=[0, 1]), TypeError, "ids are of match='ids'"),
    (wrong(match="near"), ValueError, "match='near' is none of 'cores', 'ids'"),
    (wrong(match=1), TypeError, "match is 1"),
    (wrong(**BY_IDS), TypeError, "match='ids' needs ids"),
    (wrong(**{**BY_IDS, "eps": 1.0, "ids": [0, 1]}), TypeError, "eps is of match='cores'"),
    (wrong(**BY_IDS, ids=[0]), ValueError, "ids has shape (1,), and there are 2 labels"),
    (wrong(**BY_IDS, ids=[0.5, 1]), TypeError, "ids has dtype float64"),
    (wrong(times=(0, 0), **BY_IDS, ids=[7, 7]), ValueError, "rows 0 and 1 of slice 0 have the same id, 7"),
    (wrong(times=(0, 0), **BY_IDS, ids=["GOPE", "GOPE"]), ValueError, "rows 0 and 1 of slice 0 have the same id, GOPE"),
    (wrong(least_share=1.5), ValueError, "least_share == 1.5, must be from 0 to 1"),
    (wrong(least_share="all"), TypeError, "least_share is 'all'"),
    (wrong(threads=0), ValueError, "threads == 0"),
    (wrong(metric="l3"), ValueError, "metric='l3' is not known"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), WRONG)
def test_what_cannot_be_is_refused(call, error, text):
    with pytest.raises(error, match=re.escape(text)):
        call()


def test_a_variant_brings_its_core_points():
    X = np.concatenate([disc(0, 0, 3), disc(1, 0, 3)])
    times = np.repeat([0, 1], len(X) // 2)
    spread = np.column_stack([X, times * 100.0])  # both slices are far apart in one sweep
    variant = epsflow.sweep(spread, 1.5, 4, core=True)[0]
    found = epsflow.tracks(X, variant, times, eps=1.0)
    assert found.n_tracks == 1 and found.n_features == 2
