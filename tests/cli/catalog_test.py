"""Tests catalogues of clusters and of groups of friends: contents, files and errors."""
import random
import unittest

from support import ProgramTest, npz, table


class Catalog(ProgramTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(2)
        self.rows = [(draw.gauss(c, 0.1), draw.gauss(c, 0.1), draw.uniform(0, 2), draw.random())
                     for c in (1, 4) for _ in range(50)]
        self.rows += [(draw.uniform(-20, -10), draw.uniform(-20, -10), 1, 0.5) for _ in range(5)]
        draw.shuffle(self.rows)
        self.points = self.write_rows("points.csv", "x,y,mass,v", self.rows)
        self.run_words = (self.points, "--columns", "x,y", "--eps", "0.3", "--minpts", "4")

    def test_rows_are_what_the_labels_say(self):
        found = self.succeeds("cluster", *self.run_words, "--weight", "mass", "--stats", "v", "--out",
                              self.folder / "labels.csv", "--core", self.folder / "core.npy", "--catalog", "-",
                              "--quiet").stdout
        labels = [int(row["label"]) for row in table((self.folder / "labels.csv").read_text())]
        clusters = table(found)
        self.assertEqual([int(c["cluster"]) for c in clusters], list(range(max(labels) + 1)))
        for c in clusters:
            members = [i for i, label in enumerate(labels) if label == int(c["cluster"])]
            _, y, masses, v = zip(*(self.rows[i] for i in members))
            self.assertEqual(int(c["size"]), len(members))
            self.assertIn(int(c["first_core"]), members)
            self.assertAlmostEqual(float(c["mass_total"]), sum(masses), places=9)
            center = sum(m * value for m, value in zip(masses, y)) / sum(masses)
            self.assertAlmostEqual(float(c["y_center"]), center, places=9)
            self.assertEqual((float(c["y_lower"]), float(c["y_upper"])), (min(y), max(y)))
            self.assertAlmostEqual(float(c["v_sum"]), sum(v), places=9)
            self.assertEqual(float(c["v_max"]), max(v))

    def test_a_folder_has_one_for_each_variant_and_makes_them_again_for_other_columns(self):
        words = (self.points, "--columns", "x,y", "--eps", "0.2,0.3", "--minpts", "4", "--out", self.out, "--quiet")
        self.succeeds("sweep", *words)
        self.succeeds("sweep", *words, "--catalog", "csv", "--resume")
        files = sorted(p.name for p in (self.out / "catalog").iterdir())
        self.assertEqual(files, ["eps_0.2_minpts_4.csv", "eps_0.3_minpts_4.csv"])
        plain = (self.out / "catalog" / files[1]).read_text()
        self.assertNotIn("v_mean", plain)
        self.succeeds("sweep", *words, "--catalog", "csv", "--resume")
        self.assertEqual((self.out / "catalog" / files[1]).read_text(), plain)
        self.succeeds("sweep", *words, "--catalog", "csv", "--stats", "v", "--resume")
        self.assertIn("v_mean", (self.out / "catalog" / files[1]).read_text())

    def test_every_format_holds_the_same(self):
        expected = table(self.succeeds("cluster", *self.run_words, "--catalog", "-", "--quiet").stdout)
        for extension in ("fits", "h5"):
            file = self.folder / f"c.{extension}"
            self.succeeds("cluster", *self.run_words, "--catalog", file, "--quiet")
            # The program reads its own tables, with centres as points. At minpts 1 and this eps, each is a cluster.
            rows = table(self.succeeds("cluster", file, "--columns", "x_center,y_center,size", "--eps", "1e-9",
                                       "--minpts", "1", "--labelled", "-", "--quiet").stdout)
            for name in ("x_center", "size"):
                self.assertEqual([float(r[name]) for r in rows], [float(r[name]) for r in expected])

    def test_what_cannot_be(self):
        self.fails(2, ["--stats", "--catalog"], "cluster", *self.run_words, "--stats", "v")
        self.fails(2, [".csv", ".fits"], "cluster", *self.run_words, "--catalog", "c.npy")
        self.fails(2, ["--catalog", "--keep summary"], "sweep", *self.run_words, "--keep", "summary",
                   "--catalog", "csv", "--out", "r")
        self.fails(3, ["there is no column", "w"], "cluster", *self.run_words, "--stats", "w", "--catalog", "-")
        text = self.write("text.csv", "x,y,name\n1,2,a\n3,4,b\n")
        self.fails(3, ["name"], "cluster", text, "--columns", "x,y", "--eps", "9", "--minpts", "1", "--stats", "name",
                   "--catalog", "-")
        negative = self.write("negative.csv", "x,y,m\n1,2,3\n1,2,-1\n")
        self.fails(3, ["row 1", "point 1", "weight, -1", "column m"], "fof", negative, "--columns", "x,y",
                   "--weight", "m", "--linking-length", "1", "--catalog", "-")


class Friends(ProgramTest):
    def setUp(self):
        super().setUp()
        # Groups of 3, 5 and 2 lie in a box of 10, the second across a face. One point is isolated.
        self.x = [1, 1.1, 1.2, 9.8, 9.9, 0.0, 0.1, 0.2, 5, 5.1, 7]
        self.points = self.write_rows("box.csv", "x,m,vx", [(x, i + 1, 10 * i) for i, x in enumerate(self.x)])
        self.words = ("fof", self.points, "--columns", "x", "--box", "10", "--linking-length", "0.15")

    def labels(self, *words):
        self.succeeds(*self.words, *words, "--out", self.folder / "g.csv", "--overwrite", "--quiet")
        return [int(row["label"]) for row in table((self.folder / "g.csv").read_text())]

    def test_numbers(self):
        self.assertEqual(self.labels(), [1, 1, 1, 0, 0, 0, 0, 0, 2, 2, -1])
        self.assertEqual(self.labels("--ids", "first"), [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, -1])
        self.assertEqual(self.labels("--min-size", "3"), [1, 1, 1, 0, 0, 0, 0, 0, -1, -1, -1])
        self.assertEqual(self.labels("--min-size", "1"), [1, 1, 1, 0, 0, 0, 0, 0, 2, 2, 3])
        self.assertEqual(self.labels("--dialect", "swift")[-2:], [3, 2147483647])
        self.assertEqual(self.labels("--dialect", "nbodykit")[-2:], [3, 0])

    def test_catalogue(self):
        found = table(self.succeeds(*self.words, "--weight", "m", "--velocity", "vx", "--catalog", "-",
                                    "--quiet").stdout)
        self.assertEqual([int(g["group"]) for g in found], [0, 1, 2])
        self.assertEqual([int(g["size"]) for g in found], [5, 3, 2])
        self.assertEqual([int(g["first_core"]) for g in found], [3, 0, 8])
        # Masses of 4 to 8 lie at -0.2 to 0.2 and move at 30 to 70.
        self.assertAlmostEqual(float(found[0]["x_center"]), sum(m * (m - 6) / 10 for m in range(4, 9)) / 30 % 10)
        self.assertAlmostEqual(float(found[0]["vx_mean"]), sum(m * (m - 1) * 10 for m in range(4, 9)) / 30)
        swift = table(self.succeeds(*self.words, "--dialect", "swift", "--catalog", "-", "--quiet").stdout)
        self.assertEqual([int(g["group"]) for g in swift], [1, 2, 3])

    def test_a_fraction_of_the_mean_separation(self):
        said = self.json("fof", self.points, "--columns", "x", "--box", "10", "--b", "0.165", "--quiet")
        self.assertAlmostEqual(said["linking_length"], 0.15)
        self.assertEqual((said["groups"], said["ungrouped"]), (3, 1))

    def test_swifts_catalogue_and_attaching_keep_to_what_they_have(self):
        swift = ("--dialect", "swift", "--catalog", self.folder / "groups.hdf5", "--overwrite")
        # The error comes before the clustering, which this memory would not allow.
        self.fails(2, ["three dimensions", "1 column was read"], *self.words, *swift, "--memory", "1K")
        cube = self.write("cube.csv", "x,y,z\n1,1,1\n1,1,2\n")
        words = ("fof", cube, "--linking-length", "1", "--attach", cube)
        self.fails(2, ["--attached", "SWIFT's catalogue"], *words, *swift)
        self.succeeds(*words, *swift, "--attached", self.folder / "a.npy")

    def test_attaching_keeps_to_the_memory(self):
        others = self.write_rows("others.csv", "x", [(i / 1000,) for i in range(9000)])
        words = (*self.words, "--attach", others, "--attached", self.folder / "a.npy", "--overwrite")
        self.succeeds(*words)
        # The linked points take 88 bytes of the memory that the others need.
        self.fails(4, ["others.csv", "--memory", "linked take 88 bytes"], *words, "--memory", "72050")

    def test_what_cannot_be(self):
        self.fails(2, ["--linking-length", "--b"], "fof", self.points)
        self.fails(2, ["give one of them"], *self.words, "--b", "0.2")
        self.fails(2, ["--b", "--box"], "fof", self.points, "--columns", "x", "--b", "0.2")
        self.fails(2, ["--box"], "fof", self.points, "--columns", "x,m", "--box", "10,-", "--b", "0.2")
        self.fails(2, ["--velocity", "--catalog"], *self.words, "--velocity", "vx")
        self.fails(3, ["box"], "fof", self.points, "--columns", "x", "--box", "9", "--linking-length", "1")
        self.fails(2, ["--linking-length"], "fof", self.points, "--columns", "x", "--linking-length", "-1")


class Rows(ProgramTest):
    """First core points are row numbers of the input, as a text editor or a database counts them."""

    def setUp(self):
        super().setUp()
        self.points = self.write("gaps.csv", "x,y\n,\n0,0\nnan,1\n0,0.1\n5,5\n5,\n5,5.1\n")
        self.words = (self.points, "--on-nan", "drop", "--eps", 1, "--minpts", 2)

    def first_cores(self, file):
        return [int(row["first_core"]) for row in table(file.read_text())]

    def test_where_rows_were_dropped(self):
        out = self.folder / "c.csv"
        self.succeeds("cluster", *self.words, "--catalog", out)
        self.assertEqual(self.first_cores(out), [1, 4])
        self.succeeds("fof", self.points, "--on-nan", "drop", "--linking-length", 1, "--ids", "first", "--catalog", out,
                      "--overwrite")
        self.assertEqual(self.first_cores(out), [1, 4])
        self.succeeds("sweep", *self.words, "--catalog", "csv", "--lineage", "--out", self.out)
        self.assertEqual(self.first_cores(self.out / "catalog" / "eps_1_minpts_2.csv"), [1, 4])
        self.assertEqual(npz(self.out / "lineage.npz")["first_core"], (1, 4))
        self.succeeds("report", self.out, "--out", self.folder / "page.html")

    def test_where_files_were_joined(self):
        second = self.write("second.csv", "x,y\n,\n9,9\n9,9.1\n")
        out = self.folder / "c.csv"
        self.succeeds("cluster", self.points, second, *self.words[1:], "--catalog", out)
        self.assertEqual(self.first_cores(out), [1, 4, 8])
        self.succeeds("sweep", self.points, second, *self.words[1:], "--lineage", "--out", self.out)
        self.assertEqual(npz(self.out / "lineage.npz")["first_core"], (1, 4, 8))


if __name__ == "__main__":
    unittest.main()
