"""Tests DBCV of label files and of variants in results folders, and errors for other labels."""
import random
import unittest

from support import ProgramTest


class Validity(ProgramTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(1)
        self.xy = [(draw.gauss(c, 0.1), draw.gauss(c, 0.1)) for c in (0, 5) for _ in range(60)]
        self.xy += [(draw.uniform(-20, 20), draw.uniform(-20, 20)) for _ in range(10)]
        self.points = self.write_rows("points.csv", "x,y", self.xy)

    def sweep(self, *words, eps=0.3, minpts=4):
        self.succeeds("sweep", self.points, "--eps", eps, "--minpts", minpts, *words, "--out", self.out, "--quiet")

    def judged(self, *words, points=None):
        return self.json("validity", points or self.points, *words, "--quiet")["labellings"]

    def test_a_folder_is_judged_variant_by_variant_and_as_its_files_are(self):
        self.sweep(eps="0.15,0.3", minpts="4,8")
        cells = self.judged("--results", self.out)
        self.assertEqual([(c["eps"], c["minpts"]) for c in cells], [(0.15, 4), (0.15, 8), (0.3, 4), (0.3, 8)])
        for cell in cells:
            file = self.out / "labels" / f"eps_{cell['eps']:g}_minpts_{cell['minpts']}.npy"
            [alone] = self.judged("--labels", file)
            self.assertEqual({k: cell[k] for k in ("validity", "error", "clusters")}, alone)
            mean = sum(c["points"] * (c["validity"] or 0) for c in cell["clusters"]) / len(self.xy)
            self.assertAlmostEqual(cell["validity"], mean, places=12)
        [one] = self.judged("--results", self.out, "--cell", "0.3:8")
        self.assertEqual(one, cells[3])
        self.assertGreater(one["validity"], 0.6)
        table = self.succeeds("validity", self.points, "--results", self.out).stdout.split("\n")
        self.assertEqual(table[0].split(), ["eps", "minpts", "clusters", "validity", "error"])
        self.assertEqual(table[4].split()[:3], ["0.3", "8", "2"])

    def test_samples_have_an_error(self):
        self.sweep()
        [exact] = self.judged("--results", self.out)
        [sampled] = self.judged("--results", self.out, "--sample", 20, "--samples", 2)
        self.assertEqual(exact["error"], 0)
        self.assertGreater(sampled["error"], 0)

    def test_what_cannot_be(self):
        self.sweep()
        other = self.write("other.csv", "x,y\n1,2\n3,4\n")
        labels = self.out / "labels" / "eps_0.3_minpts_4.npy"
        self.fails(2, ["--results", "--labels"], "validity", self.points)
        self.fails(2, ["--cell", "--labels"], "validity", self.points, "--labels", labels, "--cell", "0.3:4")
        self.fails(3, ["the points that were clustered"], "validity", other, "--results", self.out)
        self.fails(3, ["130 labels", "2 points"], "validity", other, "--labels", labels)
        self.sweep("--keep", "summary", "--overwrite")
        self.fails(3, ["no labels of eps 0.3", "--keep summary"], "validity", self.points, "--results", self.out)
        self.sweep("--metric", "greatcircle", "--overwrite", eps=30)
        self.fails(3, ["Euclidean"], "validity", self.points, "--results", self.out)

    def test_labelled_files_in_which_rows_were_dropped(self):
        rows = [list(row) for row in self.xy]
        rows[3][0] = rows[70][1] = ""
        points = self.write_rows("gaps.csv", "x,y", rows)
        cluster = ("cluster", points, "--on-nan", "drop", "--eps", 0.3, "--minpts", 4, "--quiet")
        made = [self.folder / "l.npy", self.folder / "l.csv"]
        self.succeeds(*cluster, "--out", made[0], "--labelled", made[1])
        judge = ("validity", points, "--on-nan", "drop", "--quiet")
        npy, csv = (self.json(*judge, "--labels", file) for file in made)
        self.assertEqual(npy, csv)
        self.assertEqual(npy["points"], len(rows) - 2)
        whole = self.write("whole.csv", "label\n" + "0\n" * len(rows))  # includes rows that are dropped
        self.assertEqual(self.json(*judge, "--labels", whole)["points"], len(rows) - 2)
        gap = self.write("gap.csv", "label,x\n" + "0,1\n" * 9 + ",1\n" + "0,1\n" * (len(rows) - 10))
        self.fails(3, ["has no number in row 9"], *judge, "--labels", gap)


if __name__ == "__main__":
    unittest.main()
