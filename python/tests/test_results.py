"""Tests results folders: Python reads the program's folders, and the program continues folders of save()."""

from __future__ import annotations

import fcntl
import json
import os
import pickle
import resource
import zlib
from pathlib import Path

import numpy as np
import pytest
from programs import succeeded

import epsflow
from epsflow import _results, _tasks


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    random = np.random.default_rng(3)
    return np.concatenate([random.normal(centre, 0.3, size=(300, 2)) for centre in ([0, 0], [3, 0], [0, 3])])


@pytest.fixture(scope="module")
def result(points):
    # The shortest text of these numbers has an exponent in Python or in the program, but not in both.
    return epsflow.sweep(points, eps=[0.0001, 0.1, 0.25, 123456, 1e22], min_samples=[4, 8], core=True)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


def assert_same(left, right) -> None:
    assert {(v.eps, v.min_samples) for v in left} == {(v.eps, v.min_samples) for v in right}
    for variant in left:
        other = right.variant(variant.eps, variant.min_samples)
        np.testing.assert_array_equal(variant.labels, other.labels)
        np.testing.assert_array_equal(variant.core_sample_indices, other.core_sample_indices)
        for name in ("n_clusters", "n_noise", "n_core", "n_border", "largest"):
            assert getattr(variant, name) == getattr(other, name)


def test_saved_pickled_and_loaded(result, tmp_path):
    folder = tmp_path / "new" / "results"
    result.save(folder)
    loaded = epsflow.load(str(folder))
    assert len(loaded.summary) == len(result)
    assert not (folder / ".epsflow").exists()
    for found in (loaded, pickle.loads(pickle.dumps(result)), pickle.loads(pickle.dumps(loaded))):
        assert_same(result, found)
        found.save(tmp_path / "again", overwrite=True)  # information about the input is kept
        inputs = [json.loads((of / "sweep.json").read_text())["input"] for of in (folder, tmp_path / "again")]
        assert inputs[0] == inputs[1]
        assert_same(result, epsflow.load(tmp_path / "again"))


def test_variants_whose_counts_alone_were_kept(points, program, tmp_path):
    np.save(tmp_path / "points.npy", points)
    sweep = ["sweep", tmp_path / "points.npy", "--eps", "0.1,0.25", "--out", tmp_path / "r"]
    succeeded(program(*sweep, "--minpts", 4, "--keep", "summary"))
    succeeded(program(*sweep, "--minpts", 8, "--core", "--resume"))
    loaded = epsflow.load(tmp_path / "r")
    for variant in epsflow.sweep(points, eps=[0.1, 0.25], min_samples=[4, 8]):
        found = loaded.variant(variant.eps, variant.min_samples)
        for name in ("n_clusters", "n_noise", "largest"):
            assert getattr(found, name) == getattr(variant, name)
        assert repr(found) == repr(variant)
        if variant.min_samples == 8:
            np.testing.assert_array_equal(found.labels, variant.labels)
            continue
        words = rf"no labels of eps={variant.eps:g}, min_samples=4, .* counts alone: .*--resume"
        for array in ("labels", "core"):
            with pytest.raises(ValueError, match=words):
                getattr(found, array)
    assert len(loaded.summary) == 4
    with pytest.raises(ValueError, match="no labels of eps=0.1, min_samples=4"):
        loaded.save(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_labels_are_mapped_when_asked_for_and_keep_no_descriptor(result, tmp_path):
    result.save(tmp_path / "r")
    loaded = epsflow.load(tmp_path / "r")
    before = os.listdir("/proc/self/fd")
    held = [(variant.labels, variant.core) for variant in loaded]
    assert os.listdir("/proc/self/fd") == before
    labels, maps = loaded.labels(0.1, 4), Path("/proc/self/maps")
    (mapped, *_) = (line for line in maps.read_text().splitlines() if "labels/eps_0.1_minpts_4.npy" in line)
    assert labels.ctypes.data // 4096 * 4096 == int(mapped.split("-")[0], 16) and not labels.flags.writeable
    del held, loaded, labels
    assert str(tmp_path) not in maps.read_text()


def test_threads_ask_for_the_same_labels():
    class Raced(_results.StoredVariant):
        """Simulates another thread that maps the labels after the first look at them."""

        _labels = property(lambda self: self.looks.pop(0), lambda self, value: None)
        _core = property(lambda self: self.looks.pop(0), lambda self, value: None)

    mapped = np.zeros(3, np.int8)
    for name in ("labels", "core"):
        raced = Raced((0.1, 4, 0, 0, 0, 0, 0, 0.0), mapped, mapped)
        raced.looks = [lambda: mapped, mapped, mapped]
        assert len(getattr(raced, name)) == 3


def test_names_that_are_no_utf8(result, tmp_path):
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    result.save(folder)
    with pytest.raises(FileExistsError) as refused:
        result.save(folder)
    assert str(folder) in str(refused.value)
    assert_same(result, epsflow.load(folder))
    (folder / "sweep.json").write_text("{")
    with pytest.raises(ValueError, match="damaged") as refused:
        epsflow.load(folder)
    assert str(folder) in str(refused.value)


def test_core_points_of_some_variants(points, tmp_path):
    some, without = epsflow.sweep(points, 0.1, [4, 8], core=True), epsflow.sweep(points, 0.2, 4)
    without.save(tmp_path / "without")
    assert not (tmp_path / "without/core").exists()
    mixed = epsflow.SweepResult([*some, without[0]])
    mixed.save(tmp_path / "r")
    loaded = epsflow.load(tmp_path / "r")
    for variant in some:
        np.testing.assert_array_equal(loaded.variant(0.1, variant.min_samples).core, variant.core)
    for variant in (epsflow.load(tmp_path / "without")[0], loaded.variant(0.2, 4)):
        for name in ("core", "core_sample_indices"):
            with pytest.raises(ValueError, match="core=True"):
                getattr(variant, name)
    mixed.save(tmp_path / "r", overwrite=True)
    turned = epsflow.SweepResult(mixed[::-1])
    turned.save(tmp_path / "r", overwrite=True)
    (tmp_path / "other/core").mkdir(parents=True)
    (tmp_path / "other/core/eps_0.1_minpts_4.npy").write_text("somebody's")
    with pytest.raises(FileExistsError, match="not written by epsflow"):
        turned.save(tmp_path / "other")
    loaded.save(tmp_path / "again")
    again = epsflow.load(tmp_path / "again")
    np.testing.assert_array_equal(again.core_sample_indices(0.1, 4), some[0].core_sample_indices)


def test_overwriting_only_when_told(result, points, tmp_path):
    result.save(tmp_path / "r")
    before = contents(tmp_path / "r")
    other = epsflow.sweep(points, 0.2, [4, 16])
    with pytest.raises(FileExistsError, match="overwrite=True"):
        other.save(tmp_path / "r")
    assert contents(tmp_path / "r") == before
    other.save(tmp_path / "r", overwrite=True)
    loaded = epsflow.load(tmp_path / "r")
    assert len(loaded) == 2
    np.testing.assert_array_equal(loaded.labels(0.2, 16), other.labels(0.2, 16))


def test_loaded_results_replace_their_own_folder(result, tmp_path):
    result.save(tmp_path / "r")
    loaded = epsflow.load(tmp_path / "r")
    loaded.save(tmp_path / "r", overwrite=True)
    assert_same(result, loaded)
    assert_same(result, epsflow.load(tmp_path / "r"))


@pytest.mark.parametrize(
    "name", ["summary.csv", "sweep.json", "labels/eps_0.1_minpts_4.npy", "core/eps_0.1_minpts_4.npy"]
)
@pytest.mark.parametrize("overwrite", [False, True])
def test_files_of_others_are_in_the_way(result, tmp_path, name, overwrite):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("somebody's")
    before = contents(tmp_path)
    with pytest.raises((FileExistsError, ValueError), match="not written by epsflow"):
        result.save(tmp_path, overwrite=overwrite)
    assert contents(tmp_path) == before


def test_one_writer_at_a_time(result, tmp_path):
    (tmp_path / "r/.epsflow").mkdir(parents=True)
    with open(tmp_path / "r/.epsflow/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(BlockingIOError, match="being written by another process"):
            result.save(tmp_path / "r")
    result.save(tmp_path / "r")
    assert not (tmp_path / "r/.epsflow").exists()


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_save_that_fails_leaves_no_trace(points, tmp_path, monkeypatch, error):
    old = epsflow.sweep(points, 0.2, 4)
    old.save(tmp_path / "old")
    before = contents(tmp_path / "old")
    large = epsflow.sweep(np.zeros((1_000_000, 1)), 0.2, range(1, 9))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if error is OSError:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, limits[1]))
    else:  # interrupts after the first check
        monkeypatch.setattr(_tasks, "_SLICE_SECONDS", 0)
        monkeypatch.setattr(_results, "wait_for", lambda task: _tasks.wait_for(task, interrupt))
    try:
        for folder in (tmp_path / "old", tmp_path / "new/deeper"):
            with pytest.raises(error) as raised:
                large.save(folder, overwrite=True)
            assert error is KeyboardInterrupt or f"{folder}/labels/eps_0.2_minpts_1.npy" in str(raised.value)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert contents(tmp_path / "old") == before
    assert not (tmp_path / "new").exists()


def interrupt(_):
    raise KeyboardInterrupt


def save_and_stop_after(result, folder: Path, steps: int) -> None:
    """Leaves the state after a kill between two removals of old files or two moves of new files: 3 and 21 of them."""
    result.save(folder.parent / "next")
    hidden = folder / ".epsflow"
    hidden.mkdir()
    (folder.parent / "next").rename(hidden / "replacement")
    described = json.loads((hidden / "replacement/sweep.json").read_text())
    begin = json.dumps({"replaces": True, "input": described["input"], "run": described["runs"][-1]})
    (hidden / "journal").write_text(
        "".join(f"{e} {zlib.crc32(e.encode()):08x}\n" for e in (f"begin {begin}", "commit"))
    )
    for name in ("labels", "core"):
        (folder / name).mkdir(exist_ok=True)
    old = json.loads((folder / "sweep.json").read_text())
    removed = [file["name"] for file in old["files"]] + ["summary.csv", "sweep.json"]
    moved = [file["name"] for file in described["files"]] + ["sweep.json"]
    for name in removed[:steps]:
        (folder / name).unlink()
    for name in moved[: max(0, steps - len(removed))]:
        (hidden / "replacement" / name).rename(folder / name)
        (folder / "summary.csv").write_text("cut off")
    assert (len(removed), len(moved)) == (3, 21)


@pytest.mark.parametrize("steps", range(25))
def test_a_save_that_is_killed_is_finished_by_the_next(result, points, tmp_path, steps):
    epsflow.sweep(points, 0.2, 4).save(tmp_path / "r")
    save_and_stop_after(result, tmp_path / "r", steps)
    with pytest.raises((FileExistsError, ValueError)):
        result.save(tmp_path / "r")  # finishes the killed save first, and then refuses to replace it
    assert_same(result, epsflow.load(tmp_path / "r"))
    assert not (tmp_path / "r/.epsflow").exists()


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 4, 14, 23, 24])
def test_a_save_that_is_killed_is_finished_by_the_program(program, result, points, tmp_path, steps):
    np.save(tmp_path / "points.npy", points)
    epsflow.sweep(points, 0.2, 4).save(tmp_path / "r")
    save_and_stop_after(result, tmp_path / "r", steps)
    sweep = ("sweep", tmp_path / "points.npy", "--eps", "0.1", "--minpts", "4", "--out", tmp_path / "r", "--resume")
    assert "0 variants" in succeeded(program(*sweep)).stdout
    assert_same(result, epsflow.load(tmp_path / "r"))


def exchanged(old: str, new: str):
    """Returns the damage that exchanges a text in a file."""

    def damage(file: Path) -> None:
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    return damage


DAMAGE = {
    "labels/eps_0.1_minpts_4.npy": [
        (lambda f: f.unlink(), "eps_0.1_minpts_4.npy is missing"),
        (lambda f: f.write_bytes(f.read_bytes()[:-1]), "has 3727 bytes, not 3728"),
        (lambda f: f.write_bytes(b"no array"), "head is not as epsflow writes it"),
        (lambda f: np.save(f, np.zeros(900)), "head is not as epsflow writes it for 900 values of <i4"),
        (lambda f: f.write_bytes(f.read_bytes()[:-4] + b"\7\0\0\0"), "has changed since it was written"),
    ],
    "core/eps_0.1_minpts_4.npy": [
        (lambda f: f.unlink(), "is missing"),
        (lambda f: f.write_bytes(f.read_bytes()[:-1] + b"\2"), "has changed since it was written"),
    ],
    "sweep.json": [
        (lambda f: f.unlink(), "no folder of results"),
        (lambda f: f.write_text(f.read_text()[:100]), "not written by epsflow, or is damaged"),
        (exchanged("core/eps_0.1_minpts_4.npy", "../../mine"), "which epsflow never writes"),
        (exchanged('"complete"', '"interrupted"'), "is not finished"),
        (exchanged('"minpts": 4', '"minpts": 5'), "is damaged"),
        (exchanged('"points": 900', '"points": 900.0'), "does not say how many points there are"),
    ],
}


@pytest.mark.parametrize("name, damage, words", [(name, *case) for name, cases in DAMAGE.items() for case in cases])
def test_damage_is_refused_with_its_position(result, tmp_path, name, damage, words):
    result.save(tmp_path / "r")
    damage(tmp_path / "r" / name)
    with pytest.raises(ValueError, match=words) as refused:
        variant = epsflow.load(tmp_path / "r").variant(0.1, 4)
        variant.labels, variant.core_sample_indices
    assert str(tmp_path / "r") in str(refused.value)


def hdf5(file, points=3, counts="<u8", labels="<i4", summary=None, description=None):
    """Writes the file as the program does, except for the given parts."""
    h5py = pytest.importorskip("h5py")
    kinds = [(name, "<f8" if name in ("eps", "seconds") else counts) for name in (*_results._FIGURES,)]
    with h5py.File(file, "w") as opened:
        opened.attrs["description"] = json.dumps({"input": {"points": points}} if description is None else description)
        opened["summary"] = np.ones(1, kinds) if summary is None else summary
        opened["labels"] = np.zeros((1, 3), labels)
    return file


def test_damage_of_one_file(tmp_path):
    file = tmp_path / "sweep.h5"
    assert epsflow.load(hdf5(file))[0].labels.tolist() == [0, 0, 0]
    assert epsflow.load(hdf5(file, labels=">i2"))[0].labels.tolist() == [0, 0, 0]
    for part, wrong in {
        "points": ["3", 3.0, None, [3], 2**70], "counts": ["<f8"], "labels": ["<f8", "<i8"], "summary": [1, [1]],
        "description": [[1], 7],
    }.items():
        for value in wrong:
            with pytest.raises(ValueError, match="sweep.h5 is no sweep.h5 of epsflow, or is damaged"):
                epsflow.load(hdf5(file, **{part: value}))


def test_what_is_no_folder_of_results(tmp_path):
    with pytest.raises(FileNotFoundError):
        epsflow.load(tmp_path / "nothing")
    with pytest.raises(ValueError, match="no folder of results"):
        epsflow.load(tmp_path)
    (tmp_path / "file").write_text("text")
    with pytest.raises(ValueError, match="no folder of results, and no sweep.h5"):
        epsflow.load(tmp_path / "file")


def test_unfinished_results_are_taken_when_told(result, tmp_path):
    result.save(tmp_path / "r")
    exchanged('"complete"', '"interrupted"')(tmp_path / "r/sweep.json")
    assert_same(result, epsflow.load(tmp_path / "r", unfinished=True))


def test_a_folder_of_the_program(program, points, result, tmp_path):
    np.save(tmp_path / "points.npy", points)
    eps = ",".join(f"{v:.17g}" for v in dict.fromkeys(v.eps for v in result))
    sweep = ("sweep", tmp_path / "points.npy", "--eps", eps, "--minpts", "4,8", "--core", "--out")
    succeeded(program(*sweep, tmp_path / "theirs"))
    loaded = epsflow.load(tmp_path / "theirs")
    assert_same(result, loaded)
    # The files must be equal, except for times and programs.
    result.save(tmp_path / "ours")
    loaded.save(tmp_path / "copied")
    theirs, ours, copied = (contents(tmp_path / name) for name in ("theirs", "ours", "copied"))
    assert set(theirs) - set(ours) == {"trace.json"} and not set(ours) - set(theirs)
    for name in ours:
        if name.endswith(".npy"):
            assert theirs[name] == ours[name] == copied[name]
    checksums = [json.loads(files["sweep.json"])["input"]["checksum"] for files in (theirs, ours, copied)]
    assert len(set(checksums)) == 1
    # The program adds variants and recomputes none.
    assert "0 variants" in succeeded(program(*sweep, tmp_path / "ours", "--resume")).stdout
    more = (*sweep[:3], "0.1,0.2", "--minpts", "4", "--core", "--out", tmp_path / "ours", "--resume")
    assert "1 variant" in succeeded(program(*more)).stdout
    assert len(epsflow.load(tmp_path / "ours")) == len(result) + 1
    # The program refuses other points, and replaces the folder only with --overwrite.
    np.save(tmp_path / "other.npy", points + 1)
    assert program("sweep", tmp_path / "other.npy", *sweep[2:], tmp_path / "ours", "--resume").returncode == 3
    assert program(*sweep, tmp_path / "ours").returncode == 2
    succeeded(program(*sweep, tmp_path / "ours", "--overwrite"))
    assert_same(result, epsflow.load(tmp_path / "ours"))


def test_results_of_a_metric_are_the_programs_of_it_alone(program, points, tmp_path):
    np.save(tmp_path / "points.npy", points)
    sweep = ["sweep", tmp_path / "points.npy", "--eps", "50", "--minpts", "4", "--out", tmp_path / "r", "--resume"]
    epsflow.sweep(points, 50, 4, metric="greatcircle", metric_params={"unit": "km"}).save(tmp_path / "r")
    assert "0 variants" in succeeded(program(*sweep, "--metric", "greatcircle", "--unit", "km")).stdout
    assert program(*sweep, "--metric", "greatcircle").returncode == 3
    assert program(*sweep).returncode == 3
    epsflow.sweep(points, 50, 4, sample_weight=np.full(len(points), 0.5)).save(tmp_path / "r", overwrite=True)
    assert program(*sweep).returncode == 3


def test_results_of_weights_are_the_programs_of_the_same_weights(program, points, tmp_path):
    weights = np.random.default_rng(5).integers(0, 9, (len(points), 2)) / 4
    np.save(tmp_path / "points.npy", np.hstack([points, weights]))
    sweep = [
        "sweep", tmp_path / "points.npy", "--columns", "0,1", "--eps", "0.2", "--minpts", "4", "--out", tmp_path / "r",
        "--resume",
    ]
    given = weights[:, 0].copy()
    result = epsflow.sweep(points, 0.2, 4, sample_weight=given)
    given[:] = 9  # the array belongs to the caller
    result.save(tmp_path / "r")
    assert "0 variants" in succeeded(program(*sweep, "--weight", "2")).stdout
    assert program(*sweep, "--weight", "3").returncode == 3
    assert program(*sweep).returncode == 3
    succeeded(program(*sweep[:-1], "--weight", "2", "--overwrite"))
    np.testing.assert_array_equal(epsflow.load(tmp_path / "r")[0].labels, result[0].labels)


def test_rows_of_the_input_stay(program, tmp_path):
    (tmp_path / "points.csv").write_text("x,y\n0,0\nnan,1\n0,0.1\n5,5\n")
    sweep = ("sweep", tmp_path / "points.csv", "--eps", "1", "--minpts", "2", "--on-nan", "drop", "--out")
    succeeded(program(*sweep, tmp_path / "r"))
    epsflow.load(tmp_path / "r").save(tmp_path / "again")
    np.testing.assert_array_equal(np.load(tmp_path / "again/rows.npy"), [0, 2, 3])


def test_everything_in_one_file(program, points, tmp_path, monkeypatch):
    with_gap = np.insert(points, 7, np.nan, axis=0)
    np.save(tmp_path / "points.npy", with_gap)
    sweep = ("sweep", tmp_path / "points.npy", "--eps", "50,80", "--minpts", "4", "--on-nan", "drop", "--hdf5",
             "--metric", "greatcircle", "--unit", "km", "--out", tmp_path / "r")
    run = program(*sweep)
    if run.returncode == 2 and "HDF5" in run.stderr:
        pytest.skip("the program is built without HDF5")
    succeeded(run)
    succeeded(program(*sweep[:3], "80", *sweep[4:], "--core", "--resume"))  # one of two masks then exists
    folder, file = epsflow.load(tmp_path / "r"), tmp_path / "r/sweep.h5"
    with monkeypatch.context() as without:
        without.setitem(__import__("sys").modules, "h5py", None)
        with pytest.raises(ValueError, match="install h5py, or load the folder"):
            epsflow.load(file)
    h5py = pytest.importorskip("h5py")
    single = epsflow.load(file)
    for variant in folder:
        labels = single.labels(variant.eps, variant.min_samples)
        np.testing.assert_array_equal(labels, variant.labels)
        assert not labels.flags.writeable
    np.testing.assert_array_equal(single.variant(80, 4).core, folder.variant(80, 4).core)
    assert not single.variant(80, 4).core.flags.writeable
    for either in (single, folder):
        with pytest.raises(ValueError, match="core=True"):
            either.variant(50, 4).core
    with h5py.File(file) as opened:
        np.testing.assert_array_equal(opened["rows"], np.delete(np.arange(len(with_gap)), 7))
        assert json.loads(opened.attrs["description"])["metric"] == "greatcircle, eps in km"
    single.save(tmp_path / "again")
    np.testing.assert_array_equal(np.load(tmp_path / "again/rows.npy"), np.load(tmp_path / "r/rows.npy"))
    assert [v.n_noise for v in single] == [v.n_noise for v in folder]
    file.write_bytes(file.read_bytes()[:3000])
    with pytest.raises(ValueError, match="sweep.h5"):
        epsflow.load(file)


def test_a_killed_run_of_the_program_is_left_alone(result, tmp_path):
    hidden = tmp_path / "r/.epsflow"
    hidden.mkdir(parents=True)
    event = 'begin {"replaces": false, "input": {"checksum": "x"}, "run": {"status": "running"}}'
    (hidden / "journal").write_text(f"{event} {zlib.crc32(event.encode()):08x}\n")
    for use in (lambda folder: result.save(folder, overwrite=True), epsflow.load):
        with pytest.raises(ValueError, match="was killed"):
            use(tmp_path / "r")
    assert (hidden / "journal").exists()


def forge(folder: Path, name: str, content: bytes) -> None:
    """Changes a file and its checksum in the manifest."""
    (folder / name).write_bytes(content)
    described = json.loads((folder / "sweep.json").read_text())
    next(file for file in described["files"] if file["name"] == name).update(
        bytes=len(content), crc32=f"{zlib.crc32(content):08x}"
    )
    (folder / "sweep.json").write_text(json.dumps(described))


def test_numbers_of_offers_that_epsflow_never_writes(program, points, tmp_path):
    np.save(tmp_path / "x.npy", points)
    succeeded(program("explore", tmp_path / "x.npy", "--out", tmp_path / "r", "--quiet"))
    whole = json.loads((tmp_path / "r/explore.json").read_text())
    epsflow.load(tmp_path / "r")
    for minpts in (4.5, 4.0, "4", True, None, [4]):
        offer = {**whole["one_eps"], "minpts": minpts}
        forge(tmp_path / "r", "explore.json", json.dumps({**whole, "one_eps": offer}).encode())
        with pytest.raises(ValueError, match=r"explore\.json was not written by epsflow, or is damaged"):
            epsflow.load(tmp_path / "r")


def test_counts_of_slices_and_lineages_that_epsflow_never_writes(program, points, tmp_path):
    rows = np.column_stack([points, np.arange(900) // 300])
    np.savetxt(tmp_path / "x.csv", rows, "%.17g", ",", header="x,y,t", comments="")
    grid = ("--columns", "x,y", "--eps", "0.1,0.2", "--minpts", 4, "--quiet", "--out")
    succeeded(program("sweep", tmp_path / "x.csv", *grid, tmp_path / "r", "--by", "t"))
    whole = (tmp_path / "r/slices.csv").read_text()
    row = whole.splitlines()[1]
    for column, field in enumerate(row.split(",")[1:], 1):
        if column == 2:  # eps
            continue
        for value in (f"{field}.5", "-1", "1e61", "inf", "nan", "-inf"):
            forged = ",".join([*row.split(",")[:column], value, *row.split(",")[column + 1 :]])
            forge(tmp_path / "r", "slices.csv", whole.replace(row, forged, 1).encode())
            with pytest.raises(ValueError, match=r"slices\.csv was not written by epsflow, or is damaged"):
                epsflow.load(tmp_path / "r")
    succeeded(program("sweep", tmp_path / "x.csv", *grid, tmp_path / "l", "--lineage"))
    with np.load(tmp_path / "l/lineage.npz") as stored:
        arrays = dict(stored)
    for name in sorted(set(arrays) - {"eps"}):
        np.savez(tmp_path / "forged.npz", **{**arrays, name: arrays[name] + 0.5})
        forge(tmp_path / "l", "lineage.npz", (tmp_path / "forged.npz").read_bytes())
        words = rf"lineage\.npz is no lineage\.npz of epsflow, or is damaged: {name} are no whole numbers"
        with pytest.raises(ValueError, match=words):
            epsflow.load(tmp_path / "l")
