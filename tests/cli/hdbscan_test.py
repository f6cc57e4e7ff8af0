"""Tests hdbscan: files that agree, and folders with whole results. python/tests compares the files with the library."""

import itertools
import json
import math
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from report_test import PageTest, data_of, without_time
from support import SQUARES, fits_table, manifest, npy, npy_labels, npz, start, table, tree


class Hdbscan(PageTest):
    def setUp(self):
        super().setUp()
        rng = random.Random(5)
        clumps = [(round(rng.gauss(x, 4)), round(rng.gauss(y, 4)))
                  for x, y in ((10, 10), (40, 15), (25, 40)) for _ in range(25)]
        self.points = list(dict.fromkeys(clumps + [(rng.randrange(60), rng.randrange(60)) for _ in range(25)]))
        rng.shuffle(self.points)
        self.file = self.write_rows("p.csv", "x,y,name", [(x, y, f"p{i}") for i, (x, y) in enumerate(self.points)])

    def words(self, *more, minpts="3,5", sizes="4,8", points=None, columns="x,y"):
        return ["hdbscan", points or self.file, "--columns", columns, "--minpts", minpts, "--min-cluster-size", sizes,
                "--out", self.out, *more]

    def rows(self, name="summary.csv"):
        return table((self.out / name).read_text())

    def labels(self, minpts=3, size=4):
        return npy_labels(self.out / f"labels/minpts_{minpts}_size_{size}.npy")

    def numbers(self, folder, minpts, size):
        return list(npy(self.out / folder / f"minpts_{minpts}_size_{size}.npy", "<f8"))

    def many(self, *more, n=50_000, **options):
        """Returns the words of a run on many points."""
        points = self.folder / f"{n}.npy"
        if not points.exists():
            self.generated("tec", n, name=points.name)
        return self.words(*more, points=points, columns="0,1", **options)

    def started(self, *words, within=""):
        """Starts a run with many variants, and returns it once a folder has some of their labels."""
        p = start(*self.many(*words, minpts=4, sizes="5:6000:1"))
        self.addCleanup(p.stderr.close)
        while p.poll() is None and not list(self.out.glob(f"{within}labels/*")):
            time.sleep(0.01)
        self.assertIsNone(p.poll())
        return p

    def interrupt(self, p):
        """Interrupts a run and returns its messages."""
        p.send_signal(signal.SIGINT)
        _, errors = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 130, errors)
        return errors


class Results(Hdbscan):
    def test_labels_of_two_squares(self):
        self.succeeds(*self.words(minpts=2, sizes=3, points=self.write("squares.csv", SQUARES)))
        self.assertEqual(self.labels(2, 3), (0,) * 4 + (1,) * 5)  # the far point leaves the second square

    def test_counts_copies_and_catalogues_have_the_same_also_if_values_repeat(self):
        self.succeeds(*self.words("--labelled", "csv", "--catalog", "csv", "--outlier-scores", minpts="5,3,5",
                                 sizes="8,4,8"))
        arrays = npz(self.out / "hierarchy.npz")
        for row, (minpts, size) in zip(self.rows(), itertools.product((3, 5), (4, 8)), strict=True):
            self.assertEqual((int(row["minpts"]), int(row["min_cluster_size"])), (minpts, size))
            labels, probabilities = self.labels(minpts, size), self.numbers("probabilities", minpts, size)
            self.assertEqual(npy_labels(self.out / row["labels"]), labels)
            scores = self.numbers("outlier_scores", minpts, size)
            self.assertEqual(len(scores), len(labels))
            self.assertTrue(0 <= min(scores) < max(scores) <= 1)
            self.assertEqual([p > 0 for p in probabilities], [c >= 0 for c in labels])
            sizes = [labels.count(c) for c in range(max(labels) + 1)]
            self.assertEqual([int(row[k]) for k in ("clusters", "noise", "clustered", "largest")],
                             [len(sizes), labels.count(-1), sum(sizes), max(sizes)])
            rows = self.rows(f"labelled/minpts_{minpts}_size_{size}.csv")
            self.assertEqual([(r["name"], int(r["label"]), float(r["probability"])) for r in rows],
                             [(f"p{i}", *found) for i, found in enumerate(zip(labels, probabilities))])
            catalog = self.rows(f"catalog/minpts_{minpts}_size_{size}.csv")
            self.assertEqual([int(r["size"]) for r in catalog], sizes)
            of = f"minpts_{minpts}_size_{size}/"
            node = {c: i for i, c in enumerate(arrays[of + "label"])}
            for name in ("birth", "death"):
                self.assertEqual([float(r[name]) for r in catalog],
                                 [arrays[of + name][node[c]] for c in range(len(catalog))])
            mean = sum(float(r["persistence"]) for r in catalog) / len(catalog)
            self.assertAlmostEqual(float(row["persistence"]), mean)
        # The same numbers come back from the other formats, which epsflow reads.
        for kind in ("fits", "h5"):
            self.succeeds(*self.words("--labelled", kind, "--catalog", kind, "--overwrite", minpts=3, sizes=4))
            labelled = self.out / f"labelled/minpts_3_size_4.{kind}"
            self.assertTrue((self.out / f"catalog/minpts_3_size_4.{kind}").exists())
            found = self.json("compare", labelled, self.out / "labels/minpts_3_size_4.npy")
            self.assertEqual(found["adjusted_rand"], 1)

    def test_a_copy_of_fits_has_the_probability_beside_each_row(self):
        points = self.folder / "p.fits"
        points.write_bytes(fits_table([(name, None, [float(x) for x in column] + [math.nan])
                                       for name, column in zip("xy", zip(*self.points))]))
        self.succeeds(*self.words("--labelled", "fits", "--on-nan", "drop", minpts=3, sizes=4, points=points))
        back = self.succeeds("cluster", self.out / "labelled/minpts_3_size_4.fits", "--columns", "probability",
                             "--on-nan", "drop", "--eps", 1, "--minpts", 1, "--labelled", "-").stdout
        self.assertEqual([float(r["probability"]) for r in table(back)], self.numbers("probabilities", 3, 4))

    def test_options_of_the_selection_count(self):
        def clusters(*words):
            self.succeeds(*self.words(*words, "--overwrite", minpts=3, sizes=4))
            return int(self.rows()[0]["clusters"])

        every = clusters("--selection", "leaf")
        self.assertLess(clusters("--selection", "leaf", "--selection-epsilon", 5), every)
        self.assertEqual(clusters("--allow-single-cluster", "--selection-epsilon", 100), 1)
        largest = int(self.rows()[0]["largest"])
        clusters("--max-cluster-size", 12)
        self.assertLessEqual(int(self.rows()[0]["largest"]), 12)
        self.assertGreater(largest, 12)

    def test_json_and_the_metric(self):
        described = self.json(*self.words("--metric", "manhattan"))
        self.assertEqual((described["status"], described["metric"], len(described["variants"])),
                         ("complete", "manhattan", 4))
        self.assertEqual({"minpts", "min_cluster_size", "clusters", "noise", "clustered", "largest", "persistence",
                          "seconds", "labels"}, set(described["variants"][0]))
        self.assertEqual(manifest(self.out)["status"], "complete")


class Folder(Hdbscan):
    def setUp(self):
        super().setUp()
        self.sweep = ["sweep", self.file, "--columns", "x,y", "--eps", 3, "--minpts", 4, "--out", self.out]

    def test_results_are_replaced_only_on_demand_and_with_each_other_only(self):
        self.succeeds(*self.words())
        every_run = {"summary.csv", "sweep.json", "trace.json"}
        of_trees = every_run | {"hierarchy.npz"} | {
            f"{folder}/minpts_{m}_size_{s}.npy"
            for folder, m, s in itertools.product(("labels", "probabilities"), (3, 5), (4, 8))}
        self.assertEqual(set(tree(self.out)), of_trees)
        for words in (self.words(), self.sweep, [*self.sweep, "--resume"]):
            p = self.fails(2, ["holds results of hierarchies already", "--overwrite"], *words)
            self.assertNotIn("--resume", p.stderr)
        self.succeeds(*self.sweep, "--overwrite")
        self.assertEqual(set(tree(self.out)), every_run | {"labels/eps_3_minpts_4.npy"})
        self.fails(2, ["holds results already", "--overwrite"], *self.words())
        self.succeeds(*self.words("--overwrite"))
        self.assertEqual(set(tree(self.out)), of_trees)

    def test_commands_of_sweeps_say_what_the_folder_is(self):
        self.succeeds(*self.words())
        for words in (
            ["compare", self.out, self.out],
            ["predict", self.file, "--columns", "x,y", "--results", self.out, "--eps", 1, "--minpts", 3],
            ["validity", self.file, "--columns", "x,y", "--results", self.out],
        ):
            self.fails(3, ["holds results of epsflow hdbscan"], *words)
        self.succeeds("validity", self.file, "--columns", "x,y", "--labels", self.out / "labels/minpts_3_size_4.npy")

    def test_files_of_others_stay(self):
        (self.out / "labels").mkdir(parents=True)
        for name in ("hierarchy.npz", "labels/minpts_3_size_4.npy"):
            (self.out / name).write_text("mine")
            self.fails(2, [name, "was not written by epsflow"], *self.words())
            self.assertEqual(set(tree(self.out)), {name})
            (self.out / name).unlink()
        (self.out / "labels/notes.txt").write_text("mine")
        self.succeeds(*self.words())
        self.succeeds(*self.sweep, "--overwrite")
        self.assertEqual((self.out / "labels/notes.txt").read_text(), "mine")

    def test_an_interrupted_run_leaves_whole_variants(self):
        self.assertRegex(self.interrupt(self.started()),
                         r"interrupted; .* the same command with --overwrite makes all again")
        self.assertEqual(manifest(self.out)["status"], "interrupted")
        self.assertTrue(0 < len(self.rows()) < 5996)
        for row in self.rows():
            self.assertEqual(len(npy_labels(self.out / row["labels"])), 50_000)
            self.assertEqual(len(self.numbers("probabilities", row["minpts"], row["min_cluster_size"])), 50_000)

    def test_a_killed_run_leaves_whole_variants_and_the_next_replaces_them(self):
        p = self.started()
        p.kill()
        p.communicate(timeout=60)
        self.fails(2, ["holds results of hierarchies already"], *self.words())
        self.succeeds(*self.words("--overwrite"))
        self.assertEqual((manifest(self.out)["status"], len(self.rows()), len(list(self.out.glob("labels/*")))),
                         ("complete", 4, 4))

    def test_an_interrupted_replacement_leaves_the_old_results(self):
        self.succeeds(*self.words())
        before = tree(self.out)
        p = self.started("--overwrite", "--selection", "leaf", within=".epsflow/replacement/")
        self.assertIn("still holds the old results", self.interrupt(p))
        self.assertEqual(tree(self.out), before)
        # Nothing of it is in later results of the same points.
        self.succeeds(*self.many("--overwrite", minpts=4, sizes="5,6"))
        replaced, self.out = tree(self.out), self.folder / "fresh"
        self.succeeds(*self.many(minpts=4, sizes="5,6"))
        for name in ("hierarchy.npz", "labels/minpts_4_size_5.npy", "probabilities/minpts_4_size_6.npy"):
            self.assertEqual(replaced[name], (self.out / name).read_bytes())

    def test_rows_that_are_dropped(self):
        gap = self.write("gap.csv", self.file.read_text() + ",3,none\n")
        self.assertNotIn("DBSCAN", self.fails(3, ["row", "--on-nan drop"], *self.words(points=gap)).stderr)
        self.assertFalse(self.out.exists())
        self.succeeds(*self.words("--on-nan", "drop", "--labelled", "csv", points=gap))
        self.assertTrue((self.out / "rows.npy").exists())
        last = self.rows("labelled/minpts_3_size_4.csv")[-1]
        self.assertEqual((last["label"], last["probability"]), ("", ""))


class Machine(Hdbscan):
    def test_trees_of_many_minpts_are_in_memory_one_at_a_time(self):
        def peak(minpts):
            words = self.many("--overwrite", "--quiet", "--memory", "64M", minpts=minpts, n=40_000)
            # Without freed memory that the allocator or the address sanitizer holds back.
            options = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
            env = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536", "ASAN_OPTIONS": options}
            with start(*words, stderr=subprocess.DEVNULL, env=env) as p:
                _, status, usage = os.wait4(p.pid, 0)
                p.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(p.returncode, 0)
            return usage.ru_maxrss * 1024

        self.assertLess(peak("2:42:1") - peak("41"), 30e6)
        self.fails(4, ["memory budget", "raise --memory"], *self.words("--memory", "8K", "--overwrite"))

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core has one thread")
    def test_selection_takes_the_threads_of_the_options(self):
        def threads(count):
            p = self.started("--threads", count, "--quiet")
            number = len(os.listdir(f"/proc/{p.pid}/task"))
            p.kill()
            p.wait()
            shutil.rmtree(self.out)
            return number

        self.assertEqual(threads(2) - threads(1), 1)


class Page(Hdbscan):
    def test_a_page_of_a_thousand_pairs_takes_seconds(self):
        self.succeeds(*self.words(minpts="2:21:1", sizes="2:51:1"))
        self.assertEqual(len(self.rows()), 1000)
        begin = time.monotonic()
        self.succeeds("report", self.out, "--out", self.page)
        self.assertLess(time.monotonic() - begin, 20)

    def test_it_has_the_trees_and_is_the_same_from_the_folder(self):
        self.succeeds(*self.words("--selection", "leaf", "--report", self.page))
        data = data_of(self.page)
        self.succeeds("report", self.out, "--out", self.page, "--overwrite")
        self.assertEqual(without_time(data), without_time(data_of(self.page)))
        self.assertEqual((data["minpts"], data["min_cluster_size"], len(data["cells"])), ([3, 5], [4, 8], 4))
        self.assertEqual((data["eps"], data["advice_hint"]), ([], ""))  # explore recommends for DBSCAN
        arrays = npz(self.out / "hierarchy.npz")
        for cell in data["cells"]:
            sizes = arrays[f"minpts_{cell['minpts']}_size_{cell['min_cluster_size']}/size"]
            self.assertEqual([c["size"] for c in cell["tree"]], list(sizes))
            self.assertEqual(sorted(c["label"] for c in cell["tree"] if c["label"] is not None),
                             list(range(cell["clusters"])))
            # Coloured as on the map: by the rank of the size, as rows of the table are.
            value = {c["label"]: c["value"] for c in cell["tree"]}
            self.assertEqual([value[row[0]] for row in cell["rows"]], list(range(2, 2 + cell["clusters"])))
            for c in cell["tree"]:
                self.assertEqual(c["steps"][-1], [c["death"], 0])
                eps, sizes = zip(*c["steps"])
                self.assertEqual((list(eps), list(sizes)), (sorted(eps, reverse=True), sorted(sizes, reverse=True)))
                self.assertLess(sizes[0], c["size"])
                if c["parent"] is not None:
                    self.assertEqual(c["birth"], cell["tree"][c["parent"]]["death"])
        self.assertTrue(any(len(c["steps"]) > 2 for cell in data["cells"] for c in cell["tree"]))

    def test_the_commands_on_it_work(self):
        self.succeeds(*self.words("--metric", "manhattan", "--selection", "leaf", "--stats", "x", "--catalog", "csv",
                                  "--report", self.page))
        data = data_of(self.page)
        self.assert_makes(data["command"], "results/summary.csv")
        self.assert_makes(data["catalogue_hint"].format(min_cluster_size=8, minpts=5),
                          "clusters/catalog/minpts_5_size_8.csv")

    def test_a_folder_without_its_trees_has_maps(self):
        self.succeeds(*self.words())
        described = manifest(self.out)
        # An interrupted run leaves the folder like this.
        described["files"] = [f for f in described["files"] if f["name"] != "hierarchy.npz"]
        (self.out / "sweep.json").write_text(json.dumps(described))
        self.succeeds("report", self.out, "--out", self.page)
        self.assertTrue(all(c["tree"] is None and c["maps"] for c in data_of(self.page)["cells"]))

    def test_a_damaged_folder_says_what_makes_it_again(self):
        self.succeeds(*self.words())
        for name in ("hierarchy.npz", "labels/minpts_3_size_4.npy"):
            (self.out / name).write_text("other")
            self.fails(3, [name, "run hdbscan again with --overwrite"], "report", self.out, "--out", self.page)
        self.fails(3, ["sweep, explore or hdbscan"], "report", self.folder, "--out", self.page)


class BadInput(Hdbscan):
    def test_it_is_named_and_nothing_is_written(self):
        n, one = len(self.points), self.write("one.csv", "x,y\n1,2\n")
        for parts, words in {
            "--min-cluster-size 1 is not valid": self.words(sizes="4,1"),
            f"--min-cluster-size {n + 1} is not valid, of {n} points": self.words(sizes=f"4,{n + 1}"),
            f"--minpts {n + 1} is not valid, of {n} points": self.words(minpts=n + 1),
            "min_cluster_size: 'many'": self.words(sizes="many"),
            "minpts 0 in '0' is not valid": self.words(minpts=0),
            "--selection-epsilon is '-1'": self.words("--selection-epsilon", "-1"),
            "--max-cluster-size is 'x'": self.words("--max-cluster-size", "x"),
            "--max-cluster-size 5 is below --min-cluster-size 8": self.words("--max-cluster-size", 5),
            "--max-cluster-size is for --selection eom": self.words("--max-cluster-size", 9, "--selection", "leaf"),
            "no option --by": self.words("--by", "name"),
            "no option --resume": self.words("--resume"),
            "--stats is about the clusters of --catalog": self.words("--stats", "x"),
            "--out is missing": self.words()[:-2],
            "at least 2 points, and the input has 1 point": self.words(minpts=1, sizes=2, points=one),
        }.items():
            self.fails(2, [parts], *words)
            self.assertFalse(self.out.exists(), words)
        self.fails(3, ["empty"], *self.words(points=self.write("empty.csv", "")))
        self.assertFalse(self.out.exists())

    def test_minpts_is_a_sum_of_weights(self):
        heavy = self.write_rows("heavy.csv", "x,y,w", [(x, y, 2) for x, y in self.points])
        self.succeeds(*self.words(minpts=3, sizes=4))
        expected = self.labels()
        self.succeeds(*self.words("--weight", "w", "--overwrite", minpts=6, sizes=4, points=heavy))
        self.assertEqual(self.labels(minpts=6), expected)


if __name__ == "__main__":
    unittest.main()
