"""Tests the prediction of clusters of new points."""
import json
import random
import unittest

from support import ProgramTest, manifest, npy_labels


class Predict(ProgramTest):
    def setUp(self):
        super().setUp()
        source = random.Random(5)
        self.rows = [(source.gauss(10 * (i % 3), 1), source.gauss(0, 1)) for i in range(300)]
        self.swapped = [(y, x) for x, y in self.rows]
        self.points = self.write_rows("p.csv", "x,y", self.rows)
        self.variant = ["--eps", 0.5, "--minpts", 5]
        self.labels, self.core = self.folder / "l.npy", self.folder / "c.npy"
        self.succeeds("cluster", self.points, *self.variant, "--out", self.labels, "--core", self.core)
        self.clustering = ["--points", self.points, "--labels", self.labels, "--core", self.core, "--eps", 0.5]
        self.of_results = ["--results", self.out, *self.variant]

    def sweep(self, *words):
        """Makes the results folder of one variant, and returns its labels and its core mask, which are files."""
        self.succeeds("sweep", *words, "--core", "--out", self.out, "--overwrite")
        return [next((self.out / name).iterdir()) for name in ("labels", "core")]

    def assert_predicted(self, labels, *words):
        self.assertEqual(self.labels_of("predict", *words), npy_labels(labels), words)

    def test_points_of_the_clustering_get_their_own_labels(self):
        self.assert_predicted(self.labels, self.points, *self.clustering)
        labels = npy_labels(self.labels)
        self.assertEqual(len(set(labels)), 1 + max(labels) + 1)

    def test_new_points(self):
        new = self.write("n.csv", "x,y\n0,0\n10,0\n20,0\n5,0\n")
        p = self.succeeds("predict", new, *self.clustering, "--out", "-")
        for name in ("n.csv", str(self.points).rsplit("/", 1)[-1]):  # a line describes each input
            self.assertIn(f"{name}: text", p.stderr)
        found = [int(line) for line in p.stdout.split()[1:]]
        self.assertEqual(found[3], -1)
        self.assertEqual(len(set(found[:3])), 3)
        result = self.json("predict", new, *self.clustering)
        self.assertEqual((result["points"], result["noise"]), (4, 1))
        absent = self.folder / "absent.csv"  # the error comes before a file is read
        self.fails(2, ["--out - and --json both go to standard output"], "predict", absent, *self.clustering, "--out",
                   "-", "--json")

    def test_new_points_need_no_weights(self):
        weighted = self.write_rows("w.csv", "w,x,y", [(1, x, y) for x, y in self.rows])
        labels, core = self.sweep(weighted, "--weight", "w", *self.variant)
        for new in (self.points, weighted, self.write_rows("s.csv", "y,x", self.swapped)):
            self.assert_predicted(labels, new, *self.of_results)
        self.fails(2, ["--weight"], "predict", self.points, "--weight", "w", *self.of_results)
        moved = self.write_rows("other.csv", "x,y", self.rows)
        self.assert_predicted(labels, moved, *self.of_results, "--points", moved)
        self.assert_predicted(labels, weighted, "--columns", "x,y", "--points", weighted, "--labels", labels,
                              "--core", core, "--eps", 0.5)

    def test_columns_by_their_names_in_either_file(self):
        labels, core = self.folder / "gl.npy", self.folder / "gc.npy"
        metric = ["--metric", "greatcircle", "--eps", 0.5]
        old = self.write_rows("old.csv", "lat,lon", self.swapped)
        self.succeeds("cluster", old, *metric, "--minpts", 5, "--out", labels, "--core", core)
        self.assertGreater(max(npy_labels(labels)), 1)
        # If columns are in another order, they are found by name or refused.
        for new in (old, self.write_rows("more.csv", "id,lon,lat", [("p7", x, y) for x, y in self.rows])):
            self.assert_predicted(labels, new, "--points", old, "--labels", labels, "--core", core, *metric)
        self.fails(2, ["y, x", "x, y", "--columns"], "predict", self.write("t.csv", "y,x\n0,0\n"), *self.clustering)

    def test_longitude_and_latitude_of_results_and_of_new_points_each_by_its_own_names(self):
        sky = ["--metric", "greatcircle", *self.variant]
        plain = self.write_rows("plain.csv", None, self.swapped)
        named = self.write_rows("named.csv", "lon,lat", self.rows)
        # Results have latitude first and no names.
        labels, _ = self.sweep(plain, *sky, "--latitude-first")
        self.assertGreater(max(npy_labels(labels)), 1)
        for words in ([named], [plain, "--latitude-first"]):
            self.assert_predicted(labels, *words, *self.of_results)
        # Results have names; points without names need the option.
        expected = npy_labels(labels)
        labels, _ = self.sweep(named, *sky)
        self.assertEqual(npy_labels(labels), expected)
        self.assert_predicted(labels, plain, "--latitude-first", *self.of_results)
        # Columns of another coordinate system are refused.
        self.fails(2, ["l, b", "lon, lat", "another system"], "predict", self.write("g.csv", "l,b\n0,0\n"),
                   *self.of_results)
        # With haversine, latitude comes first by default.
        haversine = self.write_rows("h.csv", "lon,lat", [(x / 60, y / 60) for x, y in self.rows])
        nameless = self.write_rows("n.csv", None, [(y / 60, x / 60) for x, y in self.rows])
        labels, _ = self.sweep(haversine, "--metric", "haversine", "--eps", 0.01, "--minpts", 5)
        self.assertGreater(max(npy_labels(labels)), 1)
        for words in ([nameless], [nameless, "--latitude-first"], [haversine]):
            self.assert_predicted(labels, *words, "--results", self.out, "--eps", 0.01, "--minpts", 5)

    def test_new_points_in_another_kind_of_file(self):
        text = self.write("t.txt", self.points.read_text().replace(",", ";"))
        self.sweep(text, "--delimiter", ";", *self.variant)
        self.assert_predicted(self.labels, self.points, *self.of_results)
        described = manifest(self.out)
        described["runs"][-1]["options"]["eps"] = 0.5
        (self.out / "sweep.json").write_text(json.dumps(described))
        self.fails(3, ["sweep.json", "did not write"], "predict", self.points, *self.of_results)

    def test_rows_that_are_dropped(self):
        new = self.write("n.csv", "x,y\nnan,1\n0,0\n5,0\n")
        self.assertEqual(len(self.labels_of("predict", new, *self.clustering, "--on-nan", "drop")), 2)
        self.assertTrue((self.folder / "labels.rows.npy").exists())

    def test_options_that_would_count_for_nothing_are_none_of_its(self):
        for words in (["--backend", "cpu"], ["--gpu", 0], ["--gpu-memory", "1G"], ["--strategy", "direct"],
                      ["--index", "grid"], ["--decide", "scalar"], ["--kernel", "rows"], ["--table-format", "csr"],
                      ["--method", "each"], ["--tables", 1], ["--lanes", 1], ["--batch-pairs", 1], ["--verify"]):
            self.fails(2, [f"predict has no option {words[0]}"], "predict", self.points, *self.clustering, *words)
        self.succeeds("predict", self.points, *self.clustering, "--memory", "1G", "--threads", 1)
        self.fails(4, ["--memory"], "predict", self.points, *self.clustering, "--memory", "1k")

    def test_by_a_results_folder(self):
        old = self.write_rows("old.csv", "id,lat,lon", [(i, y, x) for i, (x, y) in enumerate(self.rows)])
        want = self.folder / "want.npy"
        how = ["--columns", "lon,lat", "--metric", "greatcircle", "--unit", "km"]
        self.succeeds("sweep", old, *how, "--eps", "30,50", "--minpts", "4,5", "--core", "--out", self.out)
        self.succeeds("cluster", old, *how, "--eps", 50, "--minpts", 5, "--out", want)
        clustering = ["--results", self.out, "--eps", 50, "--minpts", 5]
        self.assert_predicted(want, old, *clustering)
        # Input options apply only to the new points.
        result = self.json("predict", self.write("new.txt", "0;0\n0;10\n0;5\n"), *clustering, "--columns", "1,0")
        self.assertEqual((result["points"], result["noise"], result["metric"]), (3, 1, "greatcircle, eps in km"))
        moved = self.folder / "moved.csv"
        old.rename(moved)
        self.fails(3, ["old.csv", "not there", "--points"], "predict", moved, *clustering)
        self.assert_predicted(want, moved, *clustering, "--points", moved)
        changed = self.write("changed.csv", moved.read_text().replace(f"\n0,{self.rows[0][1]!r}", "\n0,7"))
        self.fails(3, ["not the points of the results", "--points"], "predict", moved, *clustering, "--points", changed)
        self.fails(2, ["metric", "leave"], "predict", moved, *clustering, "--points", moved, "--unit", "deg")
        self.fails(2, ["--labels", "leave it out"], "predict", moved, *clustering, "--labels", want)
        self.fails(2, ["--minpts is missing"], "predict", moved, *clustering[:-2])
        self.fails(2, ["one minpts"], "predict", moved, *clustering[:-1], "4,5")
        self.fails(2, ["--minpts", "--results"], "predict", self.points, *self.clustering, "--minpts", 5)
        mask = self.out / "core" / "eps_50_minpts_5.npy"
        mask.write_bytes(mask.read_bytes()[:-1] + b"\x02")
        self.fails(3, ["core/eps_50_minpts_5.npy", "has changed"], "predict", moved, *clustering)
        self.succeeds("sweep", moved, *how, "--eps", 50, "--minpts", 5, "--out", self.out, "--overwrite")
        self.fails(3, ["no mask of core points", "--core"], "predict", moved, *clustering)

    def test_points_of_several_files_that_have_moved(self):
        text = self.points.read_text().splitlines(keepends=True)
        old = [self.write("a,1.csv", "".join(text[:101])), self.write("b.csv", text[0] + "".join(text[101:]))]
        self.sweep(*old, *self.variant)
        self.assert_predicted(self.labels, self.points, *self.of_results)
        moved = [file.rename(self.folder / f"moved {file.name}") for file in old]
        both = ["--points", moved[0], "--points", moved[1]]
        self.fails(3, ["a,1.csv", "not there", "--points", "2 files"], "predict", self.points, *self.of_results)
        self.assert_predicted(self.labels, self.points, *self.of_results, *both)
        for words in (both[:2], [*both[2:], *both[:2]]):
            self.fails(3, ["not the points of the results"], "predict", self.points, *self.of_results, *words)
        # The same holds for labels and masks in files.
        words = [self.points, *both, *self.clustering[2:]]
        self.assert_predicted(self.labels, *words)
        self.fails(2, ["is the input"], "predict", *words, "--out", moved[1])
        self.fails(2, ["--eps", "given twice"], "predict", self.points, *self.of_results, "--eps", 1)

    def test_labels_that_are_no_numbers_are_no_rows_to_drop(self):
        wrong = self.write("w.csv", "label\n" + "0\n" * 7 + "nan\n" * 293)
        words = ["--points", self.points, "--labels", wrong, "--core", self.core, "--eps", 0.5]
        part = "w.csv has no number in row 7, and each of the labels is one"
        self.assertNotIn("--on-nan", self.fails(3, [part], "predict", self.points, *words).stderr)

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
