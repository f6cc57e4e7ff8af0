#!/usr/bin/env python3
"""The clusters of new points."""
import json
import random
import unittest

from support import ProgramTest, npy_labels


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
        for name in ("n.csv", str(self.points).rsplit("/", 1)[-1]):  # what was read is said of both
            self.assertIn(f"{name}: text", p.stderr)
        found = [int(line) for line in p.stdout.split()[1:]]
        self.assertEqual(found[3], -1)
        self.assertEqual(len(set(found[:3])), 3)
        result = json.loads(self.succeeds("predict", new, *self.clustering, "--json").stdout)
        self.assertEqual((result["points"], result["noise"]), (4, 1))

    def test_by_another_metric(self):
        labels, core = self.folder / "gl.npy", self.folder / "gc.npy"
        metric = ["--metric", "greatcircle", "--unit", "km", "--eps", 50]
        self.succeeds("cluster", self.points, *metric, "--minpts", 5, "--out", labels, "--core", core)
        out = self.folder / "out.npy"
        self.succeeds("predict", self.points, "--points", self.points, "--labels", labels, "--core", core, *metric, "--out", out)
        self.assertEqual(npy_labels(out), npy_labels(labels))

    def test_columns_by_their_names_in_either_file(self):
        labels, core, out = self.folder / "gl.npy", self.folder / "gc.npy", self.folder / "out.npy"
        metric = ["--metric", "greatcircle", "--eps", 0.5]
        old = self.write("old.csv", "lat,lon\n" + "".join(f"{y!r},{x!r}\n" for x, y in self.rows))
        self.succeeds("cluster", old, *metric, "--minpts", 5, "--out", labels, "--core", core)
        self.assertGreater(max(npy_labels(labels)), 1)
        words = ["--points", old, "--labels", labels, "--core", core, *metric]
        self.succeeds("predict", old, *words, "--out", out)
        self.assertEqual(npy_labels(out), npy_labels(labels))
        # In another order: found by name, or refused.
        more = self.write("more.csv", "id,lon,lat\n" + "".join(f"p7,{x!r},{y!r}\n" for x, y in self.rows))
        self.succeeds("predict", more, *words, "--out", out, "--overwrite")
        self.assertEqual(npy_labels(out), npy_labels(labels))
        self.fails(2, ["y, x", "x, y", "--columns"], "predict", self.write("t.csv", "y,x\n0,0\n"), *self.clustering)

    def test_rows_that_are_dropped(self):
        new = self.write("n.csv", "x,y\nnan,1\n0,0\n5,0\n")
        out = self.folder / "out.npy"
        self.succeeds("predict", new, *self.clustering, "--on-nan", "drop", "--out", out)
        self.assertEqual(len(npy_labels(out)), 2)
        self.assertTrue((self.folder / "out.rows.npy").exists())

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
        self.fails(3, ["w.csv", "0.5", "row 0"], "predict", new, "--points", self.points, "--labels", wrong, "--core", self.core, "--eps", 0.5)


if __name__ == "__main__":
    unittest.main()
