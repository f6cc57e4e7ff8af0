"""Tests report: the page of a results folder, an exploration and a sweep, its description of the run, and errors."""
import json
import re
import subprocess
import tempfile
import unittest

from pathlib import Path

from explore_test import blobs
from support import ProgramTest


def data_of(page):
    """Returns the JSON of a page."""
    text = page.read_text()
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert len(found) == 1, len(found)
    assert text.count("<script") == 2, "a text of the data ended its script"
    return json.loads(found[0])


def without_time(data):
    """Returns the data of a page without the time when it was made."""
    return {**data, "provenance": [told for told in data["provenance"] if told[0] != "Made"]}


def cell_of(data, eps, minpts):
    return next(c for c in data["cells"] if (c["eps"], c["minpts"]) == (eps, minpts))


class PageTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.page = self.folder / "page.html"

    def assert_makes(self, command, made):
        """Checks that a shell runs a command of a page in an empty folder, and that the file `made` is then there."""
        with tempfile.TemporaryDirectory(dir=self.folder) as where:
            shell = f'epsflow() {{ "$EPSFLOW_BINARY" "$@"; }}; {command}'
            p = subprocess.run(["bash", "-c", shell], cwd=where, capture_output=True, text=True, timeout=120)
            self.assertEqual(p.returncode, 0, (command, p.stderr))
            self.assertTrue((Path(where) / made).exists(), command)


class Report(PageTest):
    def setUp(self):
        super().setUp()
        self.points = self.write("p.csv", blobs())

    def sweep(self, *words):
        return self.succeeds("sweep", self.points, "--eps", "0.2,0.4,0.8", "--minpts", "4,8", "--out", self.out, *words)

    def data(self, *words):
        self.succeeds("report", self.out, "--out", self.page, "--overwrite", *words)
        return data_of(self.page)


class OfASweep(Report):
    def test_cells_maps_and_provenance(self):
        self.sweep("--lineage")
        p = self.succeeds("report", self.out, "--out", self.page, "--json")
        self.assertEqual(json.loads(p.stdout), {"report": str(self.page), "cells": 6, "maps": 6})
        self.assertIn("a report of 6 cells, 6 with a map", p.stderr)
        data = data_of(self.page)
        self.assertEqual((data["title"], data["points"], data["eps"], data["minpts"]),
                         ("p.csv", 900, [0.2, 0.4, 0.8], [4, 8]))
        self.assertEqual([c["name"] for c in data["catalogue"][:4]], ["cluster", "points", "x centre", "y centre"])
        told = dict(data["provenance"])
        self.assertIn("900 rows", told["Input"])
        self.assertRegex(told["Checksum"], "^crc32:")
        self.assertRegex(told["Program"], r"^epsflow \d")
        self.assertRegex(told["Made"], r"^20\d\d-\d\d-\d\dT")
        self.assertIn("cores", told["Machine"])
        self.assertTrue(cell_of(data, 0.4, 8)["bars"])
        self.assertIsNone(data["advice"])
        self.assertIn("epsflow explore", data["advice_hint"])

    def test_with_the_sweep_it_is_the_same_page(self):
        self.sweep("--report", self.page)
        first = data_of(self.page)
        self.assertTrue((self.out / "lineage.npz").exists())
        self.assertEqual(without_time(first), without_time(self.data()))
        self.fails(2, ["--overwrite"], "sweep", self.points, "--eps", "1", "--minpts", "4", "--out", self.folder / "r2",
                   "--report", self.page)

    def test_cells_without_labels_have_no_map(self):
        self.sweep("--keep", "summary", "--lineage")
        data = self.data()
        self.assertTrue(all(not c["maps"] and not c["rows"] and c["sizes"] and c["bars"] for c in data["cells"]))


class OfAnExploration(Report):
    def test_what_is_recommended(self):
        found = self.json("explore", self.points, "--out", self.out, "--report", self.page)
        data = data_of(self.page)
        self.assertEqual((len(data["cells"]), data["advice"]["recommended"]),
                         (len(found["grid"]["eps"]) * len(found["grid"]["minpts"]) + 1, found["recommended"]))
        self.assertTrue(all(c["maps"] for c in data["cells"]))
        best = cell_of(data, found["one_eps"]["eps"], found["one_eps"]["minpts"])
        self.assertEqual(len(best["rows"]), 3)
        self.assertAlmostEqual(best["score"], found["one_eps"]["score"], places=5)
        own = cell_of(data, None, found["recommended"]["minpts"])
        self.assertEqual([row[0] for row in own["own_eps"]], [row[0] for row in own["rows"]])
        # The page of the folder is the same, except for maps of cells without stored labels.
        of_folder = self.data()
        self.assertEqual(of_folder["advice"], data["advice"])
        self.assertEqual([bool(c["maps"]) for c in of_folder["cells"]].count(True), 2 + len(found["alternatives"]))
        self.assertEqual(cell_of(of_folder, None, found["recommended"]["minpts"]), own)
        again = cell_of(of_folder, best["eps"], best["minpts"])
        self.assertEqual({k: v for k, v in again.items() if k != "level"},
                         {k: v for k, v in best.items() if k != "level"})

    def test_a_bound_on_time_leaves_maps_out(self):
        self.succeeds("explore", self.points, "--report", self.page, "--seconds", "60")
        data = data_of(self.page)
        # Of the recommended clusters, of the best cell, and of other cells that are offered.
        cells = [offer for offer in data["advice"]["alternatives"] if "eps_of_clusters" not in offer]
        self.assertEqual([bool(c["maps"]) for c in data["cells"]].count(True), 2 + len(cells))

    def test_no_structure_is_said(self):
        self.points = self.write_rows("few.csv", "x,y", [(i % 20, i // 20) for i in range(400)])
        self.succeeds("explore", self.points, "--report", self.page)
        self.assertTrue(data_of(self.page)["advice"]["doubts"])


class Input(Report):
    def test_where_it_is_now(self):
        self.sweep()
        moved = self.folder / "moved.csv"
        self.points.rename(moved)
        self.fails(3, ["p.csv", "not there", "--input"], "report", self.out, "--out", self.page)
        self.assertEqual(self.data("--input", moved)["title"], "moved.csv")

    def test_another_input_is_refused(self):
        self.sweep()
        self.points.write_text(blobs(2))
        self.fails(3, ["another input", "--input"], "report", self.out, "--out", self.page)
        self.assertFalse(self.page.exists())

    def test_of_standard_input(self):
        self.succeeds("sweep", "-", "--eps", "0.4", "--minpts", "4", "--out", self.out, input=blobs())
        self.fails(3, ["standard input", "--input"], "report", self.out, "--out", self.page)
        self.assertEqual(len(self.data("--input", self.points)["cells"]), 1)

    def test_it_is_read_as_it_was(self):
        rows = [(f"x;{10 + i % 7};{20 + i % 11}",) for i in range(200)]
        self.points = self.write_rows("lonlat.csv", "a;lat;lon", rows)
        self.sweep("--columns", "lon,lat", "--metric", "greatcircle", "--delimiter", ";")
        data = self.data()
        self.assertEqual((data["metric"], data["planes"][0]["y"]["name"], data["planes"][0]["y"]["unit"]),
                         ("greatcircle, eps in deg", "lat", "°"))

    def test_an_empty_value_is_read_as_it_was(self):
        self.sweep("--comment", "")
        self.assertEqual(len(self.data()["cells"]), 6)


class Refused(Report):
    def test_what_is_no_page_or_no_results(self):
        self.sweep()
        self.fails(2, [".html"], "report", self.out, "--out", self.folder / "page.txt")
        self.page.write_text("mine")
        self.fails(2, ["--overwrite"], "report", self.out, "--out", self.page)
        self.assertEqual(self.page.read_text(), "mine")
        self.fails(3, ["holds no results"], "report", self.folder, "--out", self.page, "--overwrite")
        self.fails(2, ["RESULTS"], "report")
        self.fails(2, ["one results folder"], "report", self.out, self.out)
        self.fails(2, [".html"], "explore", self.points, "--report", "x.csv")

    def test_files_that_have_changed(self):
        self.sweep("--lineage")
        for name in "lineage.npz", "labels/eps_0.4_minpts_4.npy":
            file = self.out / name
            raw = bytearray(file.read_bytes())
            raw[-1] ^= 1
            file.write_bytes(raw)
            self.fails(3, [name, "--resume"], "report", self.out, "--out", self.page, "--overwrite")
            raw[-1] ^= 1
            file.write_bytes(raw)
        self.data()

    def test_offered_commands_work_whatever_the_sweep_wrote(self):
        self.points = self.points.rename(self.folder / "a b'c.csv")
        for words in (["--core"], ["--labelled", "csv"], ["--catalog", "csv"], ["--hdf5"], ["--keep", "summary"],
                      ["--lineage"],
                      ["--core", "--labelled", "h5", "--catalog", "fits", "--stats", "x", "--strategy", "direct"]):
            self.succeeds("sweep", self.points, "--columns", "y,x", "--eps", "0.4", "--minpts", "8", "--out", self.out,
                          "--overwrite", *words)
            data = self.data()
            self.assertEqual([data["planes"][0][axis]["name"] for axis in "xy"], ["y", "x"])
            self.assert_makes(data["command"], "results/summary.csv")
            self.assert_makes(data["advice_hint"], "explored.html")
            self.assert_makes(data["catalogue_hint"].format(eps="0.4", minpts="8"), "clusters.csv")

    def test_slices_and_tables_of_neighbours(self):
        points = self.write_rows("t.csv", "x,y,t", [(i % 5, i % 3, i % 2) for i in range(60)])
        words = ("sweep", points, "--eps", "1", "--minpts", "3", "--by", "t")
        self.fails(2, ["--report", "--by"], *words, "--out", self.out, "--report", self.page)
        self.succeeds(*words, "--out", self.out)
        self.fails(3, ["slices"], "report", self.out, "--out", self.page)


if __name__ == "__main__":
    unittest.main(verbosity=2)
