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


class Cluster(Labelled):
    def test_every_row_and_column_of_text_is_there(self):
        packed = self.folder / "a.csv.gz"
        packed.write_bytes(gzip.compress(TABLE.encode()))
        more = self.write("b.csv", "id,ra,dec,note\nmore,0.05,0.05,x\n")
        out = self.folder / "out.csv"
        p = self.succeeds(*self.cluster("--labelled", out, "--core", self.folder / "core.npy", files=[packed, more]))
        self.assertNotIn("coordinates alone", p.stderr)
        expected = rows_of(TABLE) + [["more", "0.05", "0.05", "x"]]
        for row, label, core in zip(expected, ["label", *LABELS, "0"], ["core", *MASK, "1"]):
            row += [label, core]
        self.assertEqual(rows_of(out.read_text()), expected)

    def test_what_is_not_copied_is_said(self):
        table = self.write("units.csv", "# of last night\nid,ra,dec\n,deg,deg\na,0,0\nb,0.1,0\n")
        p = self.succeeds(*self.cluster("--labelled", "-", files=[table]))
        self.assertIn("labelled files leave out 2 lines before the rows, as comments and units", p.stderr)
        self.assertNotIn("leave out", self.succeeds(*self.cluster("--labelled", "-")).stderr)

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

    def test_formats_of_other_programs_are_refused_with_the_way_to_them(self):
        for name in ("o.geojson", "o.VTP"):
            self.fails(2, [name, ".csv", ".parquet", "geopandas", "pyvista", "docs/howto/files.md"],
                       *self.cluster("--labelled", self.folder / name))
        self.fails(2, ["'geojson' is unknown", "csv", "parquet"], "sweep", *self.cluster()[1:],
                   "--out", self.out, "--labelled", "geojson")

    def test_outputs_are_checked_before_anything_is_read(self):
        words = ["cluster", self.folder / "no-such.csv", "--eps", 1, "--minpts", 1]
        self.fails(2, ["o.npy", ".csv, .fits, .h5"], *words, "--labelled", self.folder / "o.npy")
        self.fails(2, ["is the input"], *self.cluster("--overwrite", "--labelled", self.points))
        self.fails(2, ["--out and --labelled are both -"], *words, "--out", "-", "--labelled", "-")
        self.fails(2, ["--labelled", "csv"], "sweep", *words[1:], "--out", self.out, "--labelled", "npy")
        self.assertEqual(self.points.read_text(), TABLE)

    def test_a_full_disk_is_told_and_leaves_nothing(self):
        points, text = self.generated("uniform", 20_000), self.generated("uniform", 20_000, name="p.csv")
        table = self.folder / "p.fits"
        table.write_bytes(fits_table([("NAME", None, ["x"] * 20_000), ("RA", "deg", range(20_000))]))
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
        written = self.out / "labelled/eps_0.2_minpts_3.h5"
        back = self.labels_of("cluster", written, "--columns", "label", "--eps", 0.5, "--minpts", 1)
        self.assertEqual(back, (0, 0, 0, 1))
        whole = written.read_bytes()
        written.write_bytes(whole[:-1])
        self.assertIn("has changed since it was written", self.resumed(1, "--labelled", "h5").stderr)
        self.assertEqual(written.read_bytes(), whole)
        self.succeeds(*self.sweep("--overwrite"))
        self.assertFalse((self.out / "labelled").exists())

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
