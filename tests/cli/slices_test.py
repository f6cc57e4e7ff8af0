"""Tests many data sets at once: slices by a column or by file, and tracks of their clusters.

python/tests/test_slices.py compares folders of slices, their labels and counts, with epsflow.sweep_many."""
import random
import struct
import unittest

from support import ProgramTest, npy, npy_labels, table


class Slices(ProgramTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(3)
        self.rows = []
        for t in range(7):
            for _ in range(0 if t == 3 else 20 + 5 * t):
                self.rows.append((draw.uniform(0, 3), draw.uniform(0, 3), 300 * t))
        draw.shuffle(self.rows)
        self.points = self.write_rows("p.csv", "x,y,t", self.rows)

    def labels(self, folder, eps, minpts):
        return npy_labels(folder / "labels" / f"eps_{eps}_minpts_{minpts}.npy")

    def sweep(self, folder, *words):
        self.succeeds("sweep", *words, "--eps", "0.3,0.5", "--minpts", "3,4", "--out", folder, "--quiet")

    def test_counts_by_a_column(self):
        self.sweep(self.out, self.points, "--by", "t")
        kept = (self.out / "slices.csv").read_text()
        counts = self.folder / "counts"
        self.sweep(counts, self.points, "--by", "t", "--keep", "summary")
        self.assertEqual((counts / "slices.csv").read_text(), kept)
        self.assertFalse((counts / "labels").exists())
        said = self.succeeds("sweep", self.points, "--by", "t", "--eps", "0.3", "--minpts", "3",
                             "--out", self.folder / "said").stdout
        self.assertIn("counts of slices in", said.splitlines()[-1])
        self.assertIn("said/slices.csv", said.splitlines()[-1])
        self.sweep(self.out, self.points, "--by", "t", "--resume")
        self.assertEqual((self.out / "slices.csv").read_text(), kept)
        self.fails(3, ["holds results", "slices by t"], "sweep", self.points, "--columns", "x,y", "--eps", "0.3",
                   "--minpts", "3", "--out", self.out, "--resume")

    def test_by_times_of_iso_8601(self):
        points = self.write("iso.csv", "time,x,y\n2015-03-17T00:05:00Z,0,0\n2015-03-17 00:00,0,0\n"
                                       "2015-03-17T01:05:00+01:00,0,0.1\n")
        self.succeeds("sweep", points, "--by", "time", "--eps", "1", "--minpts", "2", "--out", self.out, "--quiet")
        self.assertEqual(self.labels(self.out, 1, 2), (0, -1, 0))
        self.assertEqual([r["time"] for r in table((self.out / "slices.csv").read_text())],
                         ["1426550400", "1426550700"])

    def test_by_file_and_a_catalogue_of_all(self):
        by = [[(x, y, t) for x, y, time in self.rows if time == 300 * t] for t in range(3)]
        files = [self.write_rows(f"f{t}.csv", "x,y,v", rows) for t, rows in enumerate(by)]
        self.sweep(self.out, *files, "--columns", "x,y", "--by-file", "--catalog", "csv", "--stats", "v")
        slices = table((self.out / "slices.csv").read_text())
        self.assertEqual([r["points"] for r in slices[::4]], [str(len(rows)) for rows in by])
        clusters = table((self.out / "catalog" / "eps_0.5_minpts_3.csv").read_text())
        self.assertEqual({c["file"] for c in clusters}, {str(f) for f in files})
        for c in clusters:
            self.assertEqual(float(c["v_mean"]), [str(f) for f in files].index(c["file"]))

    def test_a_catalogue_of_rows_that_are_not_in_order_without_weights(self):
        self.sweep(self.out, self.points, "--columns", "x,y", "--by", "t", "--catalog", "csv")
        labels = self.labels(self.out, 0.5, 3)
        clusters = table((self.out / "catalog" / "eps_0.5_minpts_3.csv").read_text())
        for c in clusters:
            own = [i for i, row in enumerate(self.rows) if str(row[2]) == c["t"] and labels[i] == int(c["cluster"])]
            self.assertEqual(int(c["size"]), len(own))
            self.assertIn(int(c["first_core"]), own)
        self.assertEqual(sum(int(c["size"]) for c in clusters), sum(label >= 0 for label in labels))

    def test_what_cannot_be(self):
        words = ("sweep", self.points, "--eps", "1", "--minpts", "2", "--out", "r")
        self.fails(2, ["--by", "--by-file"], *words, "--by", "t", "--by-file")
        self.fails(2, ["--by-width", "--by"], *words, "--by-width", "3")
        self.fails(2, ["--by-width"], *words, "--by", "t", "--by-width", "-3")
        self.fails(2, ["name one"], *words, "--by", "t,x")
        self.fails(3, ["there is no column"], *words, "--by", "when")
        texts = ("sweep", self.write("texts.csv", "x,y,night\n1,2,a\n1,2,b\n"), "--columns", "x,y", "--eps", "1",
                 "--minpts", "2", "--out", "r")
        self.fails(3, ["'night' is 'a', not a number or a time", "choose other columns with --by from"], *texts,
                   "--by", "night")
        self.fails(3, ["'night' is 'a'", "choose other columns with --stats from"], *texts, "--catalog", "csv",
                   "--stats", "night")
        nan = self.write("nan.csv", "x,y,t\n1,2,0\n1,2,nan\n")
        self.fails(3, ["row 1", "slice"], "sweep", nan, "--by", "t", "--eps", "1", "--minpts", "2", "--out", "r")
        raw = self.folder / "p.f64"
        raw.write_bytes(struct.pack("<6d", 1, 2, 0, 1, 2, 1))
        self.fails(2, ["column 2 is a coordinate as well", "--columns"], "sweep", raw, "--dims", "3", "--by", "2",
                   "--eps", "1", "--minpts", "1", "--out", "r")
        self.succeeds("sweep", raw, "--dims", "3", "--columns", "0,1", "--by", "2", "--eps", "1", "--minpts", "1",
                      "--out", self.folder / "raw", "--quiet")
        self.assertEqual(self.labels(self.folder / "raw", 1, 1), (0, 0))
        self.fails(2, ["keeps slices apart"], *words, "--by", "t", "--index", "tree")
        self.fails(2, ["pipe"], "sweep", "-", "--by", "t", "--eps", "1", "--minpts", "2", "--out", "r",
                   input="x,y,t\n1,2,0\n")


class Tracks(ProgramTest):
    def test_a_merge(self):
        # Two clusters approach each other and are one from the third slice on.
        rows = []
        for t, gap in enumerate((3.0, 2.0, 0.4, 0.4)):
            for center in (0, gap):
                rows += [(center + 0.1 * k, 0.1 * k, 100_000_000 + 300 * t) for k in range(4)]
        points = self.write_rows("storm.csv", "x,y,t", rows)
        words = ("tracks", points, "--by", "t", "--eps", "0.5", "--minpts", "3", "--match-eps", "1.5")
        found = table(self.succeeds(*words, "--out", "-", "--quiet").stdout)
        self.assertEqual([row["frame"] for row in found], ["0", "0", "1", "1", "2", "3"])
        self.assertEqual([row["num"] for row in found], ["4", "4", "4", "4", "8", "8"])
        self.assertEqual({row["track"] for row in found}, {"1"})
        self.assertEqual(len({row["cell"] for row in found}), 2)
        self.assertEqual(found[0]["timestr"], "1973-03-03 09:46:40")
        self.assertEqual(list(found[0])[:6], ["frame", "idx", "hdim_1", "hdim_2", "num", "feature"])
        said = self.json(*words, "--out", self.folder / "t.csv", "--quiet")
        self.assertEqual((said["features"], said["cells"], said["tracks"]), (6, 2, 1))

    def test_by_ids(self):
        points = self.write("pixels.csv", "x,t,pixel\n0,0,1\n1,0,2\n5,1,2\n6,1,3\n")
        words = ("tracks", points, "--columns", "x", "--by", "t", "--eps", "1", "--minpts", "2", "--out", "-",
                 "--quiet")
        self.assertEqual({row["cell"] for row in table(self.succeeds(*words, "--ids", "pixel").stdout)}, {"1"})
        self.assertEqual({row["cell"] for row in table(self.succeeds(*words).stdout)}, {"1", "2"})

    def test_what_cannot_be(self):
        words = ("tracks", self.write("p.csv", "x,t\n0,0\n1,1\n"), "--columns", "x", "--minpts", "2", "--out", "-")
        self.fails(2, ["--by"], *words, "--eps", "1")
        self.fails(2, ["one eps"], *words, "--by", "t", "--eps", "1,2")
        self.fails(2, ["--least-share"], *words, "--by", "t", "--eps", "1", "--least-share", "2")

    def test_rows_whose_slice_is_missing_are_dropped_on_request(self):
        points = self.write("gaps.csv", "x,y,t\n0,0,1\n0,0.1,\n0,0.2,1\n,7,1\n0.1,0,2\n0.2,0,nan\n0.1,0.1,2\n")
        words = ("sweep", points, "--columns", "x,y", "--by", "t", "--eps", "1", "--minpts", "2", "--out", self.out,
                 "--catalog", "csv", "--labelled", "csv")
        self.fails(3, ["--on-nan drop"], "sweep", self.write("one.csv", "x,y,t\n0,0,1\n0,1,\n"), *words[2:])
        self.assertIn("dropped 2 rows for missing values in t", self.succeeds(*words, "--on-nan", "drop").stderr)
        self.assertEqual(npy_labels(self.out / "labels" / "eps_1_minpts_2.npy"), (0, 0, 0, 0))
        self.assertEqual(npy(self.out / "rows.npy", "<i8"), (0, 2, 4, 6))
        self.assertEqual([r["points"] for r in table((self.out / "slices.csv").read_text())], ["2", "2"])
        catalog = table((self.out / "catalog" / "eps_1_minpts_2.csv").read_text())
        self.assertEqual([(c["t"], c["first_core"], c["size"]) for c in catalog], [("1", "0", "2"), ("2", "4", "2")])
        labelled = table((self.out / "labelled" / "eps_1_minpts_2.csv").read_text())
        self.assertEqual([r["label"] for r in labelled], ["0", "", "0", "", "0", "", "0"])
        self.assertEqual([(r["frame"], r["num"]) for r in self.tracks(points, "--minpts", "2", "--on-nan", "drop")],
                         [("0", "2"), ("1", "2")])

    def tracks(self, points, *words, eps="1"):
        """Returns the table of tracks by t."""
        return table(self.succeeds("tracks", points, "--columns", "x,y", "--by", "t", "--eps", eps, *words,
                                   "--out", "-").stdout)

    def test_a_row_without_an_id_is_dropped_on_request(self):
        points = self.write("ids.csv", "x,y,t,pixel\n0,0,1,1\n0,0.1,1,2\n0,0.2,1,\n0,0,2,1\n0,0.1,2,2\n")
        found = self.tracks(points, "--ids", "pixel", "--minpts", "2", "--on-nan", "drop")
        self.assertEqual([(r["frame"], r["num"], r["cell"]) for r in found], [("0", "2", "1"), ("1", "2", "1")])

    def test_widths_are_decimal_numbers(self):
        for width, values, keys in ((0.1, ["0.3", "0.29", "0.7", "0.6999999"], ["0.2", "0.3", "0.6", "0.7"]),
                                    (0.1, ["-0.3", "-0.31"], ["-0.4", "-0.3"]),
                                    (1, ["2.9999999999999996", "3"], ["2", "3"]),
                                    (0.05, ["1700000000.15", "1700000000.14"], ["1700000000.1", "1700000000.15"]),
                                    (0.7, ["2.1", "2.0999"], ["1.4", "2.1"])):
            points = self.write_rows("w.csv", "x,y,t", [(0, 0, v) for v in values])
            self.succeeds("sweep", points, "--columns", "x,y", "--by", "t", "--by-width", width, "--eps", 1,
                          "--minpts", 1, "--out", self.out, "--overwrite")
            self.assertEqual([r["t"] for r in table((self.out / "slices.csv").read_text())], keys)

    def test_a_column_that_is_called_as_one_of_the_table(self):
        for by in ("points", "eps", "largest", "size", "cluster", "radius", "x_center"):
            points = self.write("named.csv", f"x,y,{by}\n0,0,1\n0,0.1,1\n5,5,2\n5,5.1,2\n")
            self.succeeds("sweep", points, "--columns", "x,y", "--by", by, "--eps", 1, "--minpts", 2, "--out", self.out,
                          "--overwrite", "--catalog", "csv")
            for file in (self.out / "slices.csv", self.out / "catalog" / "eps_1_minpts_2.csv"):
                text = file.read_text()
                names = text.splitlines()[0].split(",")
                self.assertEqual(len(set(names)), len(names), names)
                self.assertEqual([row[names[0]] for row in table(text)], ["1", "2"])
                self.assertIn(names[0], (by, "slice_" + by))

    def test_clusters_on_both_sides_of_an_outage_are_not_one(self):
        rows = [(0.1 * i, 0, t) for t in (0, 60, 120, 3600, 3660) for i in range(4)]
        points = self.write_rows("outage.csv", "x,y,t", rows)
        found = self.tracks(points, "--minpts", "2", "--by-width", 60, eps="0.2")
        self.assertEqual([(r["frame"], r["cell"], r["track"], r["time"]) for r in found],
                         [("0", "1", "1", "0"), ("1", "1", "1", "60"), ("2", "1", "1", "120"),
                          ("60", "2", "2", "3600"), ("61", "2", "2", "3660")])
        # Without a width, no slice lies between two values.
        self.assertEqual([r["cell"] for r in self.tracks(points, "--minpts", "2", eps="0.2")], ["1"] * 5)
        files = [self.write_rows(f"part{t}.csv", "x,y", [(x, y) for x, y, own in rows if own == t])
                 for t in (0, 60, 120, 180, 3600, 3660)]  # a file between has no rows
        out = self.folder / "tracks.csv"
        self.succeeds("tracks", *files, "--by-file", "--header", "yes", "--eps", "0.2", "--minpts", "2", "--out", out)
        self.assertEqual([(r["frame"], r["cell"]) for r in table(out.read_text())],
                         [("0", "1"), ("1", "1"), ("2", "1"), ("4", "2"), ("5", "2")])


if __name__ == "__main__":
    unittest.main()
