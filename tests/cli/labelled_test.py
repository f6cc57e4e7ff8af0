"""Tests --labelled of cluster and sweep, which writes the input with a column of labels."""
import csv
import gzip
import io
import os
import unittest

from support import ProgramTest, fits_table, limit_files, manifest, npy_labels, summary

TABLE = ('id,ra,dec,note\n"M31, ""Andromeda""",0,0,first\nNGC 7,0.1,0,"two\nlines"\nlost,nan,0.1,\n'
         'NGC 9,0.1,0.1,5" disc\nfar,9,9,"last, quoted"\n')
LABELS = ["0", "0", "", "0", "-1"]
MASK = ["1", "1", "", "1", "0"]


def rows_of(text):
    return list(csv.reader(io.StringIO(text, newline="")))


def named_table(names, ra):
    """Returns a FITS file with columns NAME and RA."""
    return fits_table([("NAME", None, names), ("RA", "deg", ra)])


class Labelled(ProgramTest):
    def setUp(self):
        super().setUp()
        self.points = self.write("in.csv", TABLE)
        self.options = ["--columns", "ra,dec", "--on-nan", "drop", "--eps", 0.3, "--minpts", 3]

    def cluster(self, *words, files=None):
        return ["cluster", *(files or [self.points]), *self.options, *words]

    def formats(self, *others):
        """Returns these formats, and Parquet if the program has it."""
        return [*others, *(["parquet"] if self.json("info")["formats"]["Parquet"]["usable"] else [])]

    def assert_labels(self, expected, file, columns, eps=0.5, minpts=1):
        """Checks the labels of a file that the program wrote, with these columns as points."""
        found = self.succeeds("cluster", file, "--columns", columns, "--eps", eps, "--minpts", minpts, "--out", "-")
        self.assertEqual(found.stdout.split(), ["label", *expected])


class Cluster(Labelled):
    def test_every_row_and_column_of_text_is_there(self):
        out = self.folder / "out.csv"
        p = self.succeeds(*self.cluster("--labelled", out, "--core", self.folder / "core.npy"))
        self.assertNotIn("coordinates alone", p.stderr)
        expected = rows_of(TABLE)
        expected[0] += ["label", "core"]
        for row, label, core in zip(expected[1:], LABELS, MASK):
            row += [label, core]
        self.assertEqual(rows_of(out.read_text()), expected)

    def test_what_is_not_copied_is_said(self):
        table = self.write("units.csv", "# of last night\nid,ra,dec\n,deg,deg\na,0,0\nb,0.1,0\n")
        words = ["--columns", "ra,dec", "--eps", 0.3, "--minpts", 1, "--labelled"]
        p = self.succeeds("cluster", table, *words, self.folder / "u.csv")
        self.assertIn("labelled files leave out 2 lines before the rows, as comments and units", p.stderr)
        self.assertEqual((self.folder / "u.csv").read_text().split(), ["id,ra,dec,label", "a,0,0,0", "b,0.1,0,0"])
        self.assertNotIn("leave out", self.succeeds("cluster", self.points, *self.options, "--labelled", "-").stderr)
        plain = named_table(["a", "b"], [0, 0.1])
        (self.folder / "one.fits").write_bytes(plain)
        words[1] = "RA"
        self.assertNotIn("leave out",
                         self.succeeds("cluster", self.folder / "one.fits", *words, self.folder / "1.fits").stderr)
        primary = plain[:2880].replace(b"END" + b" " * 77 + b" " * 80,
                                       b"TELESCOP= 'HST     '".ljust(80) + b"END".ljust(80), 1)
        (self.folder / "two.fits").write_bytes(primary + 2 * plain[2880:])
        p = self.succeeds("cluster", self.folder / "two.fits", "--table", "1", *words, self.folder / "2.fits")
        self.assertIn("leave out 1 keyword of the primary header, 1 header unit beside the table", p.stderr)
        packed = self.folder / "one.fits.gz"
        packed.write_bytes(gzip.compress(plain))
        p = self.succeeds("cluster", packed, *words, self.folder / "3.fits")
        self.assertIn("coordinates alone: " + str(packed) + " is gzipped", p.stderr)

    def test_gzipped_and_several_files(self):
        packed = self.folder / "a.csv.gz"
        packed.write_bytes(gzip.compress(TABLE.encode()))
        more = self.write("b.csv", "id,ra,dec,note\nmore,0.05,0.05,x\n")
        out = self.folder / "out.csv"
        self.succeeds(*self.cluster("--labelled", out, files=[packed, more]))
        rows = rows_of(out.read_text())
        self.assertEqual([r[:4] for r in rows], rows_of(TABLE) + [["more", "0.05", "0.05", "x"]])
        self.assertEqual([r[4] for r in rows], ["label", *LABELS, "0"])

    def test_columns_of_sky_coordinates_in_either_order(self):
        points = self.write("sky.csv", "id,lat,lon\na,10,20\nb,10.1,20\n")
        for columns in ("lat,lon", "lon,lat"):
            p = self.succeeds("cluster", points, "--columns", columns, "--metric", "greatcircle", "--eps", 1,
                              "--minpts", 2, "--labelled", "-")
            self.assertEqual(p.stdout, "id,lat,lon,label\na,10,20,0\nb,10.1,20,0\n")

    def test_what_can_be_read_only_once_gives_its_coordinates_and_says_so(self):
        p = self.succeeds(*self.cluster("--labelled", "-", files=["-"]), input=TABLE)
        self.assertIn("labelled files hold the coordinates alone: standard input can be read only once", p.stderr)
        self.assertEqual(p.stdout, "row,ra,dec,label\n0,0,0,0\n1,0.1,0,0\n3,0.1,0.1,0\n4,9,9,-1\n")
        os.mkfifo(self.folder / "pipe")
        writer = os.fork()
        if writer == 0:
            (self.folder / "pipe").write_text(TABLE)
            os._exit(0)
        p = self.succeeds(*self.cluster("--labelled", "-", files=[self.folder / "pipe"]))
        os.waitpid(writer, 0)
        self.assertIn("pipe can be read only once", p.stderr)
        self.assertEqual(p.stdout.split()[0], "row,ra,dec,label")

    def test_fits_and_hdf5_are_read_back(self):
        for name in ("out.fits", "out.h5"):
            out = self.folder / name
            p = self.succeeds(*self.cluster("--labelled", out, "--core", self.folder / f"{name}.npy"))
            self.assertIn("coordinates alone: all columns are copied from text to CSV and from FITS to FITS only",
                          p.stderr)
            self.assert_labels(["-1"] * 4, out, "row,ra,dec,label,core", 0.01, 2)  # no two rows are similar
            self.assert_labels(["0", "0", "0", "1"], out, "label,core")

    def test_parquet_is_read_back(self):
        out, labels = self.folder / "out.parquet", self.folder / "l.parquet"
        words = self.cluster("--labelled", out, "--out", labels, "--core", self.folder / "c.npy",
                             "--metric", "manhattan")
        if not self.formats():
            self.fails(2, ["Parquet", "EPSFLOW_WITH_PARQUET=ON"], *words)
            self.fails(2, ["EPSFLOW_WITH_PARQUET=ON"], "sweep", *words[1:10], "--labelled", "parquet",
                       "--out", self.out)
            return
        self.succeeds(*words)
        self.assert_labels(["0", "0", "0", "1"], out, "ra,dec,label,core")
        self.assert_labels(["0", "0", "0", "1"], labels, "label")
        try:
            import pyarrow.parquet
        except ImportError:
            return
        for file in (out, labels):
            metadata = pyarrow.parquet.read_schema(file).metadata
            self.assertEqual((metadata[b"metric"], metadata[b"minpts"], metadata[b"eps"]), (b"manhattan", b"3", b"0.3"))
        table = pyarrow.parquet.read_table(out)
        self.assertEqual([str(field.type) for field in table.schema], ["int64", "double", "double", "int32", "bool"])
        self.assertEqual(table.to_pydict(), {"row": [0, 1, 3, 4], "ra": [0, 0.1, 0.1, 9], "dec": [0, 0, 0.1, 9],
                                             "label": [0, 0, 0, -1], "core": [True, True, True, False]})

    def test_formats_of_other_programs_are_refused_with_the_way_to_them(self):
        for name in ("o.geojson", "o.VTP"):
            self.fails(2, [name, ".csv", ".parquet", "geopandas", "pyvista", "docs/howto/files.md"],
                       *self.cluster("--labelled", self.folder / name))
        self.fails(2, ["'geojson' is unknown", "csv", "parquet"], "sweep", *self.cluster()[1:],
                   "--out", self.out, "--labelled", "geojson")

    def test_a_fits_table_keeps_its_names(self):
        self.points = self.folder / "in.fits"
        self.points.write_bytes(named_table(["M 31", "NGC 7", "lost", "far"], [0, 0.1, float("nan"), 9]))
        self.options[1], self.options[-1] = "ra", 2
        out = self.folder / "out.fits"
        self.assertNotIn("coordinates alone", self.succeeds(*self.cluster("--labelled", out)).stderr)
        self.assertIn(b"'NAME    '", out.read_bytes())  # fits_copy_test.cpp reads all of it
        back = ["cluster", out, "--columns", "label", "--on-nan", "drop", "--eps", 0.5, "--minpts", 1]
        self.assertEqual(self.labels_of(*back), (0, 0, 1))
        self.succeeds(*self.cluster("--labelled", self.folder / "out.csv"))
        self.assertEqual((self.folder / "out.csv").read_text(), "row,RA,label\n0,0,0\n1,0.1,0\n3,9,-1\n")

    def test_a_column_named_label_is_refused(self):
        self.points.write_text(TABLE.replace("note", "label"))
        self.fails(3, ["has a column 'label' already"], *self.cluster("--labelled", self.folder / "o.csv"))
        self.assertFalse((self.folder / "o.csv").exists())
        self.succeeds(*self.cluster("--out", self.folder / "l.npy"))

    def test_outputs_are_checked_before_anything_is_read(self):
        words = ["cluster", self.folder / "no-such.csv", "--eps", 1, "--minpts", 1]
        self.fails(2, ["o.npy", ".csv, .fits, .h5"], *words, "--labelled", self.folder / "o.npy")
        self.fails(2, ["in.csv exists already", "--overwrite"], *words, "--labelled", self.points)
        self.fails(2, ["is the input"], *self.cluster("--overwrite", "--labelled", self.points))
        both = self.folder / "both.csv"
        self.fails(2, ["--out and --labelled are both"], *words, "--out", both,
                   "--labelled", self.folder / "." / "both.csv")
        self.fails(2, ["--out and --labelled are both -"], *words, "--out", "-", "--labelled", "-")
        self.fails(2, ["--labelled - and --json"], *words, "--labelled", "-", "--json")
        self.fails(2, ["--labelled", "csv"], "sweep", *words[1:], "--out", self.out, "--labelled", "npy")
        self.assertEqual(self.points.read_text(), TABLE)

    def test_a_full_disk_is_told_and_leaves_nothing(self):
        points, text = self.generated("uniform", 20_000), self.generated("uniform", 20_000, name="p.csv")
        table = self.folder / "p.fits"
        table.write_bytes(named_table(["x"] * 20_000, range(20_000)))
        before = set(os.listdir(self.folder))
        cases = [(points, kind) for kind in self.formats("csv", "fits", "h5")] + [(text, "csv"), (table, "fits")]
        for file, kind in cases:
            self.fails(4, [f"o.{kind}: File too large"], "cluster", file, "--columns", "1", "--eps", 0.01,
                       "--minpts", 3, "--labelled", self.folder / f"o.{kind}", preexec_fn=limit_files(100_000))
            self.assertEqual(set(os.listdir(self.folder)), before)


class Sweep(Labelled):
    def sweep(self, *words, eps="0.2,0.3"):
        return ["sweep", self.points, "--columns", "ra,dec", "--on-nan", "drop", "--eps", eps, "--minpts", 3, "--out",
                self.out, *words]

    def labelled(self):
        return sorted(os.listdir(self.out / "labelled"))

    def resumed(self, number, *words):
        """Resumes the sweep, and checks how many variants it makes."""
        p = self.succeeds(*self.sweep("--resume", *words))
        self.assertRegex(p.stdout, rf"(?m)^{number} variants? of ")
        return p

    def test_each_variant_has_a_file(self):
        self.succeeds(*self.sweep("--labelled", "csv", "--core"))
        for (eps, minpts), row in summary(self.out).items():
            rows = rows_of((self.out / f"labelled/eps_{eps:g}_minpts_{minpts}.csv").read_text())
            self.assertEqual([r[:4] for r in rows], rows_of(TABLE))
            self.assertEqual([int(r[4]) for r in rows[1:] if r[4]], list(npy_labels(self.out / row["labels"])))
            self.assertEqual([r[5] for r in rows], ["core", *MASK])
        self.assertIn("labelled/eps_0.2_minpts_3.csv", {file["name"] for file in manifest(self.out)["files"]})

    def test_other_formats(self):
        words = self.formats("fits", "h5")
        for word in words:
            self.resumed(2, "--labelled", word)
            self.resumed(0, "--labelled", word)
        self.assertEqual(self.labelled(),
                         sorted(f"eps_{eps}_minpts_3.{word}" for eps in ("0.2", "0.3") for word in words))
        self.assert_labels(["0", "0", "0", "1"], self.out / "labelled/eps_0.2_minpts_3.h5", "label")
        self.succeeds(*self.sweep("--overwrite"))
        self.assertFalse((self.out / "labelled").exists())

    def test_resume_makes_what_is_missing_or_has_changed(self):
        self.succeeds(*self.sweep())
        self.assertFalse((self.out / "labelled").exists())
        self.resumed(2, "--labelled", "csv")
        self.assertEqual(self.labelled(), ["eps_0.2_minpts_3.csv", "eps_0.3_minpts_3.csv"])
        file = self.out / "labelled/eps_0.2_minpts_3.csv"
        good = file.read_bytes()
        self.resumed(0, "--labelled", "csv")
        file.write_bytes(good[:-1])
        self.assertIn("has changed since it was written", self.resumed(1, "--labelled", "csv").stderr)
        self.assertEqual(file.read_bytes(), good)
        self.resumed(2, "--labelled", "h5")
        self.assertEqual(len(self.labelled()), 4)

    def test_resume_makes_again_what_is_made_of_something_else(self):
        self.succeeds(*self.sweep("--labelled", "csv"))
        file = self.out / "labelled/eps_0.2_minpts_3.csv"
        self.assertEqual(rows_of(file.read_text())[0][-1], "label")
        self.succeeds(*self.sweep("--resume", "--core"))
        p = self.succeeds(*self.sweep("--resume", "--core", "--labelled", "csv"))
        self.assertIn("2 files", p.stderr)
        self.assertIn("made again", p.stderr)
        self.assertEqual(rows_of(file.read_text())[0][-1], "core")
        self.resumed(0, "--core", "--labelled", "csv")
        self.points.write_text(TABLE.replace("NGC 7", "NGC 8"))  # the same coordinates
        self.resumed(2, "--core", "--labelled", "csv")
        self.assertIn("NGC 8", file.read_text())
        self.resumed(0)

    def test_resume_makes_again_what_has_other_rows_or_columns(self):
        tail = ["--on-nan", "drop", "--eps", 0.3, "--minpts", 1, "--out", self.out, "--resume", "--labelled", "h5"]
        texts = ("lon,lat\nnan,1\n1,2\n", "lon,lat\n1,2\nnan,1\n", "lat,lon\n1,2\nnan,1\n")
        files = set()
        for text in texts:
            self.assertIn("1 variant ", self.succeeds("sweep", self.write("sky.csv", text), *tail).stdout)
            files.add((self.out / "labelled/eps_0.3_minpts_1.h5").read_bytes())
        self.assertEqual(len(files), len(texts))
        self.assertIn("0 variants", self.succeeds("sweep", self.folder / "sky.csv", *tail).stdout)

    def test_a_full_disk_keeps_what_is_whole(self):
        points = self.generated("uniform", 20_000, name="p.csv")
        words = ["sweep", points, "--eps", "0.01,0.02", "--minpts", 3, "--out", self.out]
        self.succeeds(*words)
        p = self.fails(4, [], *words, "--resume", "--labelled", "csv", preexec_fn=limit_files(100_000))
        self.assertRegex(p.stderr, r"results/labelled/eps_0\.0[12]_minpts_3\.csv: File too large")  # any may fail
        self.assertEqual(len(summary(self.out)), 2)
        self.assertFalse((self.out / ".epsflow").exists())

    def test_a_link_to_a_pipe_is_no_file_to_read_again(self):
        self.points = self.folder / "pipe.csv"
        os.symlink("/dev/stdin", self.points)
        self.assertIn("can be read only once", self.succeeds(*self.sweep("--labelled", "csv"), input=TABLE).stderr)
        self.assertEqual((self.out / "labelled/eps_0.2_minpts_3.csv").read_text().splitlines()[0], "row,ra,dec,label")


if __name__ == "__main__":
    unittest.main()
