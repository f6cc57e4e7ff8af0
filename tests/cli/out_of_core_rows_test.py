"""Tests a sweep of points that stay in their file because they do not fit into memory."""
import array
import random
import struct
import unittest

from support import ProgramTest, manifest, npz


class LeftRows(ProgramTest):
    def setUp(self):
        super().setUp()
        self.points = self.generated("uniform", 2_000_000)
        self.sweep = ["sweep", self.points, "--eps", "0.0005,0.0004", "--minpts", "3,4", "--backend", "cpu"]
        self.whole, self.left = self.folder / "whole", self.folder / "left"

    def assert_same(self):
        """Checks that both folders have the same labels and input."""
        for file in sorted(self.whole.rglob("*.npy")):
            self.assertEqual(file.read_bytes(), (self.left / file.relative_to(self.whole)).read_bytes(), file)
        whole, left = manifest(self.whole)["input"], manifest(self.left)["input"]
        self.assertLessEqual({"checksum", "points", "dims", "files"}, set(whole))
        self.assertEqual(whole, left)

    def test_the_same_results_within_less_memory(self):
        self.assertNotIn("read from the file", self.succeeds(*self.sweep, "--out", self.whole, "--lineage").stderr)
        less = [*self.sweep, "--out", self.left, "--lineage", "--memory", "60M"]
        said = self.succeeds(*less).stderr
        self.assertIn("read from the file", said)
        self.assertIn("2,000,000", said)
        self.assert_same()
        self.assertEqual(npz(self.whole / "lineage.npz"), npz(self.left / "lineage.npz"))
        self.succeeds(*less, "--resume")

    def test_a_copy_of_what_is_read_in_its_order_alone(self):
        points = self.folder / "q.f64"
        random.seed(1)
        one = array.array("d", [random.random() for _ in range(4 * 500_000)])
        other = array.array("d", [x + 0.001 for x in one])  # each point has one neighbour
        points.write_bytes(one.tobytes() + other.tobytes())
        chosen = ["sweep", points, "--dims", 4, "--columns", "3,2,1,0", "--eps", "0.002,0.003", "--minpts", "2",
                  "--backend", "cpu"]
        self.succeeds(*chosen, "--out", self.whole)
        said = self.succeeds(*chosen, "--out", self.left, "--memory", "30M").stderr
        self.assertIn("copied to a file without a name", said)
        self.assert_same()
        self.assertEqual([p.name for p in self.left.iterdir() if p.name.startswith(".")], [])

    def test_the_plan_says_so_without_reading_all(self):
        said = self.succeeds("plan", *self.sweep[1:], "--memory", "60M")
        self.assertIn("parts of space would take turns", said.stdout)
        plan = self.json("plan", *self.sweep[1:], "--memory", "60M")
        self.assertEqual([plan["points"], plan["sharing"]["by"]], [2_000_000, "parts"])
        self.assertEqual([plan["groups"], plan["seconds"]], [[], None])

    def test_a_bad_coordinate_is_named_and_memory_that_is_not_enough_for_parts(self):
        self.fails(4, ["p.npy", "the budget is", "raise --memory"], *self.sweep, "--out", self.out, "--memory", "20M")
        with open(self.points, "r+b") as file:
            file.seek(-8, 2)
            file.write(struct.pack("<d", float("nan")))
        for memory in ("60M", "1G"):
            self.fails(3, ["p.npy", "row 1999999, column 1 is nan", "--on-nan drop"], *self.sweep, "--out",
                       self.out, "--memory", memory)


if __name__ == "__main__":
    unittest.main()
