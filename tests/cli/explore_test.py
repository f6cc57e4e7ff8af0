"""Tests the output of explore and suggest, and that they refuse invalid input before they compute."""
import json
import random
import signal
import subprocess
import time
import unittest

from support import ProgramTest, manifest, npy_labels, npz, run, start, summary, tree


def blobs(seed=1):
    rng = random.Random(seed)
    return "x,y\n" + "".join(f"{x + 0.7 * rng.gauss(0, 1)},{y + 0.7 * rng.gauss(0, 1)}\n"
                             for x, y in ((0, 0), (10, 0), (0, 10)) for _ in range(300))


def uniform(n=400, seed=1):
    rng = random.Random(seed)
    return "x,y\n" + "".join(f"{rng.random()},{rng.random()}\n" for _ in range(n))


class Explore(ProgramTest):
    def setUp(self):
        super().setUp()
        self.points = self.write("p.csv", blobs())

    def explored(self, *words):
        return self.json("explore", self.points, *words)


class Printed(Explore):
    def test_the_recommended_cell_and_why(self):
        p = self.succeeds("explore", self.points)
        reason = r", minpts \d+: 3 big clusters, unchanged from eps .* \(confidence 0\.\d\d\)\n"
        self.assertRegex(p.stdout, rf"^recommended: eps [a-z\d., ]+{reason}at one eps:  eps [\d.]+{reason}$")
        found = self.explored()
        best = found["one_eps"]
        self.assertEqual(found["recommended"]["clusters"], len(found["recommended"]["eps_of_clusters"]))
        self.assertEqual((best["clusters"], found["doubts"], found["points"]), (3, [], 900))
        self.assertEqual((len(found["grid"]["eps"]), found["grid"]["minpts"][0]), (40, 3))
        self.assertLessEqual(best["plateau"]["eps"][0], best["eps"])
        # The labels equal the output of epsflow cluster.
        counts = self.json("cluster", self.points, "--eps", best["eps"], "--minpts", best["minpts"])
        self.assertEqual([counts[name] for name in ("clusters", "noise", "core")],
                         [best[name] for name in ("clusters", "noise", "core")])
        self.assertEqual(self.succeeds("explore", self.points, "--quiet").stdout, "")
        self.assertEqual(self.explored("--seconds", "1e6"), found)  # this bound is not reached

    def test_no_structure_is_a_result(self):
        self.points = self.write("u.csv", uniform())
        p = self.succeeds("explore", self.points)
        self.assertIn("no cluster structure is seen", p.stdout)
        self.assertIn("doubt: probably no clusters at all", p.stdout)
        found = self.explored()
        self.assertEqual((found["recommended"], found["alternatives"]), (None, []))
        self.assertEqual([d["name"] for d in found["doubts"]], ["no-clusters"])

    def test_nine_equal_points(self):
        self.points = self.write("few.csv", "x,y\n" + "1,2\n" * 9)
        found = self.explored()
        self.assertEqual([d["name"] for d in found["doubts"]], ["no-clusters", "few-points", "duplicates"])
        self.assertEqual(found["grid"], {"eps": [], "minpts": []})
        p = self.fails(3, ["there is no grid for these points"], "suggest", self.points)
        self.assertEqual(p.stdout, "")
        self.assertEqual(self.json("suggest", self.points)["eps"], [])

    def test_suggest_prints_what_sweep_takes(self):
        words = self.succeeds("suggest", self.points).stdout.split()
        self.assertEqual((words[0], words[2]), ("--eps", "--minpts"))
        grid = self.explored()["grid"]
        self.assertEqual([float(e) for e in words[1].split(",")], grid["eps"])
        self.assertEqual([int(m) for m in words[3].split(",")], grid["minpts"])
        found = self.json("suggest", self.points)
        self.assertEqual({name: found[name] for name in ("eps", "minpts")}, grid)
        self.succeeds("sweep", self.points, *words, "--keep", "summary", "--out", self.out)
        self.assertEqual(len(summary(self.out)), len(grid["eps"]) * len(grid["minpts"]))
        self.assertEqual(self.explored(*words)["recommended"], self.explored()["recommended"])


    def test_minpts_is_a_multiple_of_the_mean_weight(self):
        header, *rows = blobs().split()
        words = [self.write("w.csv", f"{header},w\n" + "".join(f"{row},4\n" for row in rows)), "--weight", "w"]
        plain, found = self.json("suggest", self.points), self.json("suggest", *words)
        self.assertEqual((found["eps"], found["minpts"]), (plain["eps"], [4 * m for m in plain["minpts"]]))
        plain, found = self.explored()["recommended"], self.json("explore", *words)["recommended"]
        self.assertEqual((found["minpts"], found["clusters"], found["noise"]),
                         (4 * plain["minpts"], plain["clusters"], plain["noise"]))


class Refused(Explore):
    def test_grids_that_cannot_be_scored_before_the_input_is_read(self):
        nowhere = self.folder / "no-such.csv"
        for words, parts in ((["--eps", "0.1"], ["--minpts is missing"]), (["--minpts", "4"], ["--eps is missing"]),
                             (["--eps", "0.1", "--minpts", "4,8"], ["one eps", "lo:hi:n:log"]),
                             (["--eps", "0.1:1:0.1", "--minpts", "4"],
                              ["even ratios", "from eps 0.1 to 0.2", "lo:hi:n:log"]),
                             (["--seconds", "soon"], ["--seconds is 'soon'", "above 0"]),
                             (["--seconds", "0"], ["--seconds is '0'"]), (["--overwrite"], ["--overwrite", "--out"])):
            p = self.fails(2, parts, "explore", nowhere, *words)
            self.assertNotIn("::", p.stderr)
            self.assertNotIn("grid()", p.stderr)

    def test_a_bound_on_time_that_is_far_too_small(self):
        self.fails(4, ["allow more time"], "explore", self.points, "--seconds", "1e-9", "--out", self.out)
        self.assertFalse((self.out / "explore.json").exists())

    def test_weights_below_0_and_small_ones(self):
        for weight, part in (("-1", "some weights are below 0"), ("0.001", "the mean weight of a point is 0.001")):
            points = self.write_rows("w.csv", "x,y,w", [(i % 7, i // 7, weight) for i in range(40)])
            for command in ("explore", "suggest"):
                self.assertNotIn("--lineage", self.fails(2, [part], command, points, "--weight", "w").stderr)


class Folder(Explore):
    NAMES = {"summary.csv", "sweep.json", "trace.json", "map.csv", "lineage.npz", "explore.json", "recommended.npy"}

    def files(self):
        return {name for name in tree(self.out) if not name.startswith("labels/")}

    def test_it_holds_labels_of_the_offers_and_the_map(self):
        found = self.explored("--out", self.out)
        self.assertEqual(self.files(), self.NAMES)
        self.assertEqual(json.loads((self.out / "explore.json").read_text()), found)
        best = found["recommended"]
        labels = npy_labels(self.out / "recommended.npy")
        self.assertEqual((max(labels) + 1, labels.count(-1)), (best["clusters"], best["noise"]))
        offers = [found["one_eps"], *found["alternatives"]]
        rows = summary(self.out)
        self.assertEqual(set(rows), {(o["eps"], o["minpts"]) for o in offers})
        for o in offers:
            row = rows[o["eps"], o["minpts"]]
            labels = npy_labels(self.out / row["labels"])
            self.assertEqual((max(labels) + 1, labels.count(-1)), (o["clusters"], o["noise"]))
            self.assertEqual(row["clusters"], str(o["clusters"]))
        header, *cells = [line.split(",") for line in (self.out / "map.csv").read_text().splitlines()]
        self.assertEqual(header, "eps minpts clusters noise core border largest agreement_wider agreement_looser "
                                 "relative_validity score credit".split())
        self.assertEqual([(float(c[0]), int(c[1])) for c in cells],
                         [(e, m) for e in found["grid"]["eps"] for m in found["grid"]["minpts"]])
        self.assertEqual(list(npz(self.out / "lineage.npz")["clusters"]), [int(c[2]) for c in cells])
        at = [float(c[0]) for c in cells].index(offers[0]["eps"]) + found["grid"]["minpts"].index(offers[0]["minpts"])
        self.assertEqual(float(cells[at][10]), offers[0]["score"])
        described = manifest(self.out)
        self.assertEqual(described["status"], "complete")
        self.assertEqual({f["name"] for f in described["files"]} | {"summary.csv", "sweep.json"}, set(tree(self.out)))

    def test_what_is_in_the_way_is_told_before_the_input_is_read(self):
        nowhere = self.folder / "no-such.csv"
        self.succeeds("explore", self.points, "--out", self.out)
        before = tree(self.out)
        p = self.fails(2, ["holds results already", "--overwrite"], "explore", nowhere, "--out", self.out)
        self.assertNotIn("--resume", p.stderr)  # explore has no --resume
        self.fails(3, ["no-such"], "explore", nowhere, "--out", self.out, "--overwrite")
        self.assertEqual(tree(self.out), before)
        other = self.folder / "other"
        for name in ("map.csv", "lineage.npz", "explore.json", "summary.csv", "sweep.json", "recommended.npy",
                     "alternative.npy"):
            other.mkdir()
            (other / name).write_text("mine")
            for words in ([], ["--overwrite"]):
                self.fails(2, [name, "epsflow"], "explore", nowhere, "--out", other, *words)
            self.assertEqual(tree(other), {name: b"mine"})
            (other / name).unlink()
            other.rmdir()

    def test_a_label_file_of_others_is_not_replaced(self):
        best = self.explored()["one_eps"]
        (self.out / "labels").mkdir(parents=True)
        mine = self.out / f"labels/eps_{best['eps']!r}_minpts_{best['minpts']}.npy"
        mine.write_text("mine")
        self.fails(2, ["was not written by epsflow"], "explore", self.points, "--out", self.out)
        self.assertEqual(tree(self.out), {str(mine.relative_to(self.out)): b"mine"})

    def test_overwrite_replaces_all(self):
        self.succeeds("sweep", self.points, "--eps", "0.3", "--minpts", "4", "--core", "--out", self.out)
        self.succeeds("explore", self.points, "--out", self.out, "--overwrite")
        self.assertEqual(self.files(), self.NAMES)
        self.assertNotIn((0.3, 4), summary(self.out))
        self.succeeds("explore", self.write("q.csv", blobs(2)), "--out", self.out, "--overwrite")
        self.assertEqual(self.files(), self.NAMES)

    def test_nothing_is_written_where_nothing_is_recommended(self):
        noise = self.write("u.csv", uniform())
        self.assertIn("nothing is written to", self.succeeds("explore", noise, "--out", self.out).stderr)
        self.assertFalse(self.out.exists())
        self.succeeds("explore", self.points, "--out", self.out)
        before = tree(self.out)
        self.succeeds("explore", noise, "--out", self.out, "--overwrite")
        self.assertEqual(tree(self.out), before)

    def test_variants_are_added_and_the_map_stays(self):
        self.succeeds("explore", self.points, "--out", self.out)
        before = tree(self.out)
        self.succeeds("sweep", self.points, "--eps", "0.5", "--minpts", "4,8", "--core", "--resume", "--out", self.out)
        after = tree(self.out)
        for name in ("map.csv", "lineage.npz", "explore.json"):
            self.assertEqual(after[name], before[name])
        self.assertIn((0.5, 8), summary(self.out))
        best = json.loads(after["explore.json"])["one_eps"]
        self.succeeds("compare", self.out, "--cell", f"{best['eps']!r}:{best['minpts']}", "--cell", "0.5:8")
        # If a lineage is requested, it covers the variants of the folder.
        self.succeeds("sweep", self.points, "--eps", "0.5", "--minpts", "8", "--lineage", "--resume", "--out", self.out)
        self.assertEqual(set(zip(*(npz(self.out / "lineage.npz")[name] for name in ("eps", "minpts")))),
                         set(summary(self.out)))

    def test_interrupted_or_killed_it_leaves_nothing_or_all(self):
        words = ["explore", self.generated("tec", 60_000), "--columns", "0,1", "--out", self.out]
        begin = time.monotonic()
        self.succeeds(*words)
        duration = time.monotonic() - begin
        whole = tree(self.out)
        names = set(whole)
        killed = 0
        # The first limits end long before a program has started. The others end at times that depend on the machine.
        for share, how in zip([0.02, 0.02, 0.1, 0.2, 0.4, 0.5, 0.7, 0.9], [signal.SIGINT, signal.SIGKILL] * 4):
            p = start(*words, "--overwrite")
            try:
                p.communicate(timeout=share * duration)
            except subprocess.TimeoutExpired:
                p.send_signal(how)
                end = time.monotonic()
                p.communicate(timeout=30)
                killed += 1
                if how == signal.SIGINT:
                    self.assertIn(p.returncode, (0, 130, -signal.SIGINT))
                    self.assertLess(time.monotonic() - end, 5)
            # If a run is killed while new results replace old ones, the next run on the folder completes this.
            self.assertEqual(run(*words).returncode, 2)
            left = {n: b for n, b in tree(self.out).items() if not n.startswith(".epsflow")}
            self.assertEqual(set(left), names)
            self.assertEqual(left["map.csv"], whole["map.csv"])
        self.assertGreater(killed, 0)
        self.succeeds(*words, "--overwrite")
        self.assertEqual(set(tree(self.out)), names)
        self.assertEqual(manifest(self.out)["status"], "complete")


if __name__ == "__main__":
    unittest.main()
