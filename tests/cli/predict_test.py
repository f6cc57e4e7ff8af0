#!/usr/bin/env python3
"""Tests the prediction of clusters of new points."""
import json
import random
import unittest

from support import ProgramTest, npy_labels, run


class Predict(ProgramTest):
    def setUp(self):
        super().setUp()
        source = random.Random(5)
        self.rows = [(source.gauss(10 * (i % 3), 1), source.gauss(0, 1)) for i in range(300)]
        self.points = self.write("p.csv", "x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in self.rows))
        self.labels, self.core = self.folder / "l.npy", self.folder / "c.npy"
        self.succeeds("cluster", self.points, "--eps", 0.5, "--minpts", 5, "--out", self.labels, "--core", self.core)
        self.clustering = ["--points", self.points, "--labels", self.labels, "--core", self.core, "--eps", 0.5]

    def test_points_of_the_clustering_get_their_own_labels(self):
        out = self.folder / "out.npy"
        self.succeeds("predict", self.points, *self.clustering, "--out", out)
        self.assertEqual(npy_labels(out), npy_labels(self.labels))
        self.assertEqual(len(set(npy_labels(out))), 1 + max(npy_labels(out)) + 1)

    def test_new_points(self):
        new = self.write("n.csv", "x,y\n0,0\n10,0\n20,0\n5,0\n")
        p = self.succeeds("predict", new, *self.clustering, "--out", "-")
        for name in ("n.csv", str(self.points).rsplit("/", 1)[-1]):  # a line describes each input
            self.assertIn(f"{name}: text", p.stderr)
        found = [int(line) for line in p.stdout.split()[1:]]
        self.assertEqual(found[3], -1)
        self.assertEqual(len(set(found[:3])), 3)
        result = json.loads(self.succeeds("predict", new, *self.clustering, "--json").stdout)
        self.assertEqual((result["points"], result["noise"]), (4, 1))

    def test_labels_and_json_are_not_mixed(self):
        absent = self.folder / "absent.csv"  # the error comes before a file is read
        self.fails(2, ["--out - and --json both go to standard output"], "predict", absent, *self.clustering, "--out",
                   "-", "--json")

    def test_by_another_metric(self):
        labels, core = self.folder / "gl.npy", self.folder / "gc.npy"
        metric = ["--metric", "greatcircle", "--unit", "km", "--eps", 50]
        self.succeeds("cluster", self.points, *metric, "--minpts", 5, "--out", labels, "--core", core)
        out = self.folder / "out.npy"
        self.succeeds("predict", self.points, "--points", self.points, "--labels", labels, "--core", core, *metric,
                      "--out", out)
        self.assertEqual(npy_labels(out), npy_labels(labels))

    def test_new_points_need_no_weights(self):
        results, out = self.folder / "r", self.folder / "out.npy"
        weighted = self.write("w.csv", "w,x,y\n" + "".join(f"1,{x!r},{y!r}\n" for x, y in self.rows))
        self.succeeds("sweep", weighted, "--weight", "w", "--eps", 0.5, "--minpts", 5, "--core", "--out", results)
        labels = npy_labels(next((results / "labels").iterdir()))
        swapped = self.write("s.csv", "y,x\n" + "".join(f"{y!r},{x!r}\n" for x, y in self.rows))
        for new in (self.points, weighted, swapped):
            self.succeeds("predict", new, "--results", results, "--eps", 0.5, "--minpts", 5, "--out", out,
                          "--overwrite")
            self.assertEqual(npy_labels(out), labels)
        core = next((results / "core").iterdir())
        self.fails(2, ["--weight"], "predict", self.points, "--weight", "w", "--results", results, "--eps", 0.5,
                   "--minpts", 5, "--out", out)
        moved = self.write("other.csv", "x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in self.rows))
        self.succeeds("predict", moved, "--results", results, "--points", moved, "--eps", 0.5, "--minpts", 5,
                      "--out", out, "--overwrite")
        self.assertEqual(npy_labels(out), labels)
        self.succeeds("predict", weighted, "--columns", "x,y", "--points", weighted, "--labels",
                      next((results / "labels").iterdir()), "--core", core, "--eps", 0.5, "--out", out, "--overwrite")
        self.assertEqual(npy_labels(out), labels)

    def test_columns_by_their_names_in_either_file(self):
        labels, core, out = self.folder / "gl.npy", self.folder / "gc.npy", self.folder / "out.npy"
        metric = ["--metric", "greatcircle", "--eps", 0.5]
        old = self.write("old.csv", "lat,lon\n" + "".join(f"{y!r},{x!r}\n" for x, y in self.rows))
        self.succeeds("cluster", old, *metric, "--minpts", 5, "--out", labels, "--core", core)
        self.assertGreater(max(npy_labels(labels)), 1)
        words = ["--points", old, "--labels", labels, "--core", core, *metric]
        self.succeeds("predict", old, *words, "--out", out)
        self.assertEqual(npy_labels(out), npy_labels(labels))
        # If columns are in another order, they are found by name or refused.
        more = self.write("more.csv", "id,lon,lat\n" + "".join(f"p7,{x!r},{y!r}\n" for x, y in self.rows))
        self.succeeds("predict", more, *words, "--out", out, "--overwrite")
        self.assertEqual(npy_labels(out), npy_labels(labels))
        self.fails(2, ["y, x", "x, y", "--columns"], "predict", self.write("t.csv", "y,x\n0,0\n"), *self.clustering)

    def test_longitude_and_latitude_of_results_and_of_new_points_each_by_its_own_names(self):
        results, out = self.folder / "r", self.folder / "out.npy"
        sky = ["--metric", "greatcircle", "--eps", 0.5, "--minpts", 5, "--core"]
        plain = self.write("plain.csv", "".join(f"{y!r},{x!r}\n" for x, y in self.rows))
        named = self.write("named.csv", "lon,lat\n" + "".join(f"{x!r},{y!r}\n" for x, y in self.rows))
        variant = ["--results", results, "--eps", 0.5, "--minpts", 5, "--out", out, "--overwrite"]
        # Results have latitude first and no names.
        self.succeeds("sweep", plain, *sky, "--latitude-first", "--out", results)
        labels = npy_labels(next((results / "labels").iterdir()))
        self.assertGreater(max(labels), 1)
        for words in ([named], [plain, "--latitude-first"]):
            self.succeeds("predict", *words, *variant)
            self.assertEqual(npy_labels(out), labels)
        # Results have names; points without names need the option.
        self.succeeds("sweep", named, *sky, "--out", results, "--overwrite")
        self.succeeds("predict", plain, "--latitude-first", *variant)
        self.assertEqual(npy_labels(out), labels)
        # With haversine, latitude comes first by default.
        haversine = self.write("h.csv", "lon,lat\n" + "".join(f"{x / 60!r},{y / 60!r}\n" for x, y in self.rows))
        nameless = self.write("n.csv", "".join(f"{y / 60!r},{x / 60!r}\n" for x, y in self.rows))
        other = ["--results", self.folder / "s", "--eps", 0.01, "--minpts", 5, "--out", out, "--overwrite"]
        self.succeeds("sweep", haversine, "--metric", "haversine", "--eps", 0.01, "--minpts", 5, "--core",
                      "--out", self.folder / "s")
        labels = npy_labels(next((self.folder / "s" / "labels").iterdir()))
        self.assertGreater(max(labels), 1)
        for words in ([nameless], [nameless, "--latitude-first"], [haversine]):
            self.succeeds("predict", *words, *other)
            self.assertEqual(npy_labels(out), labels, words)
        # Columns of another coordinate system are refused.
        self.fails(2, ["l, b", "lon, lat", "another system"], "predict", self.write("g.csv", "l,b\n0,0\n"), *variant)

    def test_new_points_in_another_kind_of_file(self):
        results, out = self.folder / "r", self.folder / "out.npy"
        text = self.write("t.txt", "x;y\n" + "".join(f"{x!r};{y!r}\n" for x, y in self.rows))
        self.succeeds("sweep", text, "--delimiter", ";", "--eps", 0.5, "--minpts", 5, "--core", "--out", results)
        self.succeeds("predict", self.points, "--results", results, "--eps", 0.5, "--minpts", 5, "--out", out)
        self.assertEqual(npy_labels(out), npy_labels(self.labels))
        manifest = json.loads((results / "sweep.json").read_text())
        manifest["runs"][-1]["options"]["eps"] = 0.5
        (results / "sweep.json").write_text(json.dumps(manifest))
        self.fails(3, ["sweep.json", "did not write"], "predict", self.points, "--results", results, "--eps", 0.5,
                   "--minpts", 5)

    def test_rows_that_are_dropped(self):
        new = self.write("n.csv", "x,y\nnan,1\n0,0\n5,0\n")
        out = self.folder / "out.npy"
        self.succeeds("predict", new, *self.clustering, "--on-nan", "drop", "--out", out)
        self.assertEqual(len(npy_labels(out)), 2)
        self.assertTrue((self.folder / "out.rows.npy").exists())

    def test_options_that_would_count_for_nothing_are_none_of_its(self):
        for words in (["--backend", "cpu"], ["--gpu", 0], ["--gpu-memory", "1G"], ["--strategy", "direct"],
                      ["--index", "grid"], ["--decide", "scalar"], ["--kernel", "rows"], ["--table-format", "csr"],
                      ["--method", "each"], ["--tables", 1], ["--lanes", 1], ["--batch-pairs", 1], ["--verify"]):
            self.fails(2, [f"predict has no option {words[0]}"], "predict", self.points, *self.clustering, *words)
        self.succeeds("predict", self.points, *self.clustering, "--memory", "1G", "--threads", 1)
        self.fails_after_reading(4, ["--memory"], "predict", self.points, *self.clustering, "--memory", "1k")

    def fails_after_reading(self, code, parts, *words):
        p = run(*words)
        self.assertEqual(p.returncode, code, p.stderr)
        for part in parts:
            self.assertIn(part, p.stderr)

    def test_by_a_results_folder(self):
        old = self.write("old.csv",
                         "id,lat,lon\n" + "".join(f"{i},{y!r},{x!r}\n" for i, (x, y) in enumerate(self.rows)))
        folder, out, want = self.folder / "r", self.folder / "out.npy", self.folder / "want.npy"
        how = ["--columns", "lon,lat", "--metric", "greatcircle", "--unit", "km"]
        self.succeeds("sweep", old, *how, "--eps", "30,50", "--minpts", "4,5", "--core", "--out", folder)
        self.succeeds("cluster", old, *how, "--eps", 50, "--minpts", 5, "--out", want)
        clustering = ["--results", folder, "--eps", 50, "--minpts", 5]
        self.succeeds("predict", old, *clustering, "--out", out)
        self.assertEqual(npy_labels(out), npy_labels(want))
        # Input options apply only to the new points.
        new = self.write("new.txt", "0;0\n0;10\n0;5\n")
        p = self.succeeds("predict", new, *clustering, "--columns", "1,0", "--json")
        result = json.loads(p.stdout)
        self.assertEqual((result["points"], result["noise"], result["metric"]), (3, 1, "greatcircle, eps in km"))
        moved = self.folder / "moved.csv"
        old.rename(moved)
        self.fails(3, ["old.csv", "not there", "--points"], "predict", moved, *clustering)
        self.succeeds("predict", moved, *clustering, "--points", moved, "--out", out, "--overwrite")
        self.assertEqual(npy_labels(out), npy_labels(want))
        changed = self.write("changed.csv", moved.read_text().replace(f"\n0,{self.rows[0][1]!r}", "\n0,7"))
        self.fails_after_reading(3, ["not the points of the results", "--points"], "predict", moved, *clustering,
                                 "--points", changed)
        self.fails(2, ["metric", "leave"], "predict", moved, *clustering, "--points", moved, "--unit", "deg")
        self.fails(2, ["--labels", "leave it out"], "predict", moved, *clustering, "--labels", want)
        self.fails(2, ["--minpts is missing"], "predict", moved, *clustering[:-2])
        self.fails(2, ["one minpts"], "predict", moved, *clustering[:-1], "4,5")
        self.fails(2, ["--minpts", "--results"], "predict", self.points, *self.clustering, "--minpts", 5)
        self.fails(3, ["no variant with eps 51 and minpts 5", "4 variants"], "predict", moved, "--results", folder,
                   "--eps", 51, "--minpts", 5)
        self.fails(3, ["holds no results", "sweep.json is missing there"], "predict", moved, "--results", self.folder,
                   "--eps", 1, "--minpts", 5)
        mask = folder / "core" / "eps_50_minpts_5.npy"
        mask.write_bytes(mask.read_bytes()[:-1] + b"\x02")
        self.fails(3, ["core/eps_50_minpts_5.npy", "has changed"], "predict", moved, *clustering)
        self.succeeds("sweep", moved, *how, "--eps", 50, "--minpts", 5, "--out", folder, "--overwrite")
        self.fails(3, ["no mask of core points", "--core"], "predict", moved, *clustering)

    def test_points_of_several_files_that_have_moved(self):
        text = self.points.read_text().splitlines(keepends=True)
        old = [self.write("a,1.csv", "".join(text[:101])), self.write("b.csv", text[0] + "".join(text[101:]))]
        folder, out = self.folder / "r", self.folder / "out.npy"
        self.succeeds("sweep", *old, "--eps", 0.5, "--minpts", 5, "--core", "--out", folder)
        clustering = ["--results", folder, "--eps", 0.5, "--minpts", 5, "--out", out, "--overwrite"]
        self.succeeds("predict", self.points, *clustering)
        self.assertEqual(npy_labels(out), npy_labels(self.labels))
        moved = [file.rename(self.folder / f"moved {file.name}") for file in old]
        self.fails(3, ["a,1.csv", "not there", "--points", "2 files"], "predict", self.points, *clustering)
        out.unlink()
        self.succeeds("predict", self.points, *clustering, "--points", moved[0], "--points", moved[1])
        self.assertEqual(npy_labels(out), npy_labels(self.labels))
        for files in ([moved[0]], moved[::-1]):
            words = [word for file in files for word in ("--points", file)]
            self.fails_after_reading(3, ["not the points of the results"], "predict", self.points, *clustering, *words)
        # The same holds for labels and masks in files.
        words = ["--labels", self.labels, "--core", self.core, "--eps", 0.5, "--out", out, "--overwrite"]
        self.succeeds("predict", self.points, "--points", moved[0], "--points", moved[1], *words)
        self.assertEqual(npy_labels(out), npy_labels(self.labels))
        self.fails(2, ["is the input"], "predict", self.points, "--points", moved[0], "--points", moved[1], *words[:-2],
                   moved[1])
        self.fails(2, ["--eps", "given twice"], "predict", self.points, *clustering, "--eps", 1)

    def test_labels_that_are_no_numbers_are_no_rows_to_drop(self):
        wrong = self.write("w.csv", "label\n" + "0\n" * 7 + "nan\n" * 293)
        words = ["--points", self.points, "--labels", wrong, "--core", self.core, "--eps", 0.5]
        p = run("predict", self.points, *words)
        self.assertEqual(p.returncode, 3)
        self.assertIn("w.csv has no number in row 7, and each of the labels is one", p.stderr)
        self.assertNotIn("--on-nan", p.stderr)

    def test_what_does_not_belong_together_is_refused(self):
        swapped = ["--points", self.points, "--labels", self.core, "--core", self.labels, "--eps", 0.5]
        self.fails(3, ["l.npy", "mask of core points", "swapped"], "predict", self.points, *swapped)
        self.fails(2, ["standard input", "once"], "predict", "-", "--points", "-", *self.clustering[2:])
        new = self.write("n.csv", "x,y\n0,0\n")
        self.fails(2, ["--points", "--labels", "--core", "--eps"], "predict", new)
        self.fails(2, ["one eps"], "predict", new, *self.clustering[:-1], "0.5,1")
        few = self.write("few.csv", "x,y\n0,0\n")
        self.fails(3, ["l.npy", "300 rows", "1 point"], "predict", new, "--points", few, *self.clustering[2:])
        self.fails(2, ["columns are x", "--columns"], "predict", self.write("o.csv", "x\n1\n"), *self.clustering)
        self.fails(2, ["1 dimensions"], "predict", self.write("u.csv", "1\n2\n"), *self.clustering)
        self.fails(2, [".h5"], "predict", new, *self.clustering, "--out", self.folder / "o.h5")
        wrong = self.write("w.csv", "label\n" + "0.5\n" * 300)
        self.fails(3, ["w.csv", "0.5", "row 0"], "predict", new, "--points", self.points, "--labels", wrong,
                   "--core", self.core, "--eps", 0.5)


if __name__ == "__main__":
    unittest.main()
