"""If numbers in the files of a results folder were changed, the program reports damage and never uses them."""
import io
import json
import shutil
import struct
import unittest
import zipfile
import zlib

from explore_test import blobs
from results_test import Results, counts
from support import ProgramTest, manifest, tree

DAMAGED = "was not written by epsflow, or is damaged"
COUNTS = ("minpts", "clusters", "noise", "core", "border", "largest")


def journal_of(*events):
    return "".join(f"{event} {zlib.crc32(event.encode()):08x}\n" for event in events)


class OfSweepJson(Results):
    def setUp(self):
        super().setUp()
        self.succeeds(*self.sweep("--core"))
        self.whole = self.described()

    def test_all_readers_refuse_the_folder(self):
        """results_manifest_test.cpp has every number with every value."""
        page, cell = self.folder / "page.html", ["--eps", 0.1, "--minpts", 3]
        commands = (self.sweep("--core", "--resume"), self.sweep("--overwrite"),
                    ["compare", self.out, "--cell", "0.1:3", "--cell", "0.1:4"],
                    ["validity", self.points, "--results", self.out],
                    ["predict", self.points, "--results", self.out, *cell, "--out", self.folder / "l.npy"],
                    ["report", self.out, "--out", page])
        for noise, named in ((1e61, "results[0].noise is 1e+61"),
                             (2, "results[0]: noise, core and border points are 10 together, and there are 9 points")):
            described = json.loads(json.dumps(self.whole))
            described["results"][0]["noise"] = noise
            (self.out / "sweep.json").write_text(json.dumps(described))
            before = tree(self.out)
            for command in commands:
                self.fails(2, ["sweep.json", DAMAGED, named], *command)
            self.assertEqual(tree(self.out), before)
        self.assertFalse(page.exists())
        (self.out / "sweep.json").write_text("{")
        for mode in ("--resume", "--overwrite"):
            self.fails(2, ["sweep.json", "is damaged"], *self.sweep(mode))

    def test_whole_numbers_of_another_spelling_are_those_numbers(self):
        before = counts(self.out)
        described = self.described()
        described["input"]["points"] = 9e0
        for entry in described["results"]:
            entry.update({name: float(entry[name]) for name in COUNTS})
        (self.out / "sweep.json").write_text(json.dumps(described))
        self.resumed(0, "--core")
        self.assertEqual(counts(self.out), before)


class OfAJournal(Results):
    def test_a_variant_of_no_counts_is_made_again(self):
        self.succeeds(*self.sweep(eps="0.1", minpts="3"))
        right = counts(self.out)
        described = self.described()
        events = ["begin " + json.dumps({"replaces": False, "input": described["input"], "run": described["runs"][0]})]
        events += ["file " + json.dumps(file) for file in described["files"] if file["name"] != "trace.json"]
        whole = self.folder / "whole"
        for name in ("sweep.json", "summary.csv", "trace.json"):
            (self.out / name).unlink()
        (self.out / ".epsflow").mkdir()
        shutil.move(self.out, whole)
        # results_journal_test.cpp has every count with every value.
        for change in ({}, {"noise": 2}, {"clusters": 0}, {"core": "169"}, {"largest": 2**64}):
            shutil.rmtree(self.out, ignore_errors=True)
            shutil.copytree(whole, self.out)
            variant = "variant " + json.dumps({**described["results"][0], **change})
            (self.out / ".epsflow/journal").write_text(journal_of(*events, variant))
            self.resumed(1 if change else 0, eps="0.1", minpts="3")
            self.assertEqual(counts(self.out), right, change)


class OfAnExploration(ProgramTest):
    """The checksums are right, as if a user had changed both a file and its checksum."""

    def setUp(self):
        super().setUp()
        self.succeeds("explore", self.write("p.csv", blobs()), "--out", self.out)
        self.words = ["report", self.out, "--out", self.folder / "page.html", "--overwrite"]

    def forge(self, name, content):
        (self.out / name).write_bytes(content)
        described = manifest(self.out)
        file = next(file for file in described["files"] if file["name"] == name)
        file.update(bytes=len(content), crc32=f"{zlib.crc32(content):08x}")
        (self.out / "sweep.json").write_text(json.dumps(described))

    def test_offers(self):
        self.succeeds(*self.words)
        whole = (self.out / "explore.json").read_text()

        def refused(change, named):
            made = json.loads(whole)
            change(made)
            self.forge("explore.json", json.dumps(made).encode())
            self.fails(3, ["explore.json", DAMAGED, named], *self.words)

        for name, value in (("noise", 1e61), ("minpts", 5.7)):  # report_test.cpp has every count with every value
            refused(lambda made: made["recommended"].update({name: value}), f"recommended.{name} is ")
        refused(lambda made: made.update(alternatives=[made["one_eps"], {**made["one_eps"], "eps": "wide"}]),
                "alternatives[1].eps is of type string")
        for eps in ([], [0.5, -1], "wide", [None]):
            refused(lambda made: made["recommended"].update(eps_of_clusters=eps),
                    "recommended.eps_of_clusters is not a list of numbers")

    def test_minpts_of_the_map(self):
        lines = (self.out / "map.csv").read_text().splitlines()
        column = lines[0].split(",").index("minpts")
        for value in ("5.7", "0", "-1", "1e61"):
            row = lines[1].split(",")
            row[column] = value
            self.forge("map.csv", ("\n".join([lines[0], ",".join(row), *lines[2:]]) + "\n").encode())
            self.fails(3, ["map.csv", DAMAGED, "minpts"], *self.words)

    def test_numbers_of_the_lineage(self):
        whole = (self.out / "lineage.npz").read_bytes()
        for name, kind, value in (("minpts", "<I", 0), ("eps", "<d", -1), ("eps", "<d", 0), ("core", "<q", -1),
                                  ("core", "<q", 10**6), ("noise", "<q", -1), ("clusters", "<q", -1),
                                  ("clusters", "<q", 10**6), ("offsets", "<q", -1), ("size", "<I", 0),
                                  ("core_points", "<I", 10**6)):
            changed = io.BytesIO()
            with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(changed, "w") as new:
                for member in old.namelist():
                    content = bytearray(old.read(member))
                    if member == f"{name}.npy":
                        struct.pack_into(kind, content, 10 + struct.unpack_from("<H", content, 8)[0], value)
                    new.writestr(member, bytes(content))
            self.forge("lineage.npz", changed.getvalue())
            self.fails(3, ["lineage.npz", DAMAGED], *self.words)
        self.forge("lineage.npz", whole)
        self.succeeds(*self.words)


if __name__ == "__main__":
    unittest.main()
