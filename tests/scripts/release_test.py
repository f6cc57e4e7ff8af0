#!/usr/bin/env python3
"""Runs scripts/release.sh in a copy of the project. The version must stand in one place. Argument: the project."""
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(sys.argv.pop(1))
VERSION = re.search(r"^project\(epsflow VERSION (\S+) ", (PROJECT / "CMakeLists.txt").read_text(),
                    re.MULTILINE).group(1)
CHANGELOG = "# Changelog\n\n## 0.1.0 (unreleased)\n\n- New.\n\n## 0.0.1 (2020-01-01)\n\n- Old.\n"


class Release(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        (self.folder / "scripts").mkdir()
        for name in ("release.sh", "version.sh"):
            shutil.copy(PROJECT / "scripts" / name, self.folder / "scripts")
        shutil.copy(PROJECT / "CMakeLists.txt", self.folder)
        (self.folder / "CHANGELOG.md").write_text(CHANGELOG)
        self.git("init", "-q")
        self.git("config", "user.name", "Nobody")
        self.git("config", "user.email", "nobody@example.org")
        self.commit()

    def git(self, *words):
        return subprocess.run(["git", *words], cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "All")

    def release(self, *words):
        return subprocess.run(["scripts/release.sh", *words], cwd=self.folder, capture_output=True, text=True)

    def changelog(self):
        return (self.folder / "CHANGELOG.md").read_text()

    def test_commit_and_tag(self):
        ran = self.release("7.8.9")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("project(epsflow VERSION 7.8.9 DESCRIPTION", (self.folder / "CMakeLists.txt").read_text())
        self.assertRegex(self.changelog(),
                         r"^# Changelog\n\n## 7\.8\.9 \(\d{4}-\d\d-\d\d\)\n\n- New\.\n\n## 0\.0\.1 \(2020-01-01\)\n")
        self.assertEqual(self.git("tag", "--points-at", "HEAD"), "v7.8.9\n")
        self.assertEqual(self.git("status", "--porcelain"), "")

    def test_dry_run_shows_and_leaves(self):
        ran = self.release("7.8.9", "--dry-run")
        self.assertEqual(ran.returncode, 0)
        self.assertIn("+project(epsflow VERSION 7.8.9 ", ran.stdout)
        self.assertIn("+## 7.8.9 (", ran.stdout)
        self.assertEqual((self.changelog(), self.git("status", "--porcelain"), self.git("tag")), (CHANGELOG, "", ""))

    def refused(self, word, *words):
        ran = self.release(*words)
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn(word, ran.stderr)
        self.assertEqual(self.git("tag", "--list", "v7*", "v0*"), "")

    def test_refusals(self):
        self.refused("'7.8' is no version such as 0.2.0", "7.8")
        self.refused("'07.8.9' is no version", "07.8.9")
        self.refused(f"0.0.9 is before {VERSION}", "0.0.9")
        self.refused("usage", "7.8.9", "--really")
        (self.folder / "CHANGELOG.md").write_text(CHANGELOG + "more\n")
        self.refused("not committed", "7.8.9")

    def test_tag_is_there(self):
        self.git("tag", "v7.8.9")
        ran = self.release("7.8.9")
        self.assertEqual((ran.returncode, ran.stderr), (1, "release.sh: the tag v7.8.9 exists: name a later version\n"))

    def test_commit_is_refused(self):
        hook = self.folder / ".git" / "hooks" / "pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n")
        hook.chmod(0o755)
        self.refused("not today", "7.8.9")
        self.assertEqual((self.changelog(), self.git("status", "--porcelain")), (CHANGELOG, ""))

    def test_nothing_new(self):
        for text, word in ((CHANGELOG.replace(" (unreleased)", " (2021-01-01)"), "no heading"),
                           (CHANGELOG.replace("- New.\n", ""), "nothing under")):
            (self.folder / "CHANGELOG.md").write_text(text)
            self.commit()
            self.refused(word, "7.8.9")


class OnePlace(unittest.TestCase):
    def test_recipes_and_settings_name_no_version_of_epsflow(self):
        files = [PROJECT / "pyproject.toml", PROJECT / "CITATION.cff", *sorted((PROJECT / "packaging").rglob("*"))]
        files = [file for file in files if file.is_file()]
        self.assertGreater(len(files), 10)
        for file in files:
            self.assertNotRegex(file.read_text(), rf"(?<![\d.]){re.escape(VERSION)}(?![\d.])", file)

    def test_version_script(self):
        ran = subprocess.run([PROJECT / "scripts/version.sh"], capture_output=True, text=True, check=True)
        self.assertEqual(ran.stdout, VERSION + "\n")


if __name__ == "__main__":
    unittest.main()
