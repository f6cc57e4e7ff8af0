#!/usr/bin/env python3
"""Compares epsflow sweep on several processes with one: for every input, the folders must be equal, and either can
continue them. EPSFLOW_MPIEXEC is the launcher with its options; EPSFLOW_RANKS lists the numbers of processes."""
import json
import math
import os
import random
import shlex
import signal
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from support import BINARY, ProgramTest, manifest, npz, printed_seed, summary, tree  # noqa: E402

MPIEXEC = shlex.split(os.environ["EPSFLOW_MPIEXEC"])
RANKS = [int(n) for n in os.environ["EPSFLOW_RANKS"].split(",")]
SEVERAL = [n for n in RANKS if n > 1]
N = 3000
VARIANTS = ["--eps", "0.05,0.1,0.3", "--minpts", "2,4,9"]


def npy(rows, letter="d", fortran=False):
    """Returns the bytes of an NPY file."""
    width = len(rows[0])
    values = [row[k] for k in range(width) for row in rows] if fortran else [x for row in rows for x in row]
    header = str({"descr": {"d": "<f8", "f": "<f4"}[letter], "fortran_order": fortran, "shape": (len(rows), width)})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        f"<{len(values)}{letter}", *values)


def cloud(seed, n=N):
    """Returns clumps and noise."""
    rng = random.Random(seed)
    centres = [(rng.uniform(0, 5), rng.uniform(0, 5)) for _ in range(12)]
    rows = []
    for _ in range(n):
        x, y = rng.choice(centres)
        spread = rng.choice([0.05, 0.2, 3])
        rows.append((rng.gauss(x, spread), rng.gauss(y, spread)))
    return rows


class SweepOverRanks(ProgramTest):
    def launch(self, ranks, *words, **kwargs):
        return subprocess.run([*MPIEXEC, str(ranks), BINARY, *map(str, words)], capture_output=True, text=True,
                              timeout=120, **kwargs)

    def own_lines(self, p):
        """Returns the messages of epsflow, without the launcher's."""
        return [line for line in p.stderr.splitlines() if line.startswith("epsflow: ")]

    def refused(self, code, parts, *words, ranks=None):
        """Checks that all processes end with `code` and that one line contains all `parts`."""
        p = self.launch(ranks or SEVERAL[0], *words)
        lines = [line for line in self.own_lines(p) if "; coordinates in " not in line]
        self.assertEqual((p.returncode, len(lines)), (code, 1), (p.stdout, p.stderr))
        for part in parts:
            self.assertIn(part, lines[0])

    def same_folder(self, one, other):
        """Checks that both folders hold the same files, except for times."""
        rows = [{key: {**row, "seconds": None} for key, row in summary(folder).items()} for folder in (one, other)]
        self.assertEqual(*rows)
        files, others = tree(one), tree(other)
        self.assertEqual(set(files), set(others))
        for name, content in files.items():
            if name.endswith(".npy"):
                self.assertEqual(content, others[name], name)
            if name.endswith(".npz"):  # an NPZ file contains its time
                self.assertEqual(npz(one / name), npz(other / name), name)
        a, b = manifest(one), manifest(other)
        self.assertEqual(a["input"], b["input"])
        self.assertEqual((a["status"], b["status"]), ("complete", "complete"))
        self.assertFalse((other / ".epsflow").exists())

    def compare(self, files, *options, out="c", core=("--core",)):
        """Sweeps with one process and with several."""
        options = (*core, *options)
        one = self.folder / f"{out}-one"
        p = self.succeeds("sweep", *files, *VARIANTS, *options, "--out", one)
        said = p.stderr.splitlines()
        for ranks in RANKS:
            with self.subTest(files=files, options=options, ranks=ranks):
                many = self.folder / f"{out}-{ranks}"
                q = self.launch(ranks, "sweep", *files, *VARIANTS, *options, "--out", many)
                self.assertEqual(q.returncode, 0, q.stderr)
                self.assertEqual(self.own_lines(q), said)
                self.assertEqual(q.stdout.count("eps  minpts"), 1)
                self.same_folder(one, many)

    def sweep_in_steps(self, points, *words, steps):
        """Runs a sweep with more eps from run to run, and returns the outputs. steps: how many processes each run has,
        or None for one without a launcher, and its eps."""
        outputs = []
        for i, (ranks, eps) in enumerate(steps):
            command = ["sweep", points, "--eps", eps, "--minpts", "2,4,9", "--core", "--out", self.folder / "out"]
            command += [*words, *(["--resume"] if i > 0 else [])]
            p = self.launch(ranks, *command) if ranks else self.succeeds(*command)
            self.assertEqual(p.returncode, 0, p.stderr)
            outputs.append(p.stdout)
        return outputs

    def points(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def test_kinds_of_files(self):
        """read_share_test.cpp and the tests of the readers have every kind of file."""
        rows = cloud(1)
        self.compare([self.points("f.npy", npy(rows, "f", fortran=True))], "--columns", "1,0", "--hdf5", out="f")
        flat = [x for row in rows for x in row]
        self.compare([self.points("r.raw", struct.pack(f"<{len(flat)}d", *flat))], "--dims", 2, out="r")
        for extension in ("fits", "h5"):
            made = self.folder / f"made-{extension}"
            self.succeeds("sweep", self.folder / "f.npy", "--eps", 0.1, "--minpts", 4, "--labelled", extension,
                          "--out", made)
            file = next((made / "labelled").glob(f"*.{extension}"))
            self.compare([file], "--columns", "0,1", out=extension)

    def test_several_files(self):
        rows = cloud(3)
        cuts = [0, 10, 700, 700 + N // 2, N]
        parts = [self.points(f"part{i}.npy", npy(rows[a:b], "df"[i % 2])) for i, (a, b) in
                 enumerate(zip(cuts, cuts[1:]))]
        for count in (2, 4):  # fewer than ranks, and more
            self.compare(parts[:count], out=f"p{count}")
        texts = [self.write(f"part{i}.csv",
                            "x,y\n" + "".join(f"{x},{y}\n" for x, y in rows[1000 * i : 1000 * i + 1000]))
                 for i in range(3)]
        self.compare(texts, out="texts")

    def test_few_points_and_dropped_rows(self):
        self.compare([self.points("one.npy", npy([(1, 2)]))], out="one")
        rows = cloud(4, 500)
        for i in (0, 3, 250, 251, 499):
            rows[i] = (math.nan, 1)
        self.compare([self.points("nan.npy", npy(rows))], "--on-nan", "drop", out="nan")

    def test_a_metric(self):
        rng = random.Random(5)
        sky = "lat,lon\n" + "".join(f"{rng.uniform(40, 42)},{rng.uniform(178, 182)}\n" for _ in range(1500))
        halves = [self.write("a.csv", sky), self.write("b.csv", sky), self.write("c.csv", sky)]
        self.compare(halves, "--metric", "greatcircle", "--unit", "deg", out="sky")

    def test_weights(self):
        rng = random.Random(10)
        rows = [(*row, rng.choice([0, 0.1, 0.5, 3, rng.uniform(-0.2, 2)])) for row in cloud(10)]
        points = self.points("w.npy", npy(rows))
        self.compare([points], "--weight", 2, out="w")
        texts = [self.write(f"w{i}.csv", "x,mass,y\n" + "".join(f"{x},{w},{y}\n" for x, y, w in rows[i::3]))
                 for i in range(3)]
        self.compare(texts, "--weight", "mass", out="texts")
        out = self.folder / "out"
        self.sweep_in_steps(points, "--weight", 2,
                            steps=((SEVERAL[0], "0.05"), (None, "0.05,0.1"), (SEVERAL[-1], "0.05,0.1,0.3")))
        self.same_folder(self.folder / "w-one", out)
        self.refused(3, ["other weights"], "sweep", self.points("o.npy", npy([(x, y, 1) for x, y, _ in rows])),
                     "--weight", 2, *VARIANTS, "--core", "--out", out, "--resume")
        huge = self.points("huge.npy", npy([*rows[:-2], (1, 1, -1), (0, 0, 1e300)]))
        self.refused(2, ["the weight of point", "would be lost beside that of point 2,999, 1e+300"], "sweep", huge,
                     "--weight", 2, *VARIANTS, "--out", self.folder / "huge")

    def test_counts_alone(self):
        points = self.points("p.npy", npy(cloud(11)))
        self.compare([points], "--keep", "summary", out="counts", core=())
        self.assertFalse((self.folder / f"counts-{SEVERAL[0]}" / "labels").exists())
        for more in (["--core"], ["--hdf5"]):
            self.refused(2, [more[0].lstrip("-"), "makes none"], "sweep", points, *VARIANTS, "--keep", "summary", *more,
                         "--out", self.folder / "refused")

    def test_lineage(self):
        points = self.points("p.npy", npy(cloud(12)))
        self.compare([points], "--lineage", out="l")
        self.compare([points], "--lineage", "--keep", "summary", out="k", core=())
        out = self.folder / "out"
        self.sweep_in_steps(points, "--lineage", steps=((SEVERAL[0], "0.05,0.3"), (SEVERAL[-1], "0.05,0.1,0.3")))
        self.same_folder(self.folder / "l-one", out)
        (out / "lineage.npz").unlink()
        p = self.launch(SEVERAL[0], "sweep", points, *VARIANTS, "--core", "--lineage", "--out", out, "--resume")
        self.assertEqual(p.returncode, 0, p.stderr)
        self.same_folder(self.folder / "l-one", out)
        below = self.points("below.npy", npy([(*row, -1) for row in cloud(13, 100)]))
        self.refused(2, ["some weights are below 0"], "sweep", below, "--weight", 2, *VARIANTS, "--lineage", "--out",
                     self.folder / "below")

    def test_going_on_with_another_number(self):
        points = self.points("p.npy", npy(cloud(6)))
        whole = self.folder / "whole"
        self.succeeds("sweep", points, *VARIANTS, "--core", "--out", whole)
        out = self.folder / "out"
        *made, last = self.sweep_in_steps(points, steps=((SEVERAL[0], "0.05"), (None, "0.05,0.1"),
                                                         (SEVERAL[-1], "0.05,0.1,0.3"), (None, "0.05,0.1,0.3")))
        self.assertTrue(all("3 variants" in text for text in made), made)
        self.assertIn("0 variants", last)
        self.same_folder(whole, out)
        again = self.launch(SEVERAL[0], "sweep", points, *VARIANTS, "--core", "--out", out, "--overwrite", "--json")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(len(json.loads(again.stdout)["variants"]), 9)
        self.same_folder(whole, out)
        other = self.points("other.npy", npy(cloud(7)))
        self.refused(3, ["another input"], "sweep", other, *VARIANTS, "--out", out, "--resume")
        self.refused(2, ["holds results already"], "sweep", points, *VARIANTS, "--out", out)
        self.succeeds("compare", whole, out)

    def test_failures(self):
        rows = cloud(8, 300)
        bad = list(rows)
        bad[299] = (1, math.inf)
        last = SEVERAL[-1]
        out = self.folder / "out"
        words = [*VARIANTS, "--out", out]
        self.refused(3, [f"rank {last - 1}: ", "bad.npy", "row 299, column 1 is inf"], "sweep",
                     self.points("bad.npy", npy(bad)), *words, ranks=last)
        good = self.points("good.npy", npy(rows))
        absent = [good] * (last - 1) + [self.folder / "absent.npy"]
        self.refused(3, [f"rank {last - 1}: ", "absent.npy", "No such file"], "sweep", *absent, *words, ranks=last)
        self.refused(3, ["absent.npy", "No such file"], "sweep", self.folder / "absent.npy", *words)
        wide = self.points("wide.npy", npy([(1, 2, 3)] * 4))
        self.refused(3, ["wide.npy has 3 columns, but", "good.npy has 2"], "sweep", good, wide, *words, ranks=last)
        a, b = self.write("a.csv", "x,y\n1,2\n"), self.write("b.csv", "x,z\n1,2\n")
        self.refused(3, ["name their columns differently"], "sweep", a, b, *words, ranks=2)
        self.refused(2, ["a.csv", "text", "NPY, HDF5 or Parquet"], "sweep", a, *words)
        self.refused(2, ["standard input"], "sweep", "-", *words)
        for option in (["--labelled", "csv"], ["--verify"], ["--strategy", "table"], ["--kernel", "global"],
                       ["--table-format", "packed"], ["--method", "each"]):
            with self.subTest(option=option):
                self.refused(2, [option[0], "is for one process"], "sweep", good, *words, *option)
        self.refused(2, ["--gpus is '0;1'", "numbers of GPUs as in 0,1"], "sweep", good, *words, "--gpus", "0;1")
        self.refused(2, ["--eps"], "sweep", good, "--minpts", 4, "--out", out)
        self.refused(3, ["outside the box"], "sweep", good, *words, "--box", "0:0.1")
        outside = self.points("outside.npy", npy([*[(1, 2)] * 9, (1, 8)]))
        self.refused(3, ["rank 1: 8 in row 4, column 1 is outside the box", "from row 5 of ", "outside.npy"], "sweep",
                     outside, *words, "--box", "0:5", ranks=2)
        # An error within the sweep ends all processes at once.
        self.refused(2, ["rank 0: ", "box"], "sweep", good, "--eps", 60, "--minpts", 2, "--out", out, "--box", "-50:50")
        self.refused(2, ["there is no command 'swep'"], "swep")
        self.refused(2, ["info is for one process"], "info")
        self.assertFalse(out.exists() and any(out.iterdir()), list(out.iterdir()) if out.exists() else "")
        p = self.launch(SEVERAL[0], "--version")
        self.assertEqual((p.returncode, p.stdout.count("epsflow ")), (0, 1))

    def test_kills(self):
        """If processes are killed in any way, --resume completes the folder."""
        seed = printed_seed()
        rng = random.Random(seed)
        points = self.points("p.npy", npy(cloud(9, 20_000)))
        words = ["sweep", points, "--eps", "0.02:0.3:0.02", "--minpts", "2,3,4,6,8,12,16,24,32,64"]
        whole, out = self.folder / "whole", self.folder / "out"
        begin = time.monotonic()
        self.succeeds(*words, "--out", whole)
        duration = 2 * (time.monotonic() - begin) + 0.5
        mark = f"{os.getpid()}_{seed}"
        for kill in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            mode = ["--resume"] if (out / "sweep.json").exists() or (out / ".epsflow").exists() else []
            p = subprocess.Popen([*MPIEXEC, str(SEVERAL[-1]), BINARY, *map(str, words), "--out", out, *mode],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                 env={**os.environ, "EPSFLOW_TEST_RUN": mark})
            try:
                p.wait(rng.uniform(0.2, duration))
            except subprocess.TimeoutExpired:
                if kill != signal.SIGKILL:
                    p.send_signal(kill)
                    p.wait(30)
                self.wait_until_gone(mark, kill == signal.SIGKILL)
                p.wait(30)
        resumed = ["--resume"] if out.exists() and any(out.iterdir()) else []
        p = self.launch(SEVERAL[0], *words, "--out", out, *resumed)
        self.assertEqual(p.returncode, 0, p.stderr)
        self.same_folder(whole, out)

    def running(self, mark):
        """Returns the processes of a launcher: all that have its EPSFLOW_TEST_RUN in their environment."""
        found = []
        for file in Path("/proc").glob("[0-9]*/environ"):
            try:
                if f"EPSFLOW_TEST_RUN={mark}".encode() in file.read_bytes().split(b"\0"):
                    found.append(int(file.parent.name))
            except OSError:  # the process has ended meanwhile
                pass
        return found

    def wait_until_gone(self, mark, kills):
        """Waits until all processes of a launcher have ended, as they may write. kills: kills them, also those that
        start meanwhile."""
        end = time.monotonic() + 20
        while time.monotonic() < end and (left := self.running(mark)):
            for pid in left if kills else []:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()
