"""Tests snapshots in the program: masses in epsflow fof, and --attach. Argument: the program that writes one."""
import subprocess
import sys
import unittest

from support import ProgramTest, table

WRITER = sys.argv.pop()


class Snapshots(ProgramTest):
    def setUp(self):
        super().setUp()
        self.snapshot = self.snapshot_of(1, 2, 3)
        self.words = ("fof", self.snapshot, "--linking-length", "0.15")

    def snapshot_of(self, *masses):
        path = self.folder / "snap.hdf5"
        subprocess.run([WRITER, path, *map(str, masses)], check=True)
        return path

    def test_masses_are_those_of_the_snapshot(self):
        p = self.succeeds(*self.words, "--catalog", "-")
        self.assertIn("--weight Masses", p.stderr)
        self.assertEqual([float(g["Masses_total"]) for g in table(p.stdout)], [6])

    def test_masses_that_nobody_asked_for_are_left_out_of_a_pipe(self):
        words = ("fof", "-", "--linking-length", "0.15", "--catalog", "-")
        for extra in ((), ("--weight", "Masses")):
            with subprocess.Popen(["cat", self.snapshot], stdout=subprocess.PIPE) as p:
                found = self.succeeds(*words, *extra, stdin=p.stdout)
            self.assertEqual(p.returncode, 0)
            self.assertEqual([int(g["size"]) for g in table(found.stdout)], [3])
            self.assertEqual("Masses_total" in found.stdout, bool(extra), found.stdout)
            self.assertEqual("left out" in found.stderr and "--weight Masses" in found.stderr, not extra, found.stderr)

    def test_masses_that_cannot_be(self):
        for mass in ("nan", "-1", "inf"):
            self.snapshot_of(1, mass, 3)
            self.fails(3, ["row 1", mass, "column Masses", "--weight"], *self.words, "--catalog", "-", "--quiet")

    def test_a_file_that_is_called_as_a_type_of_particles_is(self):
        def attached(labels, name, *words):
            p = self.succeeds(*words, "--attach", name, "--attached", "-", cwd=self.folder)
            self.assertEqual(sorted(int(r["label"]) for r in table(p.stdout)), labels)
            return p

        attached([-1, 0], "gas", *self.words)
        self.write("gas", "x,y,z\n5,5,5\n")
        self.assertIn("./gas", attached([-1, 0], "gas", *self.words).stderr)
        attached([-1], "./gas", *self.words)
        # If the input is not a snapshot, the name means the file.
        plain = self.write("plain.csv", "x,y,z\n5,5,5\n5,5,5\n")
        attached([0], "gas", "fof", plain, "--linking-length", "1")
        (self.folder / "dark-matter").mkdir()
        self.fails(2, ["dark-matter", "name others"], *self.words, "--attach", "dark-matter", "--attached", "-",
                   "--quiet", cwd=self.folder)


if __name__ == "__main__":
    unittest.main()
