"""Tests tables of neighbours as input: labels equal the labels of the points, and errors describe the fault."""
import json
import random
import unittest

from support import ProgramTest, summary


class Tables(ProgramTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(3)
        rows = [f"{draw.gauss(c, 0.1)!r},{draw.gauss(c, 0.1)!r}\n" for c in (0, 1) for _ in range(80)]
        self.points = self.write("points.csv", "x,y\n" + "".join(rows))
        self.variant = ["--eps", 0.2, "--minpts", 4]
        self.words = ["--neighbors", *self.variant]
        self.table, self.bare = self.folder / "table.h5", self.folder / "bare.h5"
        self.succeeds("neighbors", self.points, "--eps", 0.2, "--distances", "--out", self.table)
        self.succeeds("neighbors", self.points, "--eps", 0.2, "--out", self.bare)

    def test_a_sweep_of_a_table_is_that_of_its_points(self):
        words = ["--eps", "0.05,0.1,0.2", "--minpts", "3,5", "--core", "--out"]
        self.succeeds("sweep", self.points, *words, self.folder / "points")
        p = self.succeeds("sweep", self.table, "--neighbors", *words, self.folder / "table", "--json")
        self.assertIn("table of neighbours within 0.2", p.stderr)
        self.assertIn("with distances", p.stderr)
        told = json.loads(p.stdout)
        self.assertEqual((told["metric"], told["points"], told["inputs"][0]["rows"]), ("precomputed", 160, 160))
        of_points, of_table = summary(self.folder / "points"), summary(self.folder / "table")
        self.assertEqual(set(of_points), set(of_table))
        self.assertGreater(len({row["clusters"] for row in of_points.values()}), 1)
        for variant, row in of_points.items():
            for name in ("clusters", "noise", "core", "border", "largest", "crc32"):
                self.assertEqual(of_table[variant][name], row[name], variant)

    def test_a_folder_of_a_table_goes_on_and_takes_no_points(self):
        out = ["--out", self.out]
        self.succeeds("sweep", self.table, "--neighbors", "--eps", 0.1, "--minpts", 3, *out)
        p = self.succeeds("sweep", self.table, "--neighbors", "--eps", "0.1,0.2", "--minpts", 3, *out, "--resume")
        self.assertEqual(set(summary(self.out)), {(0.1, 3), (0.2, 3)})
        self.assertIn("1 variant of 160 points (precomputed)", p.stdout)
        self.fails(3, ["another input", "table.h5"], "sweep", self.points, "--eps", 0.1, "--minpts", 3, *out,
                   "--resume")

    def test_one_variant(self):
        core = [self.folder / name for name in ("of_points.npy", "of_table.npy")]
        expected = self.labels_of("cluster", self.points, *self.variant, "--core", core[0])
        for table in (self.table, self.bare):
            found = self.labels_of("cluster", table, *self.words, "--core", core[1], "--backend", "cpu", "--threads", 1)
            self.assertEqual(found, expected)
            self.assertEqual(core[0].read_bytes(), core[1].read_bytes())
            self.assertIn("160 points: 2 clusters", self.succeeds("cluster", table, *self.words).stdout)
            told = self.json("cluster", table, *self.words)
            self.assertEqual((told["metric"], told["clusters"]), ("precomputed", 2))
        lines = self.succeeds("cluster", self.table, *self.words, "--out", "-").stdout.split()
        self.assertEqual(tuple(map(int, lines[1:])), expected)
        self.fails(2, ["labels.h5", ".npy"], "cluster", self.table, *self.words, "--out", self.folder / "labels.h5")

    def test_tables_and_eps_that_cannot_be(self):
        """cluster_table_test.cpp and read_neighbors_test.cpp have every reason."""
        self.fails(2, ["within 0.2", "no distances", "eps 0.1", "make it with distances"],
                   "cluster", self.bare, "--neighbors", "--eps", 0.1, "--minpts", 4)
        self.fails(3, [str(self.points), "tables of neighbours are HDF5", "epsflow neighbors"],
                   "cluster", self.points, *self.words)

    def test_options_of_points_are_refused(self):
        for words in (["--columns", "x,y"], ["--metric", "cosine"], ["--weight", "w"], ["--strategy", "table"],
                      ["--index", "grid"], ["--verify"], ["--labelled", "l.csv"]):
            self.fails(2, [words[0], "--neighbors", "leave one of them out"], "cluster", self.table, *self.words,
                       *words)
        for words in (["--keep", "summary"], ["--lineage"], ["--labelled", "csv"]):
            self.fails(2, [words[0], "--neighbors"], "sweep", self.table, *self.words, *words, "--out", self.out)
        self.fails(2, ["one table", "2 files"], "cluster", self.table, self.bare, *self.words)
        self.fails(2, ["CPU", "--gpu-memory"], "cluster", self.table, *self.words, "--gpu-memory", "2G")


if __name__ == "__main__":
    unittest.main()
