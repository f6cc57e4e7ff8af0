#!/usr/bin/env python3
"""Many data sets at once: slices by a column or by file, and tracks of their clusters."""
import csv
import io
import json
import random
import struct
import unittest

from support import ProgramTest, npy_labels


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


class Slices(ProgramTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(3)
        self.rows = []
        for t in range(7):
            for _ in range(0 if t == 3 else 20 + 5 * t):
                self.rows.append((draw.uniform(0, 3), draw.uniform(0, 3), 300 * t))
        draw.shuffle(self.rows)
        self.points = self.write("p.csv", "x,y,t\n" + "".join(f"{x!r},{y!r},{t}\n" for x, y, t in self.rows))
        self.variants = [(0.3, 3), (0.3, 4), (0.5, 3), (0.5, 4)]

    def labels(self, folder, eps, minpts):
        return npy_labels(folder / "labels" / f"eps_{eps}_minpts_{minpts}.npy")

    def check(self, folder, of_slice):
        """of_slice: the rows of each slice, by its name."""
        counts = {(row[self.name], float(row["eps"]), int(row["minpts"])): row for row in table((folder / "slices.csv").read_text())}
        self.assertEqual(len(counts), len(of_slice) * len(self.variants))
        for name, rows in of_slice.items():
            alone = self.folder / f"alone_{name}"
            file = self.write(f"slice_{name}.csv", "x,y\n" + "".join(f"{self.rows[i][0]!r},{self.rows[i][1]!r}\n" for i in rows))
            self.succeeds("sweep", file, "--eps", "0.3,0.5", "--minpts", "3,4", "--out", alone, "--quiet")
            one = {(float(r["eps"]), int(r["minpts"])): r for r in table((alone / "summary.csv").read_text())}
            for eps, minpts in self.variants:
                of_all = self.labels(folder, eps, minpts)
                self.assertEqual(tuple(of_all[i] for i in rows), self.labels(alone, eps, minpts))
                row = counts[name, eps, minpts]
                self.assertEqual(int(row["points"]), len(rows))
                for count in ("clusters", "noise", "core", "border", "largest"):
                    self.assertEqual(row[count], one[eps, minpts][count], count)

    def sweep(self, folder, *words):
        self.succeeds("sweep", *words, "--eps", "0.3,0.5", "--minpts", "3,4", "--out", folder, "--quiet")

    def test_by_a_column_in_any_order(self):
        self.name = "t"
        out = self.folder / "r"
        self.sweep(out, self.points, "--by", "t")
        by = {}
        for i, row in enumerate(self.rows):
            by.setdefault(str(row[2]), []).append(i)
        self.check(out, by)
        kept = (out / "slices.csv").read_text()
        said = self.succeeds("sweep", self.points, "--by", "t", "--eps", "0.3", "--minpts", "3", "--out", self.folder / "said").stdout
        self.assertIn("counts of slices in", said.splitlines()[-1])
        self.assertIn("said/slices.csv", said.splitlines()[-1])
        self.sweep(out, self.points, "--by", "t", "--resume")
        self.assertEqual((out / "slices.csv").read_text(), kept)
        self.fails(3, ["holds results", "slices by t"], "sweep", self.points, "--columns", "x,y", "--eps", "0.3", "--minpts", "3", "--out", out, "--resume")

    def test_by_stretches(self):
        self.name = "t"
        out = self.folder / "r"
        self.sweep(out, self.points, "--by", "t", "--by-width", "600")
        by = {}
        for i, row in enumerate(self.rows):
            by.setdefault(str(row[2] // 600 * 600), []).append(i)
        self.check(out, by)

    def test_by_times_of_iso_8601(self):
        points = self.write("iso.csv", "time,x,y\n2015-03-17T00:05:00Z,0,0\n2015-03-17 00:00,0,0\n2015-03-17T01:05:00+01:00,0,0.1\n")
        out = self.folder / "r"
        self.succeeds("sweep", points, "--by", "time", "--eps", "1", "--minpts", "2", "--out", out, "--quiet")
        self.assertEqual(npy_labels(out / "labels" / "eps_1_minpts_2.npy"), (0, -1, 0))
        self.assertEqual([r["time"] for r in table((out / "slices.csv").read_text())], ["1426550400", "1426550700"])

    def test_by_file_and_a_catalogue_of_all(self):
        files = []
        by = {}
        for t in range(3):
            rows = [i for i, row in enumerate(self.rows) if row[2] == 300 * t]
            files.append(self.write(f"f{t}.csv", "x,y,v\n" + "".join(f"{self.rows[i][0]!r},{self.rows[i][1]!r},{t}\n" for i in rows)))
            by[t] = rows
        out = self.folder / "r"
        self.sweep(out, *files, "--columns", "x,y", "--by-file", "--catalog", "csv", "--stats", "v")
        slices = table((out / "slices.csv").read_text())
        self.assertEqual([r["points"] for r in slices[::4]], [str(len(rows)) for rows in by.values()])
        clusters = table((out / "catalog" / "eps_0.5_minpts_3.csv").read_text())
        self.assertEqual({c["file"] for c in clusters}, {str(f) for f in files})
        for c in clusters:
            self.assertEqual(float(c["v_mean"]), [str(f) for f in files].index(c["file"]))

    def test_counts_alone(self):
        out = self.folder / "r"
        self.sweep(out, self.points, "--by", "t")
        counts = self.folder / "counts"
        self.sweep(counts, self.points, "--by", "t", "--keep", "summary")
        self.assertEqual((counts / "slices.csv").read_text(), (out / "slices.csv").read_text())
        self.assertFalse((counts / "labels").exists())

    def test_what_cannot_be(self):
        words = ("sweep", self.points, "--eps", "1", "--minpts", "2", "--out", "r")
        self.fails(2, ["--by", "--by-file"], *words, "--by", "t", "--by-file")
        self.fails(2, ["--by-width", "--by"], *words, "--by-width", "3")
        self.fails(2, ["--by-width"], *words, "--by", "t", "--by-width", "-3")
        self.fails(2, ["name one"], *words, "--by", "t,x")
        self.fails(3, ["there is no column"], *words, "--by", "when")
        nan = self.write("nan.csv", "x,y,t\n1,2,0\n1,2,nan\n")
        self.fails(3, ["row 1", "slice"], "sweep", nan, "--by", "t", "--eps", "1", "--minpts", "2", "--out", "r")
        raw = self.folder / "p.f64"
        raw.write_bytes(struct.pack("<6d", 1, 2, 0, 1, 2, 1))
        self.fails(2, ["column 2 is a coordinate as well", "--columns"], "sweep", raw, "--dims", "3", "--by", "2", "--eps", "1", "--minpts", "1", "--out", "r")
        self.succeeds("sweep", raw, "--dims", "3", "--columns", "0,1", "--by", "2", "--eps", "1", "--minpts", "1", "--out", self.folder / "raw", "--quiet")
        self.assertEqual(npy_labels(self.folder / "raw" / "labels" / "eps_1_minpts_1.npy"), (0, 0))
        self.fails(2, ["keeps slices apart"], *words, "--by", "t", "--index", "tree")
        self.fails(2, ["pipe"], "sweep", "-", "--by", "t", "--eps", "1", "--minpts", "2", "--out", "r", input="x,y,t\n1,2,0\n")


class Tracks(ProgramTest):
    def test_a_merge(self):
        # Two clusters come nearer, and are one from the third slice on.
        rows = []
        for t, gap in enumerate((3.0, 2.0, 0.4, 0.4)):
            for center in (0, gap):
                rows += [(center + 0.1 * k, 0.1 * k, 100_000_000 + 300 * t) for k in range(4)]
        points = self.write("storm.csv", "x,y,t\n" + "".join(f"{x},{y},{t}\n" for x, y, t in rows))
        words = ("tracks", points, "--by", "t", "--eps", "0.5", "--minpts", "3", "--match-eps", "1.5")
        found = table(self.succeeds(*words, "--out", "-", "--quiet").stdout)
        self.assertEqual([row["frame"] for row in found], ["0", "0", "1", "1", "2", "3"])
        self.assertEqual([row["num"] for row in found], ["4", "4", "4", "4", "8", "8"])
        self.assertEqual({row["track"] for row in found}, {"1"})
        self.assertEqual(len({row["cell"] for row in found}), 2)
        self.assertEqual(found[0]["timestr"], "1973-03-03 09:46:40")
        self.assertEqual(list(found[0])[:6], ["frame", "idx", "hdim_1", "hdim_2", "num", "feature"])
        said = json.loads(self.succeeds(*words, "--out", self.folder / "t.csv", "--json", "--quiet").stdout)
        self.assertEqual((said["features"], said["cells"], said["tracks"]), (6, 2, 1))

    def test_by_ids(self):
        points = self.write("pixels.csv", "x,t,pixel\n0,0,1\n1,0,2\n5,1,2\n6,1,3\n")
        words = ("tracks", points, "--columns", "x", "--by", "t", "--eps", "1", "--minpts", "2", "--out", "-", "--quiet")
        self.assertEqual({row["cell"] for row in table(self.succeeds(*words, "--ids", "pixel").stdout)}, {"1"})
        self.assertEqual({row["cell"] for row in table(self.succeeds(*words).stdout)}, {"1", "2"})

    def test_what_cannot_be(self):
        points = self.write("p.csv", "x,t\n0,0\n1,1\n")
        words = ("tracks", points, "--columns", "x", "--minpts", "2", "--out", "-")
        self.fails(2, ["--by"], *words, "--eps", "1")
        self.fails(2, ["one eps"], *words, "--by", "t", "--eps", "1,2")
        self.fails(2, ["--least-share"], *words, "--by", "t", "--eps", "1", "--least-share", "2")


if __name__ == "__main__":
    unittest.main()
