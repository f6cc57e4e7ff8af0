"""Tests results folders: two runs at once, files of other programs, damage, full disks, and killed runs."""
import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import time
import unittest
import zlib

from support import (
    SQUARES, ProgramTest, limit_files, manifest, npy, npy_labels, npz, printed_seed, start, summary, tree)


def labels(folder):
    return {key: npy_labels(folder / row["labels"]) for key, row in summary(folder).items()}


def counts(folder):
    """Returns the rows of summary.csv without the values that differ between runs."""
    return {key: [row[name] for name in ("clusters", "noise", "core", "border", "largest")]
            for key, row in summary(folder).items()}


def core_mask(folder, eps, minpts):
    return npy(folder / f"core/eps_{eps:g}_minpts_{minpts}.npy", "|b1")


def of_variants(files):
    """Returns those files of a tree that are in folders: labels and the like."""
    return {name: data for name, data in files.items() if "/" in name}


class Weights(ProgramTest):
    def test_they_decide_which_points_are_core(self):
        points = self.write("p.csv", "x,y,w\n0,0,1\n0.1,0,2\n9,9,2.9\n9,9.1,-0.5\n5,5,3\n")
        cluster = ["cluster", points, "--eps", 0.5, "--minpts", 3, "--verify"]
        for words in ([], ["--strategy", "table"], ["--strategy", "direct"], ["--index", "tree"]):
            self.assertEqual(self.labels_of(*cluster, "--weight", "w", *words), (0, 0, -1, -1, 1))
        self.assertEqual(self.labels_of(*cluster, "--columns", "x,y"), (-1,) * 5)

    def test_they_are_a_part_of_the_input(self):
        points = self.write("p.csv", "x,y,w,v\n0,0,1,1\n0.1,0,2,2\n9,9,1,3\n")
        sweep = ["sweep", points, "--columns", "x,y", "--eps", 0.5, "--minpts", 2, "--out", self.out]
        self.succeeds(*sweep, "--weight", "w")
        described = manifest(self.out)
        self.assertEqual((described["metric"], described["input"]["weight"]), ("euclidean, weighted", "w"))
        self.assertEqual((described["input"]["columns"], described["options"]["weight"]), (["x", "y"], "w"))
        self.fails(3, ["other weights of the points", "--overwrite"], *sweep, "--weight", "v", "--resume")


class Results(ProgramTest):
    def setUp(self):
        super().setUp()
        self.points = self.write("p.csv", SQUARES)

    def sweep(self, *words, eps="0.1,0.15", minpts="3,4", points=None):
        return ["sweep", points or self.points, "--eps", eps, "--minpts", minpts, "--out", self.out, *words]

    def described(self):
        return manifest(self.out)

    def swept(self, *words, **kwargs):
        """Runs a sweep, after which the folder must be sound."""
        p = self.succeeds(*self.sweep(*words, **kwargs))
        self.assert_sound()
        return p

    def resumed(self, number, *words, **kwargs):
        """Resumes the sweep, and checks how many variants it clusters."""
        p = self.swept("--resume", *words, **kwargs)
        self.assertRegex(p.stdout, rf"(?m)^{number} variants? of ")
        return p

    def assert_sound(self):
        """Checks that every file that the folder lists exists with its checksum, and that there is no other file."""
        named = {"summary.csv", "sweep.json"}
        for row in summary(self.out).values():
            if row["labels"] == "":  # only counts were kept
                self.assertEqual(row["crc32"], "")
                continue
            named.add(row["labels"])
            self.assertEqual(f"{zlib.crc32((self.out / row['labels']).read_bytes()):08x}", row["crc32"])
        for file in self.described()["files"]:
            named.add(file["name"])
            content = (self.out / file["name"]).read_bytes()
            self.assertEqual((len(content), f"{zlib.crc32(content):08x}"), (file["bytes"], file["crc32"]), file)
        self.assertEqual(set(tree(self.out)), named)


# sweep.json of SQUARES as epsflow wrote it before folders could hold hierarchies.
OLD = """{
  "program": "epsflow", "version": "0.1.0", "status": "complete", "started": "2026-11-28T11:45:56Z", "seconds": 0.01,
  "variants": 1, "metric": "euclidean",
  "input": {
    "files": [{"name": "p.csv", "kind": "text, comma-separated, header in line 1", "rows": 9, "dropped_rows": 0}],
    "checksum": "crc32:b7641d69", "points": 9, "dims": 2, "precision": "float64",
    "columns": ["x", "y"], "column_numbers": [0, 1], "dropped_rows": 0},
  "options": {"eps": "0.2", "minpts": "3", "out": "results"},
  "machine": {"processor": "AMD EPYC", "cores": "2", "memory": "23.5 GiB"},
  "runs": [{
    "status": "complete", "started": "2026-11-28T11:45:56Z", "seconds": 0.01, "version": "0.1.0",
    "options": {"eps": "0.2", "minpts": "3", "out": "results"},
    "machine": {"processor": "AMD EPYC", "cores": "2", "memory": "23.5 GiB"}}],
  "results": [{
    "eps": 0.2, "minpts": 3, "clusters": 2, "noise": 1, "core": 8, "border": 0, "largest": 4, "seconds": 0.0003}],
  "files": [{"name": "labels/eps_0.2_minpts_3.npy", "bytes": 164, "crc32": "12db85d7"}]
}"""


class OldFolder(Results):
    def test_it_is_read_and_added_to(self):
        self.succeeds(*self.sweep(eps="0.2", minpts="3"))
        for file in self.out.iterdir():
            if file.is_file():
                file.unlink()
        (self.out / "sweep.json").write_text(OLD)
        self.succeeds("report", self.out, "--input", self.points, "--out", self.folder / "page.html")
        self.succeeds("compare", self.out, self.out)
        self.assertNotIn("made again", self.resumed(1, eps="0.2", minpts="3,4").stderr)
        self.assertEqual(len(self.described()["runs"]), 2)
        self.assertIn(json.loads(OLD)["results"][0], self.described()["results"])  # with the seconds of that run


class TwoRuns(Results):
    def test_a_second_run_into_a_folder_is_refused_while_the_first_goes_on(self):
        (self.out / ".epsflow").mkdir(parents=True)
        with open(self.out / ".epsflow/lock", "w") as lock:  # as a run locks it
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.write("12345")
            lock.flush()
            for words in ([], ["--resume"], ["--overwrite"]):
                self.fails(2, ["being written by process 12345"], *self.sweep(*words))
        self.swept()  # the lock ends with its process

    def test_of_runs_that_start_together_one_writes(self):
        points = self.generated("tec", 50_000)
        runs = [start("sweep", points, "--columns", "0,1", "--eps", eps, "--minpts", "4:40:4", "--out", self.out)
                for eps in ("0.1:0.4:0.1", "0.15:0.45:0.1")]
        codes = []
        for run in runs:
            run.communicate(timeout=120)
            codes.append(run.returncode)
        self.assertEqual(sorted(codes), [0, 2])
        self.assertEqual({eps for eps, _ in summary(self.out)}, {0.1, 0.2, 0.3, 0.4} if codes[0] == 0 else
                         {0.15, 0.25, 0.35, 0.45})
        self.assert_sound()


class Strangers(Results):
    def test_files_of_others_are_named_and_left_alone(self):
        for name in ("summary.csv", "sweep.json", "trace.json", "sweep.h5", "rows.npy", "labels/eps_0.1_minpts_3.npy"):
            for words in ([], ["--resume"], ["--overwrite"]):
                self.out.mkdir()
                (self.out / name).parent.mkdir(exist_ok=True)
                (self.out / name).write_text("mine")
                before = tree(self.out)
                # The error comes before the input is opened.
                self.fails(2, [name, "was not written by epsflow"],
                           *self.sweep(*words, points=self.folder / "no-such.csv"))
                self.assertEqual(tree(self.out), before)
                shutil.rmtree(self.out)

    def test_other_files_in_the_folder_stay(self):
        self.succeeds(*self.sweep())
        (self.out / "notes.txt").write_text("mine")
        (self.out / "labels/mine.npy").write_text("mine")
        self.succeeds(*self.sweep("--overwrite", eps="0.2"))
        self.assertEqual(set(tree(self.out)),
                         {"notes.txt", "labels/mine.npy", "summary.csv", "sweep.json", "trace.json",
                          "labels/eps_0.2_minpts_3.npy", "labels/eps_0.2_minpts_4.npy"})

    def test_a_manifest_that_leads_out_of_the_folder_is_refused(self):
        victim = self.write("victim.npy", "mine")
        self.succeeds(*self.sweep())
        text = (self.out / "sweep.json").read_text()
        for name in ("labels/eps_/../../../victim.npy", str(victim), "../victim.npy"):
            described = json.loads(text)
            described["files"].append({"name": name, "bytes": 4, "crc32": "00000000"})
            (self.out / "sweep.json").write_text(json.dumps(described))
            for mode in ("--overwrite", "--resume"):
                self.fails(2, ["sweep.json", "never writes"], *self.sweep(mode))
        self.assertEqual(victim.read_text(), "mine")

    def test_a_link_out_of_the_folder_is_not_followed(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        self.out.write_text("mine")
        self.fails(2, ["results is no folder; move it away"], *self.sweep())
        self.out.unlink()
        self.out.mkdir()
        for name in ("labels", ".epsflow"):
            os.symlink(elsewhere, self.out / name)
            self.fails(2, [name, "is no folder of its own"], *self.sweep())
            (self.out / name).unlink()
        self.assertEqual(list(elsewhere.iterdir()), [])

    def test_an_input_among_the_results_is_not_replaced(self):
        self.succeeds(*self.sweep())
        before = tree(self.out)
        self.fails(2, ["the input", "copy it"],
                   *self.sweep("--overwrite", points=self.out / "labels/eps_0.1_minpts_3.npy"))
        self.assertEqual(tree(self.out), before)


class Resumed(Results):
    def test_label_files_that_changed_are_made_again(self):
        self.succeeds(*self.sweep())
        whole = tree(self.out)
        self.fails(2, ["holds results already", "--resume", "--overwrite"], *self.sweep())
        rotten = self.out / "labels/eps_0.1_minpts_3.npy"
        content = bytearray(rotten.read_bytes())
        content[-1] ^= 4
        rotten.write_bytes(content)
        (self.out / "labels/eps_0.15_minpts_4.npy").unlink()
        p = self.resumed(2)
        for name in ("labels/eps_0.1_minpts_3.npy is missing or has changed",
                     "labels/eps_0.15_minpts_4.npy is missing"):
            self.assertIn(name, p.stderr)
        self.assertEqual(of_variants(tree(self.out)), of_variants(whole))

    def test_sweep_h5_and_the_list_of_runs_follow(self):
        self.succeeds(*self.sweep("--hdf5", eps="0.1"))
        before = (self.out / "sweep.h5").read_bytes()
        self.resumed(4, eps="0.15,0.2")
        self.assertNotEqual((self.out / "sweep.h5").read_bytes(), before)
        described = self.described()
        self.assertEqual([(run["options"]["eps"], run["status"]) for run in described["runs"]],
                         [("0.1", "complete"), ("0.15,0.2", "complete")])
        self.assertEqual(described["input"]["column_numbers"], [0, 1])
        (self.out / "sweep.h5").unlink()
        self.assertIn("sweep.h5 is missing", self.resumed(0, "--hdf5", eps="0.15,0.2").stderr)
        self.assert_sound()

    def test_rows_of_dropped_and_joined_inputs_are_told(self):
        first = self.write("a.csv", "x,y\n0,0\nnan,1\n0.1,0\n")
        second = self.write("b.csv", "x,y\nnan,nan\n0,0.1\n")
        self.succeeds("sweep", first, second, "--on-nan", "drop", "--eps", 0.2, "--minpts", 2, "--out", self.out)
        self.assertEqual(npy(self.out / "rows.npy", "<i8"), (0, 2, 4))
        self.assertEqual(labels(self.out), {(0.2, 2): (0, 0, 0)})
        self.assertEqual([(f["rows"], f["dropped_rows"]) for f in self.described()["input"]["files"]], [(3, 1), (2, 1)])
        self.assert_sound()


class Failing(Results):
    def test_an_overwrite_that_fails_keeps_the_old_results(self):
        self.succeeds(*self.sweep())
        before = tree(self.out)
        points = self.generated("uniform", 100_000)
        self.fails(4, ["--memory"],
                   *self.sweep("--overwrite", "--memory", "32M", "--strategy", "table", eps="0.1", points=points))
        self.fails(3, ["no-such"], *self.sweep("--overwrite", points=self.folder / "no-such.csv"))
        self.fails(4, ["cannot write", "File too large", "wanted"],
                   *self.sweep("--overwrite", points=points, eps="0.001"), preexec_fn=limit_files(100_000))
        self.assertEqual(tree(self.out), before)

    def test_a_sweep_h5_that_cannot_be_written_is_a_failure_and_the_labels_stay(self):
        points = self.generated("uniform", 20_000)
        # There are labels of 80 kB each, and a sweep.h5 with all of them.
        words = self.sweep("--hdf5", points=points, eps="0.008,0.01", minpts="3:12:1")
        self.fails(4, ["results/sweep.h5: File too large"], *words, preexec_fn=limit_files(160_000))
        described = self.described()
        self.assertEqual((described["status"], described["variants"]), ("failed", 20))
        self.assertIn("sweep.h5", described["reason"])
        self.assert_sound()
        self.assertIn("0 variants", self.succeeds(*words, "--resume").stdout)
        self.assertEqual(self.described()["status"], "complete")
        self.assertTrue((self.out / "sweep.h5").exists())
        self.assert_sound()

    @unittest.skipUnless(os.geteuid() == 0, "only root may mount a small disk")
    def test_a_full_disk_says_so(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk],
                          capture_output=True).returncode != 0:
            self.skipTest("mounting is not allowed here")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        points = self.generated("uniform", 50_000)
        self.out = disk / "results"
        words = self.sweep(points=points, eps="0.001:0.01:0.001", minpts="3")
        p = self.fails(4, ["No space left on device", "195.4 KiB wanted", "it may get full"], *words)
        self.assertNotIn("18446744073709551615", p.stderr)
        if self.out.exists():
            self.assertEqual(self.described()["status"], "failed")
        for name in ("l.h5", "l.fits", "l.npy", "l.csv"):
            filler = disk / "filler"
            filler.write_bytes(bytes(max(0, shutil.disk_usage(disk).free - 100_000)))
            self.fails(4, [name, "No space left on device"], "cluster", points, "--eps", 0.001, "--minpts", 3,
                       "--out", disk / name)
            self.assertFalse((disk / name).exists())


KEPT = ["--keep", "summary"]


class Summaries(Results):
    """Tests sweep --keep summary."""

    def kept(self, *words, **kwargs):
        return self.sweep(*KEPT, *words, **kwargs)

    def test_counts_are_those_of_a_sweep_with_labels(self):
        self.succeeds(*self.sweep())
        whole = counts(self.out)
        shutil.rmtree(self.out)
        self.assertIn("counts in", self.swept(*KEPT).stdout)
        self.assertEqual(counts(self.out), whole)
        self.assertEqual(set(tree(self.out)), {"summary.csv", "sweep.json", "trace.json"})
        self.assertEqual([r["labels"] for r in self.described()["results"]], [False] * 4)
        self.assertEqual([v["labels"] for v in self.json(*self.kept("--resume"))["variants"]], [None] * 4)
        self.assert_sound()

    def test_labels_are_added_and_stay(self):
        self.succeeds(*self.kept())
        self.resumed(0, *KEPT)
        self.resumed(2, eps="0.1")
        self.assertEqual([row["labels"] != "" for row in summary(self.out).values()], [True, True, False, False])
        # Existing counts are not recomputed, and labels stay.
        self.resumed(0, *KEPT)
        self.resumed(2, *KEPT, eps="0.1,0.2")
        self.assertEqual([row["labels"] != "" for row in summary(self.out).values()],
                         [True, True, False, False, False, False])
        self.resumed(4, "--core", eps="0.15,0.2")
        self.assertEqual(len(labels(self.out)), 6)

    def test_labels_that_are_lost_are_counts_where_these_are_asked_for(self):
        self.succeeds(*self.sweep())
        lost = self.out / "labels/eps_0.1_minpts_3.npy"
        lost.unlink()
        self.resumed(1, *KEPT)
        self.assertFalse(lost.exists())
        self.resumed(1)
        self.assertEqual(len(labels(self.out)), 4)

    def test_what_needs_labels_is_refused_before_the_input_is_read(self):
        for option in ("--core", "--hdf5", "--verify", "--labelled csv"):
            words = option.split()
            self.fails(2, [words[0], "--keep summary makes none", "leave one of them out"],
                       *self.kept(*words, points=self.folder / "no-such.csv"))
            self.assertFalse(self.out.exists())
        self.fails(2, ["--keep", "labels", "summary"], *self.sweep("--keep", "core"))  # it is for the library

    def test_others_say_that_there_are_no_labels(self):
        self.succeeds(*self.kept())
        other = self.folder / "other"
        self.succeeds("sweep", self.points, "--eps", "0.1,0.15", "--minpts", "3,4", "--out", other)
        none = ["results has no labels of eps 0.1 and minpts 3, as --keep summary left them out", "--resume"]
        self.fails(3, none, "compare", self.out, "--cell", "0.1:3", "--cell", "0.1:4")
        self.fails(3, none, "compare", self.out, other)
        self.fails(3, none, "compare", other, self.out, "--cell", "0.1:3")
        self.fails(3, none, "compare", other / "labels/eps_0.1_minpts_3.npy", self.out, "--cell", "0.1:3")
        self.fails(3, [*none, "--core"], "predict", self.points, "--results", self.out, "--eps", 0.1, "--minpts", 3,
                   "--out", self.folder / "l.npy")
        self.assertFalse((self.folder / "l.npy").exists())

    def test_an_interrupted_replacement_with_labels_is_gone_on_with_without(self):
        # An interrupted `sweep --overwrite` leaves the old results, and new ones in a hidden folder.
        self.succeeds(*self.sweep(eps="0.3"))
        fresh = self.folder / "fresh"
        self.succeeds("sweep", self.points, "--eps", "0.1,0.15", "--minpts", "3,4", "--out", fresh)
        hidden = self.out / ".epsflow"
        hidden.mkdir()
        described = manifest(fresh)
        begin = "begin " + json.dumps({"replaces": True, "input": described["input"], "run": described["runs"][0]})
        (hidden / "journal").write_text(f"{begin} {zlib.crc32(begin.encode()):08x}\n")
        shutil.copytree(fresh, hidden / "replacement")
        self.assertIn("0 variants", self.swept(*KEPT, "--overwrite").stdout)
        self.assertFalse((self.out / "labels").exists())
        self.resumed(4)


class LineageFile(Results):
    """Tests sweep --lineage."""

    NAMES = {"eps", "minpts", "clusters", "core", "noise", "wider", "looser", "offsets", "first_core", "core_points",
             "size", "parent_eps", "parent_minpts"}

    def setUp(self):
        super().setUp()
        self.points = self.generated("tec", 2000, "--seed", 3)

    def sweep(self, *words, eps="0.2,0.3,0.5", minpts="4,8,30", points=None):
        return [*super().sweep(*words, eps=eps, minpts=minpts, points=points), "--columns", "0,1"]

    def lineage(self):
        return npz(self.out / "lineage.npz")

    def test_it_agrees_with_labels_and_core_points(self):
        self.swept("--lineage", "--core")
        arrays = self.lineage()
        self.assertEqual(set(arrays), self.NAMES)
        cells = list(zip(arrays["eps"], arrays["minpts"]))
        self.assertEqual(cells, [(eps, minpts) for eps in (0.2, 0.3, 0.5) for minpts in (4, 8, 30)])
        found = labels(self.out)
        for i, (eps, minpts) in enumerate(cells):
            row = summary(self.out)[eps, minpts]
            self.assertEqual([str(arrays[name][i]) for name in ("clusters", "noise", "core")],
                             [row[name] for name in ("clusters", "noise", "core")])
            begin, end = arrays["offsets"][i : i + 2]
            self.assertEqual(end - begin, arrays["clusters"][i])
            mine, core = found[eps, minpts], core_mask(self.out, eps, minpts)
            for k in range(end - begin):
                members = [p for p, label in enumerate(mine) if label == k]
                cores = [p for p in members if core[p]]
                self.assertEqual([arrays[name][begin + k] for name in ("size", "core_points", "first_core")],
                                 [len(members), len(cores), cores[0]])
                for name, parent, wider in (("wider", "parent_eps", 1), ("looser", "parent_minpts", 0)):
                    e, m = (0.2, 0.3, 0.5).index(eps) + wider, (4, 8, 30).index(minpts) - (1 - wider)
                    there = e * 3 + m if e < 3 and m >= 0 else -1
                    self.assertEqual(arrays[name][i], there)
                    ancestors = {found[cells[there]][p] for p in cores} if there >= 0 else {-1}
                    self.assertEqual({arrays[parent][begin + k]}, ancestors)
        self.assertGreater(arrays["offsets"][-1], 50)

    def test_it_is_the_same_without_labels_and_made_in_parts(self):
        self.succeeds(*self.sweep("--lineage"))
        whole = self.lineage()
        shutil.rmtree(self.out)
        self.succeeds(*self.sweep("--lineage", "--keep", "summary"))
        self.assertEqual(self.lineage(), whole)
        shutil.rmtree(self.out)
        # The lineage has all variants of the folder, not only the variants of the last request.
        self.succeeds(*self.sweep("--lineage", eps="0.3"))
        self.assertEqual(set(self.lineage()["eps"]), {0.3})
        self.succeeds(*self.sweep("--lineage", "--resume", eps="0.2"))
        self.assertEqual(self.lineage()["eps"], (0.2,) * 3 + (0.3,) * 3)
        self.assertIn("lineage.npz is removed, as it does not know of the variants that are added",
                      self.resumed(3, eps="0.5").stderr)
        self.assertFalse((self.out / "lineage.npz").exists())
        self.swept("--lineage", "--resume", "--json", eps="0.3", minpts="8")
        self.assertEqual(self.lineage(), whole)

    def test_it_is_made_again_where_it_was_lost_and_only_there(self):
        self.succeeds(*self.sweep("--lineage"))
        whole = self.lineage()
        inode = (self.out / "lineage.npz").stat().st_ino
        self.succeeds(*self.sweep("--lineage", "--resume"))
        self.assertEqual((self.out / "lineage.npz").stat().st_ino, inode)
        self.succeeds(*self.sweep("--resume"))
        self.assertEqual((self.out / "lineage.npz").stat().st_ino, inode)
        for damage in (lambda file: file.unlink(), lambda file: file.write_bytes(file.read_bytes()[:-5])):
            damage(self.out / "lineage.npz")
            self.assertIn("lineage.npz is missing or has changed", self.resumed(0, "--lineage").stderr)
            self.assertEqual(self.lineage(), whole)
        # Another sweep has no lineage.
        self.swept("--overwrite")
        self.assertFalse((self.out / "lineage.npz").exists())

    def test_an_eps_that_the_folder_holds_to_rounding_is_that(self):
        self.succeeds(*self.sweep(eps="0.3", minpts="4"))
        p = self.swept("--lineage", "--resume", "--core", eps="0.3000000000001", minpts="4,8")
        self.assertIn("is taken for eps 0.3000000000001", p.stderr)
        self.assertEqual(self.lineage()["eps"], (0.3, 0.3000000000001))
        self.assertIn((0.3, 4), summary(self.out))
        self.assertTrue((self.out / "core/eps_0.3_minpts_4.npy").exists())

    def test_what_it_cannot_be_made_of_is_refused_before_the_input_is_read(self):
        self.fails(2, ["--lineage", "--method each", "leave one of them out"],
                   *self.sweep("--lineage", "--method", "each", points=self.folder / "no-such.npy"))
        self.assertFalse(self.out.exists())
        points = self.write("w.csv", "x,y,w\n0,0,1\n1,1,-1\n2,2,1\n")
        self.fails(2, ["--lineage", "some weights are below 0"], "sweep", points, "--weight", "w", "--eps", 1,
                   "--minpts", 2, "--lineage", "--out", self.out)
        self.assertFalse(self.out.exists())

    def test_files_of_others_stay(self):
        for name in ("lineage.npz", "map.csv", "explore.json"):
            self.out.mkdir()
            (self.out / name).write_text("mine")
            if name == "lineage.npz":
                for words in ([], ["--resume"], ["--overwrite"]):
                    self.fails(2, [name, "was not written by epsflow"],
                               *self.sweep("--lineage", *words, points=self.folder / "no-such.csv"))
            # No lineage was requested.
            self.succeeds(*self.sweep())
            self.succeeds(*self.sweep("--resume", eps="0.4"))
            self.succeeds(*self.sweep("--overwrite"))
            self.assertEqual((self.out / name).read_text(), "mine")
            shutil.rmtree(self.out)

    def test_an_input_may_be_called_map_csv_unless_one_is_written(self):
        self.out.mkdir()
        points = self.out / "map.csv"
        points.write_text(SQUARES)
        words = ["--eps", 0.2, "--minpts", 3, "--out", self.out]
        self.succeeds("sweep", points, *words)
        self.assertEqual(points.read_text(), SQUARES)
        shutil.rmtree(self.out / "labels")
        for name in ("sweep.json", "summary.csv", "trace.json"):
            (self.out / name).unlink()
        self.fails(2, ["map.csv"], "explore", points, "--out", self.out)
        self.assertEqual(points.read_text(), SQUARES)


class Killed(Results):
    KILLS = int(os.environ.get("EPSFLOW_TEST_KILLS", 8))

    def setUp(self):
        super().setUp()
        self.rng = random.Random(printed_seed())
        self.points = self.generated("tec", 30_000)
        self.grid = {"eps": "0.05:0.5:0.05", "minpts": "3,6,12,24"}  # 40 variants
        self.out = self.folder / "whole"
        self.takes_time(*self.sweep(**self.grid))
        self.whole = labels(self.out)
        self.out = self.folder / "killed"

    def takes_time(self, *words):
        """Runs the program, and stores its duration for kill()."""
        begin = time.monotonic()
        self.succeeds(*words)
        self.duration = time.monotonic() - begin

    def ends(self, *words):
        """Runs a sweep to its end. Then the folder must be sound and have the labels of a run that was not killed."""
        self.swept(*words, **self.grid)
        self.assertEqual(labels(self.out), self.whole)

    def kill(self, *words):
        """Starts a run and kills it at a random time. Returns true if it was killed."""
        p = start(*words)
        try:
            p.communicate(timeout=self.rng.uniform(0, self.duration * 1.1))
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate(timeout=30)
        self.assertIn(p.returncode, (0, -signal.SIGKILL))
        return p.returncode != 0

    def kill_and_end(self, *words):
        """Kills a sweep again and again, and then runs it to its end."""
        for _ in range(self.KILLS):
            self.kill(*self.sweep(*words, **self.grid))
        self.swept(*words, **self.grid)

    def test_a_sweep_that_is_killed_again_and_again_ends_with_the_same_labels(self):
        killed = 0
        while killed < self.KILLS:
            killed += self.kill(*self.sweep("--resume", **self.grid))
            if (self.rng.random() < 0.1
                    or (self.out / "sweep.json").exists() and self.described()["status"] == "complete"):
                self.ends("--resume")
                shutil.rmtree(self.out)
        self.ends("--resume")

    def test_counts_and_a_lineage_that_are_killed_again_and_again_end_the_same(self):
        words = ["--keep", "summary", "--lineage"]
        self.out = self.folder / "counts"
        self.succeeds(*self.sweep(*words, **self.grid))
        whole = npz(self.out / "lineage.npz")
        self.assertEqual(counts(self.out), counts(self.folder / "whole"))
        self.out = self.folder / "killed"
        self.kill_and_end("--resume", *words)
        self.assertEqual(counts(self.out), counts(self.folder / "whole"))
        self.assertEqual(npz(self.out / "lineage.npz"), whole)
        # Labels are added to counts, and these runs are killed too.
        for _ in range(self.KILLS):
            self.kill(*self.sweep("--resume", **self.grid))
        self.ends("--resume", "--lineage")
        self.assertEqual(npz(self.out / "lineage.npz"), whole)
        # Counts then replace labels.
        self.kill_and_end("--overwrite", *words)
        self.assertEqual(npz(self.out / "lineage.npz"), whole)
        self.assertFalse((self.out / "labels").exists())

    def test_outputs_of_every_kind_that_are_killed_again_and_again_end_the_same(self):
        grid = {"eps": "0.05,0.1,0.2", "minpts": "3,12"}
        page = self.folder / "page.html"
        self.points = self.generated("tec", 3_000, name="rows.csv")

        def same_in_each_run():
            return {name: data for name, data in tree(self.out).items()
                    if name.endswith((".npy", ".csv")) and name != "summary.csv"}

        sliced = ["--columns", "0", "--by", "1", "--by-width", "10"]
        for words in (["--core", "--labelled", "csv", "--catalog", "csv", "--hdf5", "--report", page],
                      ["--core", "--labelled", "csv", "--catalog", "csv", *sliced]):
            self.out = self.folder / "whole_outputs"
            self.takes_time(*self.sweep(*words, "--overwrite", **grid))
            whole = same_in_each_run()
            self.assertEqual(len(whole), 4 * 6 + (1 if "--by" in words else 0))
            shutil.rmtree(self.out)
            self.out = self.folder / "killed_outputs"
            for mode in ("--resume", "--overwrite"):
                for _ in range(self.KILLS):
                    self.kill(*self.sweep(mode, *words, **grid))
                page.unlink(missing_ok=True)
                self.swept(mode, *words, **grid)
                after = tree(self.out)
                self.assertEqual(same_in_each_run(), whole)
                self.assertEqual(page.exists(), page in words)
                # The same command has nothing left to do and changes no file of a variant.
                self.succeeds(*self.sweep("--resume", *words, **grid))
                self.assertEqual(of_variants(tree(self.out)), of_variants(after))
            shutil.rmtree(self.out)

    def test_an_overwrite_that_is_killed_leaves_old_or_new_results(self):
        small = {"eps": "0.3,0.7", "minpts": "5"}
        self.succeeds(*self.sweep(**small))
        old = labels(self.out)
        self.kill_and_end("--overwrite")  # after any kill, one run repairs the folder
        self.assertEqual(labels(self.out), self.whole)
        self.kill(*self.sweep("--overwrite", **small))
        self.swept("--resume", **small)
        self.assertTrue(all(labels(self.out)[key] == value for key, value in old.items()))

    def test_an_interrupted_overwrite_keeps_the_old_results_and_goes_on(self):
        small = {"eps": "0.3", "minpts": "5"}
        self.succeeds(*self.sweep(**small))
        before = tree(self.out)
        p = start(*self.sweep("--overwrite", "--json", **self.grid))
        time.sleep(self.duration / 2)
        p.send_signal(signal.SIGINT)
        _, errors = p.communicate(timeout=30)
        if p.returncode == 130 and "still holds the old results" in errors:
            self.assertEqual({n: b for n, b in tree(self.out).items() if not n.startswith(".epsflow")}, before)
        self.ends("--overwrite", "--json")


if __name__ == "__main__":
    unittest.main()
