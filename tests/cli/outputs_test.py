"""Checks that the program never destroys a file of the user: single files."""
import struct
import time
import unittest

from support import SQUARES, ProgramTest, npy, npy_labels, run, tree

ROWS = (0, 2, 3, 4, 5, 6, 7, 8)  # of nan.csv, without the row that is dropped


class SingleFiles(ProgramTest):
    def setUp(self):
        super().setUp()
        self.points = self.write("in.csv", SQUARES)
        self.nan = self.write("nan.csv", SQUARES.replace("0.1,0\n", "nan,0\n", 1))
        self.drop = ["--on-nan", "drop", "--eps", 0.1, "--minpts", 3]
        self.cluster = ["cluster", self.points, "--eps", 0.1, "--minpts", 3, "--out"]

    def test_a_file_that_exists_is_replaced_only_when_told_so(self):
        out = self.write("l.npy", "mine")
        self.fails(2, ["l.npy exists already", "--overwrite"], *self.cluster, out)
        self.assertEqual(out.read_text(), "mine")
        self.succeeds(*self.cluster, out, "--overwrite")
        self.assertEqual(len(npy_labels(out)), 9)
        table = self.write("t.h5", "mine")
        self.fails(2, ["t.h5 exists already"], "neighbors", self.points, "--eps", 0.1, "--out", table)
        generated = self.write("g.csv", "mine")
        self.fails(2, ["g.csv exists already"], "generate", "blobs", "--n", 10, "--out", generated)
        self.assertEqual((table.read_text(), generated.read_text()), ("mine", "mine"))

    def test_outputs_are_checked_before_the_input_is_read(self):
        absent = self.folder / "no-such.csv"  # reading it would be exit 3
        words = ["cluster", absent, "--eps", 0.1, "--minpts", 3, "--out"]
        self.fails(2, ["foo.txt", ".npy, .csv, .fits, .h5"], *words, self.folder / "foo.txt")
        self.fails(2, ["--out is empty"], *words, "")
        (self.folder / "a.npy").mkdir()
        self.fails(2, ["is a folder"], *words, self.folder / "a.npy")
        self.fails(4, ["/proc/no/l.npy", "choose another place"], *words, "/proc/no/l.npy")
        self.fails(2, ["t.txt", ".h5"], "neighbors", absent, "--eps", 0.1, "--out", self.folder / "t.txt")

    def test_two_outputs_are_two_files(self):
        words = [*self.cluster[:-1], "--quiet"]
        for a, b in (("./v.npy", "v.npy"), ("v.npy", str(self.folder / "v.npy")), ("no/../v.npy", "v.npy")):
            self.fails(2, ["--out and --core are both " + b], *words, "--out", a, "--core", b, cwd=self.folder)
        self.fails(2, ["--core is", "v.rows.npy", "another name"], *words, "--out", "./v.npy", "--core", "v.rows.npy",
                   cwd=self.folder)
        self.fails(2, ["--attached is", "v.rows.npy"], "fof", self.points, "--linking-length", 1, "--out", "v.npy",
                   "--attach", self.nan, "--attached", "v.rows.npy", cwd=self.folder)
        self.assertFalse((self.folder / "v.npy").exists())

    def test_core_points_and_rows_stand_beside_the_labels(self):
        core, out, rows = self.folder / "core.npy", self.folder / "l.npy", self.folder / "l.rows.npy"
        words = ["cluster", self.nan, *self.drop, "--out", out, "--core", core]
        self.succeeds(*words)
        self.assertEqual(npy(core, "|b1"), (False, True, False, True, True, True, True, False))
        self.assertEqual(npy(rows, "<i8"), ROWS)
        for file in (out, core, rows):
            for other in (out, core, rows):
                other.unlink(missing_ok=True)
            file.write_text("mine")
            self.fails(2, [file.name, "exists already"], *words)
            self.assertEqual(file.read_text(), "mine")

    def test_rows_never_stand_beside_labels_that_are_not_theirs(self):
        out, rows = self.folder / "l.npy", self.folder / "l.rows.npy"
        tail = ["--eps", 0.1, "--minpts", 3, "--out", out]
        self.succeeds("cluster", self.nan, "--on-nan", "drop", *tail)
        self.assertTrue(rows.exists())
        out.unlink()
        # The error comes before the input is read.
        self.fails(2, ["l.rows.npy exists already", "--overwrite"], "cluster", self.folder / "no-such.csv", *tail)
        self.fails(2, ["l.rows.npy exists already"], "predict", self.points, "--points", self.points,
                   "--labels", self.points, "--core", self.points, "--eps", 0.1, "--out", out)
        self.assertFalse(out.exists())
        self.succeeds("cluster", self.points, *tail, "--overwrite")
        self.assertEqual(len(npy_labels(out)), 9)
        self.assertFalse(rows.exists())
        self.assertIn(".rows.npy", self.succeeds("help", "cluster").stdout)

    def test_rows_of_the_users_own_are_neither_replaced_nor_removed(self):
        out, rows = self.folder / "l.npy", self.folder / "l.rows.npy"
        tail = [*self.drop, "--out", out, "--overwrite"]
        self.succeeds("cluster", self.nan, *tail)
        ours = rows.read_bytes()
        # NumPy saves the same array like this.
        header = "{'descr': '<i8', 'fortran_order': False, 'shape': (8,), }".ljust(117) + "\n"
        for own in (b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + ours[128:], b"mine", b""):
            rows.write_bytes(own)
            for points in (self.points, self.nan, self.folder / "no-such.csv"):
                self.fails(2, ["l.rows.npy", "did not write it", "another name for --out"], "cluster", points, *tail)
            self.assertEqual(rows.read_bytes(), own)
            self.succeeds("cluster", self.nan, *tail[:-2], "-")
        rows.unlink()
        self.succeeds("cluster", self.nan, *tail)
        self.succeeds("cluster", self.nan, *tail)
        self.assertEqual(rows.read_bytes(), ours)
        p = self.succeeds("cluster", rows, "--eps", 0.5, "--minpts", 1, "--out", "-")  # it is still an array
        self.assertEqual(len(p.stdout.split()), 9)
        try:
            import numpy
        except ImportError:
            return
        self.assertEqual((tuple(numpy.load(rows).tolist()), numpy.load(rows).dtype), (ROWS, numpy.int64))

    def test_labels_without_space_for_rows_say_of_which_they_are(self):
        def said(*words):
            return self.succeeds("cluster", *words, *self.drop).stderr

        for part in ("of the 8 rows that were kept of 9", "--out", "NAME.rows.npy"):
            self.assertIn(part, said(self.nan, "--out", "-"))
        self.assertIn("all 2 files", said(self.points, self.points, "--out", "-"))
        self.assertIn("of the 8 rows", said(self.nan, "--core", self.folder / "c.npy"))
        for words in ((self.points, "--out", "-"), (self.nan, "--out", "-", "-q"),
                      (self.nan, "--out", self.folder / "l.npy"), (self.nan,)):
            self.assertNotIn("NAME.rows.npy", said(*words))

    def test_nothing_to_cluster_is_an_error_of_the_input(self):
        points = self.write("nan.csv", "x,y\nnan,1\n2,nan\n")
        for command in ("cluster", "sweep"):
            self.fails(3, ["all 2 rows were dropped", "--columns"], command, points, *self.drop, "--out",
                       self.folder / "out.npy")
            self.assertFalse((self.folder / "out.npy").exists())

    def test_labels_say_what_distance_was(self):
        long = self.write("long.csv", ",".join(f"c{i}" for i in range(40)) + "\n" + ",".join(["1"] * 40) + "\n")
        scale = ",".join(["0.125"] * 40)
        for name in ("l.fits", "l.h5", "labelled.fits", "labelled.h5"):
            out, option = self.folder / name, "--labelled" if "labelled" in name else "--out"
            for words, metric, unit in (([self.points, "--metric", "greatcircle", "--unit", "km"],
                                         b"greatcircle, eps in km", b"km"), ([self.points], b"euclidean", None),
                                        ([long, "--scale", scale], b"scaled by 0.125 0.125", None)):
                self.succeeds("cluster", *words, "--eps", 0.1, "--minpts", 3, option, out, "--overwrite")
                data = out.read_bytes()
                self.assertIn(metric, data)
                self.assertIn(b"METRIC  = '" if name.endswith("fits") else b"metric", data)
                self.assertEqual((b"EPSUNIT = 'km" if name.endswith("fits") else b"eps_unit") in data, unit is not None)
                self.succeeds("cluster", out, "--columns", "0", "--eps", 1, "--minpts", 1)  # the file is still readable
        for command, more in (("cluster", []), ("sweep", ["--out", self.out]), ("neighbors", []),
                              ("plan", [])):
            words = [command, self.points, "--eps", 0.1, *(["--minpts", 3] if command != "neighbors" else []), *more]
            result = self.json(*words)
            self.assertEqual((result["metric"], result.get("eps_unit")), ("euclidean", None))
            words += ["--overwrite"] if command == "sweep" else []
            result = self.json(*words, "--metric", "greatcircle", "--unit", "km")
            self.assertEqual((result["metric"], result["eps_unit"]), ("greatcircle, eps in km", "km"))
        p = self.succeeds("cluster", self.points, "--eps", 0.1, "--minpts", 3, "--metric", "manhattan")
        self.assertIn("noise; manhattan; ", p.stdout)

    def test_standard_output_takes_labels_and_points(self):
        p = self.succeeds(*self.cluster, "-")
        self.assertEqual(p.stdout.split(), ["label", "0", "0", "0", "0", "1", "1", "1", "1", "-1"])
        self.assertEqual(len(self.succeeds("generate", "blobs", "--n", 10, "--out", "-").stdout.splitlines()), 11)
        self.fails(2, ["--out - and --json"], *self.cluster, "-", "--json")

    def test_no_input_is_replaced_whichever_option_names_it(self):
        others = self.write("at.csv", "x,y\n0,0\n5,5\n")
        mask = self.folder / "core.npy"
        labels = self.folder / "labels.npy"
        self.succeeds("cluster", self.points, "--eps", 0.3, "--minpts", 2, "--out", labels, "--core", mask)
        fof = ["fof", self.points, "--linking-length", 0.3, "--attach", others]
        predict = ["predict", others, "--points", self.points, "--labels", labels, "--core", mask, "--eps", 0.3]
        link = self.folder / "link.csv"
        link.symlink_to(others)
        cases = [([*fof, "--attached", self.folder / "a.npy", option, file], file)
                 for option in ("--out", "--catalog") for file in (others, link, self.points)]
        cases += [([*fof, "--attached", file], file) for file in (others, link, self.points)]
        cases += [([*predict, "--out", file], file) for file in (labels, mask, others, self.points)]
        for words, file in cases:
            before = file.read_bytes()
            p = run(*words, "--overwrite")
            self.assertEqual((p.returncode, file.read_bytes()), (2, before), (words, p.stderr))
            self.assertIn("is the input" if file.suffix == ".csv" or "predict" in words else "", p.stderr)

    def test_no_file_of_results_that_are_read_is_replaced(self):
        self.succeeds("sweep", self.points, "--eps", 0.3, "--minpts", 2, "--out", self.out, "--core", "--quiet")
        before = tree(self.out)
        predict = ["predict", self.write("new.csv", "x,y\n0,0\n"), "--results", self.out, "--eps", 0.3, "--minpts", 2,
                   "--out"]
        for name in ("labels/eps_0.3_minpts_2.npy", "core/eps_0.3_minpts_2.npy", "labels/eps_7_minpts_2.npy"):
            self.fails(2, [name], *predict, self.out / name, "--overwrite")
        self.assertEqual(tree(self.out), before)
        self.succeeds(*predict, self.out / "predicted.npy", "--quiet")

    def test_equal_runs_make_equal_files(self):
        long = self.write_rows("long.csv", "x,y", [(i % 7 * 0.01, i % 5 + i / 7 * 0.001) for i in range(60)])
        trees = []
        for name in ("a", "b"):
            out = self.folder / name
            self.succeeds("sweep", long, "--eps", "0.05,0.1", "--minpts", "2,4", "--out", out, "--lineage",
                          "--labelled", "h5", "--catalog", "h5", "--core", "--quiet")
            self.succeeds("cluster", long, "--eps", 0.1, "--minpts", 2, "--out", out / "l.h5")
            self.succeeds("neighbors", long, "--eps", 0.1, "--out", out / "n.h5")
            trees.append({name: data for name, data in tree(out).items() if name.endswith((".h5", ".npz", ".npy"))})
            time.sleep(2.1)  # times in a zip file have steps of two seconds
        self.assertEqual(sorted(trees[0]), sorted(trees[1]))
        self.assertEqual([name for name in trees[0] if trees[0][name] != trees[1][name]], [])
        self.assertIn("lineage.npz", trees[0])


if __name__ == "__main__":
    unittest.main()
