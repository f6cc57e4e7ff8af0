"""Tests the comparison of two labellings."""
import itertools
import math
import random
import shutil
import struct
import unittest
from collections import Counter

from support import ProgramTest, npy_labels


INDICES = ("adjusted_rand", "variation", "normalised_variation", "kept", "kept_back")


class Compare(ProgramTest):
    def setUp(self):
        super().setUp()
        source = random.Random(5)
        self.rows = [(source.gauss(4 * (i % 3), 1), source.gauss(0, 1)) for i in range(600)]
        self.points = self.write_rows("p.csv", "x,y", self.rows)
        self.sweep("--eps", "0.3,0.5", "--minpts", "4,8", "--out", self.out)

    def sweep(self, *words, points=None):
        self.succeeds("sweep", points or self.points, *words, "--quiet")

    def file(self, eps, minpts, folder=None):
        return (folder or self.out) / "labels" / f"eps_{eps}_minpts_{minpts}.npy"

    def compared(self, *words):
        return self.json("compare", *words)

    def assert_as_of_files(self, found, a, b):
        """Compares the indices with a comparison of two files of labels."""
        files = self.compared(a, b)
        self.assertEqual({name: found[name] for name in INDICES}, {name: files[name] for name in INDICES})

    def test_two_variants_of_a_folder(self):
        files = self.file(0.3, 8), self.file(0.5, 4)
        a, b = map(npy_labels, files)
        found = self.compared(self.out, "--cell", "0.3:8", "--cell", "0.5:4")
        self.assertEqual((found["points"], found["a"]["eps"], found["b"]["minpts"]), (600, 0.3, 4))
        self.assert_as_of_files(found, *files)
        self.assertEqual((found["a"]["clusters"], found["b"]["noise"]), (max(a) + 1, b.count(-1)))
        both = Counter(zip(a, b))
        sizes = [fate["points"] for fate in found["became"] if fate["cluster"] >= 0]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertEqual({fate["cluster"] for fate in found["became"]}, set(a))
        for fate in found["became"]:
            parts = {part["cluster"]: part["points"] for part in fate["parts"]}
            self.assertEqual(parts, {y: c for (x, y), c in both.items() if x == fate["cluster"] and y >= 0})
            self.assertEqual(list(parts.values()), sorted(parts.values(), reverse=True))
            self.assertEqual(fate["noise"], both[fate["cluster"], -1])
        self.assertEqual(self.compared(self.out, "--cell", "0.3:8,0.5:4"), found)
        self.assertEqual(len(self.compared(self.out, "--cell", "0.3:8,0.5:4", "--most", 1)["became"]), 2)

    def test_the_table(self):
        a = self.write("a.csv", "label\n0\n0\n0\n1\n1\n-1\n-1\n2\n")
        b = self.write("b.csv", "label\n5\n5\n-1\n5\n7\n7\n-1\n-1\n")
        p = self.succeeds("compare", a, b)
        self.assertEqual([line.split() for line in p.stdout.splitlines()[-5:]], [
            ["A", "points", "B", "common", "of", "A", "of", "B", "parts", "noise"],
            ["0", "3", "5", "2", "66.7", "%", "66.7", "%", "1", "1"],
            ["1", "2", "5", "1", "50.0", "%", "33.3", "%", "2", "0"],
            ["2", "1", "-", "-", "-", "-", "0", "1"],
            ["noise", "2", "7", "1", "50.0", "%", "50.0", "%", "1", "1"]])
        self.assertIn("3 clusters, 2 noise", p.stdout)
        found = self.compared(a, b)
        variation = 1.40922561989161  # like the adjusted Rand index, of scikit-learn
        for name, value in zip(INDICES, (-1 / 19, variation, variation / math.log(8), 3 / 6, 3 / 5)):
            self.assertAlmostEqual(found[name], value, places=12)
        self.assertIn("and 2 smaller clusters of A; --most shows more",
                      self.succeeds("compare", a, b, "--most", 1).stdout)
        self.assertEqual(self.succeeds("compare", a, b, "--quiet").stdout, "")

    def test_labels_of_every_kind_that_the_program_writes(self):
        points = ["cluster", self.points, "--eps", 0.5, "--minpts", 4, "--quiet"]
        files = [self.folder / f"l.{kind}" for kind in ("npy", "csv", "fits", "h5")]
        copies = [self.folder / f"copy.{kind}" for kind in ("csv", "h5")]
        for file in files:
            self.succeeds(*points, "--out", file)
        for file in copies:
            self.succeeds(*points, "--labelled", file)
        for file in files + copies:
            found = self.compared(file, self.out, "--eps", 0.5, "--minpts", 4)
            self.assertEqual((found["points"], found["adjusted_rand"], found["variation"]), (600, 1, 0), file)
        renamed = self.write("renamed.csv", copies[0].read_text().replace("label", "group"))
        self.assertEqual(self.compared(renamed, files[0], "--columns", "group", "--columns", 0)["adjusted_rand"], 1)
        found = self.compared(renamed, self.out, "--eps", 0.5, "--minpts", 4, "--columns", "group")
        self.assertEqual(found["adjusted_rand"], 1)
        self.fails(2, ["more than twice"], "compare", renamed, renamed, *["--columns", "group"] * 3)
        self.fails(3, ["no column 'grup'"], "compare", renamed, renamed, "--columns", "grup")
        self.fails(3, ["3 columns", "labels are one column"], "compare", renamed, files[0])
        self.assertEqual(self.json("compare", "-", files[0], input=files[1].read_text())["adjusted_rand"], 1)

    def test_every_variant_that_two_folders_have(self):
        other = self.folder / "other"
        self.sweep("--metric", "chebyshev", "--eps", "0.5,0.3,0.7", "--minpts", "4", "--out", other)
        found = self.compared(self.out, other)
        self.assertEqual([(v["eps"], v["minpts"]) for v in found["variants"]], [(0.3, 4), (0.5, 4)])
        self.assertEqual((found["only_a"], found["only_b"]), (2, 1))
        for variant in found["variants"]:
            files = [self.file(variant["eps"], 4, folder) for folder in (self.out, other)]
            self.assert_as_of_files(variant, *files)
            a, b = map(npy_labels, files)
            self.assertEqual((variant["clusters_a"], variant["noise_b"]), (max(a) + 1, b.count(-1)))
        p = self.succeeds("compare", self.out, other)
        self.assertEqual(len(p.stdout.splitlines()), 4)
        self.assertIn("2 variants in both", p.stdout)
        # One cell applies to both results. Of two cells, the first applies to A.
        self.assertEqual(self.compared(self.out, other, "--cell", "0.5:4")["adjusted_rand"],
                         found["variants"][1]["adjusted_rand"])
        self.assertEqual(self.compared(self.out, other, "--cell", "0.3:8", "--cell", "0.7:4")["b"]["eps"], 0.7)

    def test_what_cannot_be_compared(self):
        def refuses(code, parts, *words):
            self.fails(code, parts, "compare", *words)

        labels = self.write("l.csv", "label\n" + "0\n" * 600)
        few = self.write("few.csv", "label\n0\n")
        refuses(2, ["A [B] is missing"])
        refuses(2, ["l.csv is one", "name another"], labels)
        refuses(2, ["3 are named"], labels, labels, labels)
        refuses(2, ["standard input", "once"], "-", "-")
        refuses(3, ["l.csv has 600 labels", "few.csv has 1 label", "same points"], labels, few)
        refuses(3, ["absent.csv"], labels, self.folder / "absent.csv")
        refuses(2, ["one folder", "--cell EPS:MINPTS", "twice"], self.out)
        refuses(2, ["one folder"], self.out, "--cell", "0.3:4")
        refuses(2, ["holds 4 variants", "--cell"], labels, self.out)
        refuses(2, ["both are files"], labels, labels, "--cell", "0.3:4")
        refuses(2, ["one of the two is a file"], labels, self.out, "--cell", "0.3:4", "--cell", "0.5:4")
        refuses(2, ["3 cells"], self.out, "--cell", "0.3:4,0.5:4,0.5:8")
        refuses(2, ["either --cell or --eps"], self.out, self.out, "--cell", "0.3:4", "--eps", 0.3)
        refuses(2, ["give both"], self.out, self.out, "--eps", 0.3)
        refuses(2, ["one variant", "--cell"], self.out, self.out, "--eps", "0.3,0.5", "--minpts", 4)
        refuses(3, ["no variant with eps 0.4 and minpts 4", "4 variants"], self.out, "--cell", "0.3:4,0.4:4")
        refuses(3, ["holds no results", "sweep.json is missing there"], self.folder, "--cell", "0.3:4,0.5:4")
        for text, parts in (("0.5", ["0.5 in row 0", "clusters from 0 on"]), ("-2", ["-2 in row 0"]),
                            ("nan", ["no number in row 0"])):
            wrong = self.write("wrong.csv", f"label\n{text}\n" + "0\n" * 599)
            refuses(3, ["wrong.csv", *parts], labels, wrong)
        file = self.file(0.3, 4)
        file.write_bytes(file.read_bytes()[:-4] + struct.pack("<i", 9))
        refuses(3, ["eps_0.3_minpts_4.npy", "has changed"], self.out, "--cell", "0.3:4,0.5:4")

    def test_folders_of_other_points(self):
        moved = self.write("m.csv", self.points.read_text().replace(f"{self.rows[0][0]!r}", "77"))
        other = self.folder / "other"
        self.sweep("--eps", 0.3, "--minpts", 4, "--out", other, points=moved)
        p = self.fails(3, ["other points", "crc32:", "compare the files in their labels/"], "compare", self.out, other)
        self.assertNotIn("--cell", p.stderr)
        self.compared(self.file(0.3, 4), self.file(0.3, 4, other))
        # Results with weights and metrics still have the same points.
        weighted = self.write_rows("w.csv", "x,y,w", [(x, y, 2) for x, y in self.rows])
        shutil.rmtree(other)
        self.sweep("--weight", "w", "--eps", 0.3, "--minpts", 4, "--out", other, points=weighted)
        self.assertLess(self.compared(self.out, other)["variants"][0]["adjusted_rand"], 1)
        shutil.rmtree(other)
        self.sweep("--eps", 0.6, "--minpts", 4, "--out", other)
        self.fails(3, ["no variant in common"], "compare", self.out, other)

    def test_labelled_files_in_which_rows_were_dropped(self):
        rows = [list(row) for row in self.rows]
        for i in (0, 17, 599):
            rows[i][i % 2] = ""
        points = self.write_rows("gaps.csv", "x,y", rows)
        a, b = ([self.folder / f"l{eps}.{kind}" for kind in ("npy", "csv")] for eps in (0.3, 0.5))
        for eps, (plain, labelled) in ((0.3, a), (0.5, b)):
            self.succeeds("cluster", points, "--on-nan", "drop", "--eps", eps, "--minpts", 4, "--out", plain,
                          "--labelled", labelled, "--quiet")
        for pair in itertools.product(a, b):
            found = self.compared(*pair)
            self.assertEqual(found["points"], 597)
            self.assert_as_of_files(found, a[0], b[0])
        other = self.write_rows("other.csv", "label,x", [(i % 3 if i != 5 else "", 1) for i in range(600)])
        self.assertEqual(self.compared(a[1], other)["points"], 596)

    def test_points_in_no_group_are_noise_whatever_others_call_them(self):
        fof = ("fof", self.points, "--linking-length", 0.3, "--min-size", 8, "--quiet")
        own = self.labels_of(*fof)
        for dialect, kind in itertools.product(("swift", "nbodykit"), ("npy", "csv", "fits", "h5")):
            file = self.folder / f"{dialect}.{kind}"
            self.succeeds(*fof, "--out", file, "--dialect", dialect)
            found = self.compared(self.folder / "labels.npy", file)
            self.assertEqual((found["adjusted_rand"], found["b"]["clusters"], found["b"]["noise"]),
                             (1, max(own) + 1, own.count(-1)), file)


if __name__ == "__main__":
    unittest.main()
