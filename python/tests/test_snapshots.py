"""The program reads snapshots in the forms of SWIFT, Gadget-4 and Arepo; h5py makes them here."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from programs import succeeded

import epsflow

h5py = pytest.importorskip("h5py")

BOX = 10.0
COPY = "import shutil, sys; shutil.copyfileobj(open(sys.argv[1], 'rb'), sys.stdout.buffer)"
SWIFT_TYPES, GADGET_TYPES = 7, 6


def write_snapshot(path, particles, types=GADGET_TYPES, files=1, total=None, mass=0.0, code=None, box=BOX):
    """particles: the positions of each type."""
    counts = np.zeros(types, np.uint32)
    for number, positions in particles.items():
        counts[number] = len(positions)
    with h5py.File(path, "w") as file:
        header = file.create_group("Header").attrs
        header["NumPart_ThisFile"], header["NumPart_Total"] = counts, counts if total is None else total
        header["MassTable"] = np.array([0, mass, *[0] * (types - 2)], np.float64)
        header["BoxSize"] = np.full(3, box) if code == "SWIFT" else box
        header["NumFilesPerSnapshot"] = np.array([files]) if code == "SWIFT" else files
        if code:
            header["Code"] = np.bytes_(code)
        for number, positions in particles.items():
            held = file.create_group(f"PartType{number}")
            held.create_dataset("Coordinates", data=positions, chunks=True, compression="gzip")
            held["Velocities"] = (10 * positions).astype(np.float32)
            held["ParticleIDs"] = np.arange(len(positions), dtype=np.uint64)
            if not mass:
                held["Masses"] = np.full(len(positions), 2.0, np.float32)
    return path


@pytest.fixture
def matter():
    draw = np.random.default_rng(4)
    return draw.uniform(0, BOX, (500, 3)), draw.uniform(0, BOX, (300, 3))


@pytest.mark.parametrize("swift", [True, False])
def test_groups_of_dark_matter(tmp_path, program, matter, swift):
    dark, gas = matter
    kind = {"types": SWIFT_TYPES, "code": "SWIFT"} if swift else {"mass": 0.5}
    file = write_snapshot(tmp_path / "snap.hdf5", {0: gas, 1: dark}, **kind)
    words = (
        "fof", file, "--b", 0.4, "--min-size", 3, "--velocity", "vx,vy,vz", "--catalog", tmp_path / "c.csv",
        "--out", tmp_path / "g.npy",
    )
    done = succeeded(program(*words, "--attach", "gas", "--attached", tmp_path / "gas.npy"))
    expected = epsflow.friends_of_friends(dark, b=0.4, box=BOX, min_size=3, attach=gas)
    np.testing.assert_array_equal(np.load(tmp_path / "g.npy"), expected.labels)
    np.testing.assert_array_equal(np.load(tmp_path / "gas.npy"), expected.attached)
    table = np.genfromtxt(tmp_path / "c.csv", delimiter=",", names=True)
    np.testing.assert_allclose(table["Masses_total"], table["size"] * (2.0 if swift else 0.5), rtol=1e-12)
    np.testing.assert_array_equal(table["attached"], expected.catalog["attached"])
    first = expected.labels == 0
    velocity = (10 * dark[first, 0]).astype(np.float32).mean(dtype=np.float64)
    np.testing.assert_allclose(table["vx_mean"][0], velocity, rtol=1e-6)
    for text in ("--box 10,10,10", "dark-matter (PartType1)", "--weight Masses", "attached"):
        assert text in done.stderr + done.stdout, text
    assert ("SWIFT snapshot" in done.stderr) == swift


def test_files_of_one_snapshot_and_particles_by_name_or_number(tmp_path, program, matter):
    dark, gas = matter
    total = np.array([300, 500, 0, 0, 0, 0], np.uint32)
    first = write_snapshot(tmp_path / "snap_000.0.hdf5", {1: dark[:200]}, files=2, total=total)
    second = write_snapshot(tmp_path / "snap_000.1.hdf5", {0: gas, 1: dark[200:]}, files=2, total=total)
    succeeded(program("fof", first, second, "--b", 0.4, "--out", tmp_path / "g.npy", "--quiet"))
    expected = epsflow.friends_of_friends(dark, b=0.4, box=BOX).labels
    np.testing.assert_array_equal(np.load(tmp_path / "g.npy"), expected)
    assert "one of 2 files" in succeeded(program("fof", first, "--b", 0.4)).stderr
    for word in ("gas", "0"):
        done = program("fof", first, second, "--particles", word, "--b", 0.4, "--json", "--quiet")
        assert json.loads(done.stdout)["points"] == 300
    done = program("fof", first, "--particles", "stars", "--b", 0.4)
    assert done.returncode == 3
    assert all(text in done.stderr for text in ("stars", "gas, dark-matter", "--particles")), done.stderr


def test_a_sweep_takes_the_box_unless_another_is_given(tmp_path, program, matter):
    dark, _ = matter
    file = write_snapshot(tmp_path / "snap.hdf5", {1: dark})
    for more, params in (((), {"box": BOX}), (("--box", "-"), {}), (("--metric", "manhattan"), {"box": BOX})):
        out = tmp_path / f"r{len(more)}{more[-1:] == ('-',)}"
        succeeded(program("sweep", file, "--eps", 0.9, "--minpts", 4, "--out", out, *more))
        metric = "manhattan" if "manhattan" in more else "euclidean"
        expected = epsflow.sweep(dark, eps=0.9, min_samples=4, metric=metric, metric_params=params or None)[0].labels
        np.testing.assert_array_equal(np.load(next(out.rglob("eps*.npy"))), expected)


def test_masses_that_nobody_asked_for_are_left_out_of_a_pipe(tmp_path, program, matter):
    file = write_snapshot(tmp_path / "snap.hdf5", {1: matter[0]})
    for extra in ((), ("--weight", "Masses")):
        with subprocess.Popen([sys.executable, "-c", COPY, file], stdout=subprocess.PIPE) as piped:
            words = ("fof", "-", "--linking-length", 0.5, "--catalog", "-", *extra)
            found = succeeded(program(*words, stdin=piped.stdout))
        assert piped.returncode == 0 and ("Masses_total" in found.stdout) == bool(extra), found.stdout
        assert ("left out" in found.stderr and "--weight Masses" in found.stderr) != bool(extra), found.stderr


def test_a_file_that_is_called_as_a_type_of_particles_is(tmp_path, program):
    dark, gas = np.array([[1, 1, 1], [1.1, 1, 1]]), np.array([[1.05, 1, 1], [6, 6, 6]])
    file = write_snapshot(tmp_path / "snap.hdf5", {0: gas, 1: dark})
    plain = tmp_path / "plain.csv"
    plain.write_text("x,y,z\n5,5,5\n5,5,5\n")

    def attached(labels, file, name):
        words = ("fof", file, "--linking-length", 0.15, "--attach", name, "--attached", "-")
        done = succeeded(program(*words, cwd=tmp_path))
        assert done.stdout.split() == ["label", *labels]
        return done.stderr

    attached(["0", "-1"], file, "gas")
    (tmp_path / "gas").write_text("x,y,z\n5,5,5\n")
    assert "./gas" in attached(["0", "-1"], file, "gas")
    attached(["-1"], file, "./gas")
    attached(["0"], plain, "gas")  # the input is not a snapshot, so the name means the file
    (tmp_path / "dark-matter").mkdir()
    words = ("--linking-length", 0.15, "--attach", "dark-matter", "--attached", "-", "--quiet")
    done = program("fof", file, *words, cwd=tmp_path)
    assert done.returncode == 2 and "dark-matter" in done.stderr and "name others" in done.stderr, done.stderr


def test_what_cannot_be_is_said(tmp_path, program, matter):
    dark, gas = matter
    file = write_snapshot(tmp_path / "snap.hdf5", {0: gas, 1: dark})
    table = tmp_path / "points.csv"
    np.savetxt(table, dark, delimiter=",", header="x,y,z", comments="")
    small = write_snapshot(tmp_path / "small.hdf5", {1: dark}, box=1.0)
    opened = write_snapshot(tmp_path / "open.hdf5", {1: dark}, box=0.0)
    wrong = {mass: write_snapshot(tmp_path / f"{mass}.hdf5", {1: dark}) for mass in ("nan", "-1", "inf")}
    for mass, path in wrong.items():
        with h5py.File(path, "a") as held:
            held["PartType1/Masses"][1] = float(mass)
    for code, texts, words in (
        (2, ["--attached", "--attach"], (file, "--b", 0.2, "--attached", "a.npy")),
        (2, ["--attached", "--catalog"], (file, "--b", 0.2, "--attach", "gas")),
        (2, ["dark-matter", "linked"], (file, "--b", 0.2, "--attach", "dark-matter", "--attached", tmp_path / "a.npy")),
        (2, ["--particles", "text"], (table, "--linking-length", 1, "--particles", "gas")),
        (3, ["outside the box"], (small, "--linking-length", 1)),
        (2, ["--b", "--box"], (opened, "--b", 0.2)),
        (2, ["swift", "--particles"], (file, "--b", 0.2, "--particles", "swift")),
        (3, ["stars", "gas"], (file, "--b", 0.2, "--attach", "stars", "--attached", tmp_path / "a.npy")),
        *((3, ["row 1", mass, "column Masses", "--weight"], (path, "--b", 0.2, "--catalog", "-", "--quiet"))
          for mass, path in wrong.items()),
    ):
        done = program("fof", *words)
        assert done.returncode == code, (words, done.stderr)
        for text in texts:
            assert text in done.stderr, (words, text, done.stderr)
    files = ("--attach", table, "--attached", tmp_path / "same.npy", "--out", tmp_path / "g.npy")
    succeeded(program("fof", table, "--linking-length", 0.6, "--box", 10, *files))
    np.testing.assert_array_equal(np.load(tmp_path / "same.npy"), np.load(tmp_path / "g.npy"))


def contents(path):
    """Returns the attributes of each object of an HDF5 file, and the values of each data set."""
    held = {}

    def visit(name, thing):
        arrays = dict(thing.attrs, **({"values": thing[...]} if isinstance(thing, h5py.Dataset) else {}))
        held[name] = {key: (np.asarray(array).dtype.kind, np.asarray(array).tolist()) for key, array in arrays.items()}

    with h5py.File(path) as file:
        visit("/", file)
        file.visititems(visit)
    return held


def test_the_catalogue_of_swift_is_that_of_python(tmp_path, program, matter):
    dark, _ = matter
    file = write_snapshot(tmp_path / "snap.hdf5", {1: dark}, mass=0.5)
    words = ("fof", file, "--b", 0.4, "--min-size", 3, "--dialect", "swift", "--catalog", tmp_path / "program.hdf5")
    succeeded(program(*words, "--cgs", "2e24,3e43"))
    groups = epsflow.friends_of_friends(dark, b=0.4, box=BOX, min_size=3, weights=np.full(len(dark), 0.5))
    groups.to_swift(tmp_path / "python.hdf5", length=2e24, mass=3e43)
    assert contents(tmp_path / "program.hdf5") == contents(tmp_path / "python.hdf5") and groups.n_groups > 3
    assert program(*words).returncode == 2  # the file exists
    assert "10^10 solar masses" in program(*words, "--overwrite").stderr
    for texts, more in (
        (["--stats", ".csv"], ("--stats", "vx", "--overwrite")),
        (["--cgs", "1 number"], ("--cgs", "1", "--overwrite")),
        (["--cgs", "-1"], ("--cgs", "1,-1", "--overwrite")),
    ):
        done = program(*words, *more)
        assert done.returncode == 2 and all(text in done.stderr for text in texts), done.stderr
    done = program("fof", file, "--b", 0.4, "--catalog", tmp_path / "c.csv", "--cgs", "1,1")
    assert done.returncode == 2 and "--dialect swift" in done.stderr
