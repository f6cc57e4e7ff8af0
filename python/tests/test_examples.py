"""Tests the Python examples. If the library of an example is missing, its test skips."""

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from checks import run_python

import epsflow

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/python"


def load(monkeypatch, name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


def run(name, *arguments, cwd=None):
    """Returns the output of an example."""
    done = run_python(EXAMPLES / f"{name}.py", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows_below(text, heading):
    """Returns the numbers of the table with this heading, up to an empty line."""
    lines = text.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.split()[: len(heading.split())] == heading.split()) + 1
    end = next((i for i, line in enumerate(lines) if i > begin and not line), len(lines))
    return np.array([[float(word.rstrip("%")) for word in line.split() if word != "day"] for line in lines[begin:end]])


def test_groups_of_galaxies(tmp_path, monkeypatch):
    text = run("galaxy_groups", cwd=tmp_path)
    assert "25 groups of at least 8 galaxies" in text  # all generated groups
    by_length = rows_below(text, "linking length")
    assert (np.diff(by_length[:, 2]) >= 0).all() and (np.diff(by_length[:, 3]) >= 0).all()  # groups merge and grow
    found = rows_below(text, "galaxies ra dec")
    assert len(found) == 10 and (found[:, 0] > 30).all()
    assert (found[:, 5] > 2 * found[:, 6]).all()  # fingers of God
    ra, dec, z = load(monkeypatch, "galaxy_groups").generate()
    np.savez(tmp_path / "galaxies.npz", z=z, dec=dec, ra=ra)
    assert run("galaxy_groups", tmp_path / "galaxies.npz", "ra", "dec", "z") == text


def test_a_cosmological_box(tmp_path, monkeypatch):
    text = run("cosmological_box", cwd=tmp_path)
    haloes = int(re.search(r"(\d+) haloes with", text)[1])
    assert 140 <= haloes <= 150  # 150 minus those that touch another halo
    by_mass = rows_below(text, "mass from")
    assert by_mass[:, 2].sum() == haloes and (np.diff(by_mass[:, 3]) < 0).all()
    assert int(re.search(r"(\d+) haloes lie across a face", text)[1]) > 0
    assert list(tmp_path.iterdir()) == []
    h5py = pytest.importorskip("h5py")
    assert "box.haloes.hdf5: " in text
    X, v = load(monkeypatch, "cosmological_box").generate()
    with h5py.File(tmp_path / "snapshot.hdf5", "w") as file:
        file["PartType1/Coordinates"], file["PartType1/Velocities"] = X, v
        file.create_group("Header").attrs.update({"BoxSize": 100.0, "MassTable": [0, 4e6 / len(X), 0, 0, 0, 0]})
    again = run("cosmological_box", tmp_path / "snapshot.hdf5")
    assert again.replace("snapshot.haloes", "box.haloes") == text
    with h5py.File(tmp_path / "swift.hdf5", "w") as file:  # the header has three sides, and particles have masses
        file["PartType1/Coordinates"], file["PartType1/Velocities"] = X, v
        file["PartType1/Masses"] = np.full(len(X), 4e6 / len(X))
        file.create_group("Header").attrs.update({"BoxSize": [100.0, 100.0, 100.0], "MassTable": np.zeros(7)})
    assert run("cosmological_box", tmp_path / "swift.hdf5").replace("swift.haloes", "box.haloes") == text
    with h5py.File(tmp_path / "snapshot.haloes.hdf5") as file:
        assert len(file["Groups/Masses"]) == haloes


def test_a_day_of_tec(tmp_path, monkeypatch):
    text = run("tec_day", cwd=tmp_path)
    assert text.startswith("72 maps") and len(rows_below(text, "eps min_samples")) == 9
    # Five patches were generated. One exists in the first map, and two of the others merge.
    assert "birth 4, death 4, merge 1\n" in text
    minutes, km, speed = map(int, re.search(r"longest: (\d+) minutes, (\d+) km, (\d+) m/s", text).groups())
    assert minutes >= 120 and 4000 < km < 7000 and 400 < speed < 900
    module = load(monkeypatch, "tec_day")
    np.savez(tmp_path / "tec.npz", **dict(zip(("ut1_unix", "glon", "gdlat", "tec"), module.generate().T)))
    assert run("tec_day", tmp_path / "tec.npz", "ut1_unix", "glon", "gdlat", "tec") == text


def test_lightning(tmp_path, monkeypatch):
    text = run("lightning_flashes", cwd=tmp_path)
    assert re.search(r": 40 flashes with 1[12]\d branches", text)  # three were generated in each flash
    by_branches = rows_below(text, "branches flashes")
    assert by_branches[:, 1].sum() == 40 and by_branches[3, 1] >= 38
    largest = rows_below(text, "sources branches")
    assert (largest[:, 0] >= 200).all() and (largest[:, 3] < 0.5).all()
    x, y, z, t = load(monkeypatch, "lightning_flashes").generate().T
    lat = 35 + y / 111.19
    columns = [t, lat, -97 + x / 111.19 / np.cos(np.radians(35)), 1000 * z]
    np.save(tmp_path / "sources.npy", np.stack(columns, axis=1))
    assert ": 40 flashes with " in run("lightning_flashes", tmp_path / "sources.npy", "0", "1", "2", "3")
    pytest.importorskip("xarray")
    assert "in the variables of xlma-python: 40 flashes" in text


def test_earthquakes(tmp_path, monkeypatch):
    text = run("earthquakes", cwd=tmp_path)
    assert re.search(r"eps .* km, min_samples \d+: 6 clusters", text)  # all generated sequences
    found = rows_below(text, "size strongest")
    assert len(found) == 6 and (found[:, 1] > 5.9).all()
    # Main shocks have most of the moment.
    assert (found[:, 2] > found[:, 1] - 0.06).all() and (found[:, 2] < found[:, 1] + 0.2).all()
    assert (found[:, 7] > 40).all()
    pandas = pytest.importorskip("pandas")
    lon, lat, magnitude, day = load(monkeypatch, "earthquakes").generate()
    times = np.datetime64("2024-01-01T00:00:00.000") + (day * 86_400_000).astype("timedelta64[ms]")
    time = [f"{when}Z" for when in times]
    frame = pandas.DataFrame({"time": time, "latitude": lat, "longitude": lon, "mag": magnitude})
    frame.to_csv(tmp_path / "query.csv", index=False)
    again = run("earthquakes", tmp_path / "query.csv", "longitude", "latitude", "mag", "time")
    # Days count from the first.
    np.testing.assert_allclose(rows_below(again, "size strongest")[:, :6], found[:, :6])


def test_moving_objects(tmp_path, monkeypatch):
    text = run("moving_objects", cwd=tmp_path)
    found = rows_below(text, "detections x")
    assert "20 objects" in text and (found[:, 0] >= 8).all()  # all generated objects, in all nights
    rows = load(monkeypatch, "moving_objects").generate()
    nights = rows[:8, 2] - 5.5
    lines = [np.polyfit(nights, of_object[:, :2], 1)[::-1].ravel() for of_object in rows[:160].reshape(20, 8, 3)]
    for line in lines:
        assert np.abs(found[:, 1:] - line).max(axis=1).min() < 3e-3
    np.savez(tmp_path / "nights.npz", **dict(zip(("ra", "dec", "mjd"), rows.T)))
    assert run("moving_objects", tmp_path / "nights.npz", "ra", "dec", "mjd") == text


@pytest.mark.parametrize(
    "name", ["galaxy_groups", "cosmological_box", "tec_day", "lightning_flashes", "earthquakes", "moving_objects"]
)
def test_what_is_not_understood_tells_the_usage(name):
    done = run_python(EXAMPLES / f"{name}.py", "a")
    assert done.returncode == 1 and done.stderr.startswith(f"usage: {name}.py [")


@pytest.fixture
def example(monkeypatch):
    module = load(monkeypatch, "sweep_many")
    monkeypatch.setattr(module, "CORES", 3)
    return module


@pytest.mark.parametrize("library", ["joblib", "dask", "ray"])
def test_many_data_sets(tmp_path, library):
    pytest.importorskip(library)
    assert run("sweep_many", library, cwd=tmp_path).count("most clusters") == 6 and list(tmp_path.iterdir()) == []
    for i in range(3):
        np.save(tmp_path / f"{i}.npy", np.random.default_rng(i).uniform(0, 3, size=(500, 2)))
    files = sorted(tmp_path.glob("*.npy"))
    for line, file in zip(run("sweep_many", library, *files).splitlines(), files):
        assert line.startswith(f"{file.name}: most clusters, ")
        expected = epsflow.sweep(np.load(file), 0.1, 5)[0].labels
        np.testing.assert_array_equal(epsflow.load(file.with_suffix(".results")).labels(0.1, 5), expected)


def test_several_engines_at_the_same_time(example, tmp_path):
    pytest.importorskip("joblib")
    assert len(example.make_engines()) == 3 or "gpu" in epsflow.backends()
    lines = example.with_joblib(example.generate(tmp_path))
    assert [line.split(":")[0] for line in lines] == [f"points_{i}.npy" for i in range(6)]


def test_an_engine_for_each_gpu(example, monkeypatch):
    made = []
    monkeypatch.setattr(epsflow, "backends", lambda: {"cpu": "", "gpu": "0: A, 8 MiB; 2: B, 8 MiB"})
    monkeypatch.setattr(epsflow, "Engine", lambda backend, gpu, memory: made.append((backend, gpu)))
    example.make_engines()
    assert made == [("gpu", 0), ("gpu", 2)]


def test_live_windows(tmp_path, monkeypatch):
    text = run("live_windows", "tec", cwd=tmp_path)
    assert "merged  1 and 2 -> 2" in text and text.count("born") == 21  # five patches each six hours, and the sum
    tec_day = load(monkeypatch, "tec_day")
    np.save(tmp_path / "maps.npy", tec_day.generate(24))
    again = run("live_windows", "tec", tmp_path / "maps.npy", "0", "1", "2", "3")
    changes = [line for line in text.splitlines() if "->" in line]
    assert changes == [line for line in again.splitlines() if "->" in line]

    text = run("live_windows", "lightning")
    assert "merged  0 and 2 -> 0" in text and "ended   1 -> nothing" in text and "1800 steps" in text
    text = run("live_windows", "lidar")
    assert "split" not in text and "merged" not in text and text.count("born    nothing ->") == 13  # 12 cars and a post
    assert "150 steps" in text and "cluster 0: 160 points" in text
    failed = run_python(EXAMPLES / "live_windows.py", "lidar", "x")
    assert failed.returncode == 1 and "usage: live_windows.py" in failed.stderr
