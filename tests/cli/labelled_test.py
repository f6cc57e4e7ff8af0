#!/usr/bin/env python3
"""Tests --labelled of cluster and sweep, which writes the input with a column of labels."""
import csv
import gzip
import io
import json
import os
import resource
import struct
import unittest

from support import ProgramTest, npy_labels, run, summary

TABLE = ('id,ra,dec,note\n"M31, ""Andromeda""",0,0,first\nNGC 7,0.1,0,"two\nlines"\nlost,nan,0.1,\n'
         'NGC 9,0.1,0.1,5" disc\nfar,9,9,"last, quoted"\n')
LABELS = ["0", "0", "", "0", "-1"]
MASK = ["1", "1", "", "1", "0"]


def rows_of(text):
    return list(csv.reader(io.StringIO(text, newline="")))


def fits_table(names, ra):
    """Returns a FITS file with a table of names (8 characters) and float64 RA."""
    def block(cards):
        return (b"".join(f"{key:<8}= {value:>20}".ljust(80).encode() for key, value in cards) + b"END".ljust(80))

    def padded(data, by):
        return data + by * (-len(data) % 2880)

    table = [("XTENSION", "'BINTABLE'"), ("BITPIX", 8), ("NAXIS", 2), ("NAXIS1", 16), ("NAXIS2", len(names)),
             ("PCOUNT", 0), ("GCOUNT", 1), ("TFIELDS", 2), ("TTYPE1", "'NAME    '"), ("TFORM1", "'8A      '"),
             ("TTYPE2", "'RA      '"), ("TFORM2", "'D       '"), ("TUNIT2", "'deg     '")]
    data = b"".join(name.ljust(8).encode() + struct.pack(">d", x) for name, x in zip(names, ra))
    return (padded(block([("SIMPLE", "T"), ("BITPIX", 8), ("NAXIS", 0)]), b" ") + padded(block(table), b" ")
            + padded(data, b"\0"))


class Labelled(ProgramTest):
    def setUp(self):
        super().setUp()
        self.points = self.write("in.csv", TABLE)
        self.options = ["--columns", "ra,dec", "--on-nan", "drop", "--eps", 0.3, "--minpts", 3]

    def cluster(self, *words, files=None):
        return ["cluster", *(files or [self.points]), *self.options, *words]


class Cluster(Labelled):
    def test_every_row_and_column_of_text_is_there(self):
        out = self.folder / "out.csv"
        p = self.succeeds(*self.cluster("--labelled", out, "--core", self.folder / "core.npy"))
        self.assertNotIn("coordinates alone", p.stderr)
        expected = rows_of(TABLE)
        expected[0] += ["label", "core"]
        for row, label, core in zip(expected[1:], LABELS, MASK):
            row += [label, core]
        with open(out, newline="") as f:
            self.assertEqual(list(csv.reader(f)), expected)

    def test_what_is_not_copied_is_said(self):
        table = self.write("units.csv", "# of last night\nid,ra,dec\n,deg,deg\na,0,0\nb,0.1,0\n")
        words = ["--columns", "ra,dec", "--eps", 0.3, "--minpts", 1, "--labelled"]
        p = self.succeeds("cluster", table, *words, self.folder / "u.csv")
        self.assertIn("labelled files leave out 2 lines before the rows, as comments and units", p.stderr)
        self.assertEqual((self.folder / "u.csv").read_text().split(), ["id,ra,dec,label", "a,0,0,0", "b,0.1,0,0"])
        self.assertNotIn("leave out", self.succeeds("cluster", self.points, *self.options, "--labelled", "-").stderr)
        plain = fits_table(["a", "b"], [0, 0.1])
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
        with open(out, newline="") as f:
            rows = list(csv.reader(f))
        self.assertEqual([r[:4] for r in rows], rows_of(TABLE) + [["more", "0.05", "0.05", "x"]])
        self.assertEqual([r[4] for r in rows], ["label", *LABELS, "0"])

    def test_columns_of_sky_coordinates_in_either_order(self):
        points = self.write("sky.csv", "id,lat,lon\na,10,20\nb,10.1,20\n")
        for columns in ("lat,lon", "lon,lat"):
            p = self.succeeds("cluster", points, "--columns", columns, "--metric", "greatcircle", "--eps", 1,
                              "--minpts", 2, "--labelled", "-")
            self.assertEqual(p.stdout, "id,lat,lon,label\na,10,20,0\nb,10.1,20,0\n")

    def test_without_a_header_columns_are_numbered(self):
        self.points.write_text("a;0;0\nb;0.1;0\n")
        out = self.folder / "out.csv"
        self.succeeds("cluster", self.points, "--columns", "1-2", "--eps", 1, "--minpts", 1, "--labelled", out)
        self.assertEqual(out.read_text(), "x0,x1,x2,label\na,0,0,0\nb,0.1,0,0\n")

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
            back = self.succeeds("cluster", out, "--columns", "row,ra,dec,label,core", "--eps", 0.01, "--minpts", 2,
                                 "--out", "-")
            self.assertEqual(back.stdout.split(), ["label"] + ["-1"] * 4)  # no two rows are similar
            back = self.succeeds("cluster", out, "--columns", "label,core", "--eps", 0.5, "--minpts", 1, "--out", "-")
            self.assertEqual(back.stdout.split(), ["label", "0", "0", "0", "1"])

    def test_parquet_is_read_back(self):
        out, labels = self.folder / "out.parquet", self.folder / "l.parquet"
        words = self.cluster("--labelled", out, "--out", labels, "--core", self.folder / "c.npy",
                             "--metric", "manhattan")
        if not json.loads(self.succeeds("info", "--json").stdout)["formats"]["Parquet"]["usable"]:
            self.fails(2, ["Parquet", "EPSFLOW_WITH_PARQUET=ON"], *words)
            self.fails(2, ["EPSFLOW_WITH_PARQUET=ON"], "sweep", *words[1:10], "--labelled", "parquet",
                       "--out", self.folder / "r")
            return
        self.succeeds(*words)
        again = ["--eps", 0.5, "--minpts", 1, "--out", "-"]
        back = self.succeeds("cluster", out, "--columns", "ra,dec,label,core", *again)
        self.assertEqual(back.stdout.split(), ["label", "0", "0", "0", "1"])
        back = self.succeeds("cluster", labels, "--columns", "label", *again)
        self.assertEqual(back.stdout.split(), ["label", *(label for label in LABELS[:4] if label), "1"])
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
                   "--out", self.folder / "r", "--labelled", "geojson")

    def test_more_columns_than_a_format_holds(self):
        wide = self.write("wide.csv",
                          ",".join(f"a{i}" for i in range(1000)) + "\n" + ",".join(map(str, range(1000))) + "\n")
        for name in ("o.fits", "o.h5"):
            self.fails_after_reading(2, ["1,000 coordinates", ".csv"], "cluster", wide, "--eps", 1, "--minpts", 1,
                                     "--labelled", self.folder / name)

    def fails_after_reading(self, code, parts, *words):
        p = run(*words)
        self.assertEqual(p.returncode, code, p.stderr)
        for part in parts:
            self.assertIn(part, p.stderr)

    def test_a_fits_table_keeps_its_names(self):
        self.points = self.folder / "in.fits"
        self.points.write_bytes(fits_table(["M 31", "NGC 7", "lost", "far"], [0, 0.1, float("nan"), 9]))
        self.options[1], self.options[-1] = "ra", 2
        out = self.folder / "out.fits"
        p = self.succeeds(*self.cluster("--labelled", out))
        self.assertNotIn("coordinates alone", p.stderr)
        data = out.read_bytes()
        for part in (b"'NAME    '", b"'deg     '", b"TTYPE3  = 'label", b"TNULL3  =          -2147483648"):
            self.assertIn(part, data)
        at = data.index(b"M 31    ")
        rows = [struct.unpack(">8sdi", data[at + 20 * i : at + 20 * (i + 1)]) for i in range(4)]
        self.assertEqual([(r[0].strip(), r[2]) for r in rows],
                         [(b"M 31", 0), (b"NGC 7", 0), (b"lost", -2147483648), (b"far", -1)])
        p = self.succeeds(*self.cluster("--labelled", self.folder / "out.csv"))
        self.assertEqual((self.folder / "out.csv").read_text(), "row,RA,label\n0,0,0\n1,0.1,0\n3,9,-1\n")

    def test_a_column_named_label_is_refused(self):
        self.points.write_text(TABLE.replace("note", "label"))
        self.assertIn("has a column 'label' already", run(*self.cluster("--labelled", self.folder / "o.csv")).stderr)
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
        self.fails(2, ["--labelled", "csv"], "sweep", *words[1:], "--out", self.folder / "r", "--labelled", "npy")
        self.assertEqual(self.points.read_text(), TABLE)

    def test_a_full_disk_is_told_and_leaves_nothing(self):
        self.points = self.folder / "p.npy"
        self.succeeds("generate", "uniform", "--n", 20_000, "--out", self.points)
        text = self.folder / "p.csv"
        self.succeeds("generate", "uniform", "--n", 20_000, "--out", text)
        table = self.folder / "p.fits"
        table.write_bytes(fits_table(["x"] * 20_000, range(20_000)))
        before = set(os.listdir(self.folder))
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        formats = json.loads(self.succeeds("info", "--json").stdout)["formats"]
        names = ["o.csv", "o.fits", "o.h5", *(["o.parquet"] if formats["Parquet"]["usable"] else [])]
        for file, name in (*((self.points, name) for name in names), (text, "o.csv"), (table, "o.fits")):
            p = run("cluster", file, "--columns", "1", "--eps", 0.01, "--minpts", 3, "--labelled", self.folder / name,
                    preexec_fn=limit)
            self.assertEqual(p.returncode, 4, p.stderr)
            self.assertIn(f"{name}: File too large", p.stderr)
            self.assertEqual(set(os.listdir(self.folder)), before)


class Sweep(Labelled):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "results"

    def sweep(self, *words, eps="0.2,0.3"):
        return ["sweep", self.points, "--columns", "ra,dec", "--on-nan", "drop", "--eps", eps, "--minpts", 3, "--out",
                self.out, *words]

    def labelled(self):
        return sorted(os.listdir(self.out / "labelled"))

    def test_each_variant_has_a_file(self):
        self.succeeds(*self.sweep("--labelled", "csv", "--core"))
        for (eps, minpts), row in summary(self.out).items():
            with open(self.out / f"labelled/eps_{eps:g}_minpts_{minpts}.csv", newline="") as f:
                rows = list(csv.reader(f))
            self.assertEqual([r[:4] for r in rows], rows_of(TABLE))
            self.assertEqual([int(r[4]) for r in rows[1:] if r[4]], list(npy_labels(self.out / row["labels"])))
            self.assertEqual([r[5] for r in rows], ["core", *MASK])
        names = {file["name"] for file in json.loads((self.out / "sweep.json").read_text())["files"]}
        self.assertIn("labelled/eps_0.2_minpts_3.csv", names)

    def test_other_formats(self):
        formats = json.loads(self.succeeds("info", "--json").stdout)["formats"]
        words = ["fits", "h5", *(["parquet"] if formats["Parquet"]["usable"] else [])]
        for word in words:
            self.succeeds(*self.sweep("--labelled", word, "--resume"))
            self.assertIn("0 variants", self.succeeds(*self.sweep("--labelled", word, "--resume")).stdout)
        self.assertEqual(self.labelled(),
                         sorted(f"eps_{eps}_minpts_3.{word}" for eps in ("0.2", "0.3") for word in words))
        back = self.succeeds("cluster", self.out / "labelled/eps_0.2_minpts_3.h5", "--columns", "label", "--eps", 0.5,
                             "--minpts", 1, "--out", "-")
        self.assertEqual(back.stdout.split(), ["label", "0", "0", "0", "1"])
        self.succeeds(*self.sweep("--overwrite"))
        self.assertFalse((self.out / "labelled").exists())

    def test_resume_makes_what_is_missing_or_has_changed(self):
        self.succeeds(*self.sweep())
        self.assertFalse((self.out / "labelled").exists())
        self.assertIn("2 variants", self.succeeds(*self.sweep("--resume", "--labelled", "csv")).stdout)
        self.assertEqual(self.labelled(), ["eps_0.2_minpts_3.csv", "eps_0.3_minpts_3.csv"])
        file = self.out / "labelled/eps_0.2_minpts_3.csv"
        good = file.read_bytes()
        self.assertIn("0 variants", self.succeeds(*self.sweep("--resume", "--labelled", "csv")).stdout)
        file.write_bytes(good[:-1])
        p = self.succeeds(*self.sweep("--resume", "--labelled", "csv"))
        self.assertIn("has changed since it was written", p.stderr)
        self.assertIn("1 variant ", p.stdout)
        self.assertEqual(file.read_bytes(), good)
        self.assertIn("2 variants", self.succeeds(*self.sweep("--resume", "--labelled", "h5")).stdout)
        self.assertEqual(len(self.labelled()), 4)
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
        self.assertIn("0 variants", self.succeeds(*self.sweep("--resume", "--core", "--labelled", "csv")).stdout)
        self.points.write_text(TABLE.replace("NGC 7", "NGC 8"))  # the same coordinates
        self.assertIn("2 variants", self.succeeds(*self.sweep("--resume", "--core", "--labelled", "csv")).stdout)
        self.assertIn("NGC 8", file.read_text())
        self.assertIn("0 variants", self.succeeds(*self.sweep("--resume")).stdout)

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
        self.points = self.folder / "p.csv"
        self.succeeds("generate", "uniform", "--n", 20_000, "--out", self.points)
        words = ["sweep", self.points, "--eps", "0.01,0.02", "--minpts", 3, "--out", self.out]
        self.succeeds(*words)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        p = run(*words, "--resume", "--labelled", "csv", preexec_fn=limit)
        self.assertEqual(p.returncode, 4, p.stderr)
        self.assertRegex(p.stderr, r"results/labelled/eps_0\.0[12]_minpts_3\.csv: File too large")  # any may fail
        self.assertEqual(len(summary(self.out)), 2)
        self.assertFalse((self.out / ".epsflow").exists())

    def test_a_link_to_a_pipe_is_no_file_to_read_again(self):
        self.points = self.folder / "pipe.csv"
        os.symlink("/dev/stdin", self.points)
        p = self.succeeds(*self.sweep("--labelled", "csv"), input=TABLE)
        self.assertIn("can be read only once", p.stderr)
        self.assertEqual((self.out / "labelled/eps_0.2_minpts_3.csv").read_text().splitlines()[0], "row,ra,dec,label")


if __name__ == "__main__":
    unittest.main()
