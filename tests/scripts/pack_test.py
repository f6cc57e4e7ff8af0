#!/usr/bin/env python3
"""Checks that scripts/pack.sh replaces only its own bundles. Arguments: the script, a build folder."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT, BUILD = sys.argv[1:3]


class PackTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name)
        self.folder = self.root / "bundle"

    def pack(self):
        return subprocess.run([SCRIPT, self.folder, BUILD], capture_output=True, text=True, timeout=240)

    def snapshot(self):
        return {p.relative_to(self.root): p.is_file() and p.read_bytes() for p in self.root.rglob("*")}

    def refuses(self, *parts):
        before = self.snapshot()
        p = self.pack()
        self.assertEqual(p.returncode, 1, p.stderr)
        for part in parts:
            self.assertIn(part, p.stderr)
        self.assertEqual(self.snapshot(), before)

    def test_refuses_a_folder_that_is_no_bundle(self):
        self.folder.mkdir()
        (self.folder / "thesis.tex").write_text("years of work")
        self.refuses("bundle exists and is no bundle")

    def test_refuses_an_empty_folder_a_file_and_a_link(self):
        self.folder.mkdir()
        self.refuses("no bundle")
        self.folder.rmdir()
        self.folder.write_text("a file")
        self.refuses("no bundle")
        self.folder.unlink()
        (self.root / "elsewhere").mkdir()
        self.folder.symlink_to(self.root / "elsewhere")
        self.refuses("no bundle")

    def test_refuses_what_stands_where_the_new_bundle_is_made(self):
        new = self.root / "bundle.new"
        new.mkdir()
        (new / "notes.txt").write_text("mine")
        self.refuses("bundle.new")

    def test_refuses_an_archive_without_its_bundle(self):
        (self.root / "bundle.tar.gz").write_text("another's")
        self.refuses("bundle.tar.gz")

    def test_makes_replaces_and_keeps_strange_files(self):
        for _ in range(2):
            p = self.pack()
            self.assertEqual(p.returncode, 0, p.stderr)
            run = subprocess.run([self.folder / "bin/epsflow", "--version"], capture_output=True, timeout=60)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertTrue((self.folder / "bin/epsflow-reader").is_file())  # it is needed to read FITS and HDF5
            self.assertEqual(sorted(p.name for p in self.root.iterdir()), ["bundle", "bundle.tar.gz"])
        (self.folder / "lib" / "notes.txt").write_text("mine")
        self.refuses("./lib/notes.txt")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
