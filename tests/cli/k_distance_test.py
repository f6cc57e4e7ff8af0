"""Compares k-distances, their knee, the suggested eps and neighbours per point with plain loops."""
import math
import random
import unittest

from support import ProgramTest, npy


def by_loops(points, k):
    return [sorted(math.sqrt((x - u) ** 2 + (y - v) ** 2) for j, (u, v) in enumerate(points) if j != i)[k - 1]
            for i, (x, y) in enumerate(points)]


class KDistance(ProgramTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(1)
        # There are two clusters, some of whose points are repeated, and noise.
        self.xy = [(draw.gauss(c, 0.1), draw.gauss(c, 0.1)) for c in (0, 5) for _ in range(150)]
        self.xy += self.xy[:20] + [(draw.uniform(-20, 20), draw.uniform(-20, 20)) for _ in range(40)]
        self.points = self.write_rows("points.csv", "x,y", self.xy)

    def found(self, *words):
        return self.json("k-distance", self.points, *words, "--quiet")

    def distances(self, points, *words):
        self.succeeds("k-distance", points, *words, "--out", self.folder / "d.npy", "--overwrite")
        return list(npy(self.folder / "d.npy", "<f8"))

    def test_distances_are_those_of_plain_loops(self):
        self.assertEqual(self.distances(self.points, "--k", 7), by_loops(self.xy, 7))
        self.succeeds("k-distance", self.points, "--out", self.folder / "d.csv")
        lines = (self.folder / "d.csv").read_text().split()
        self.assertEqual(lines[0], "k_distance")
        self.assertEqual(list(map(float, lines[1:])), by_loops(self.xy, 4))
        self.assertEqual(self.succeeds("k-distance", self.points, "--out", "-").stdout.split(), lines)

    def test_what_is_printed_and_json_say_the_same(self):
        found = self.found("--k", 4, "--eps", "0.1,0.5,100")
        values = sorted(by_loops(self.xy, 4))
        self.assertEqual((found["points"], found["k"], found["minpts"], found["metric"]), (360, 4, 5, "euclidean"))
        for row in found["quantiles"]:
            self.assertEqual(row["distance"], values[max(math.ceil(row["share"] * 360), 1) - 1])
        self.assertEqual((found["quantiles"][0]["share"], found["quantiles"][-1]["share"]), (0, 1))
        knee = found["knee"]
        self.assertTrue(0.05 < knee["distance"] < 1, knee)
        self.assertAlmostEqual(knee["share"], sum(v <= knee["distance"] for v in values) / 360)
        self.assertLess(found["eps_range"]["from"], knee["distance"])
        self.assertLess(knee["distance"], found["eps_range"]["to"])
        p = self.succeeds("k-distance", self.points, "--k", 4, "--eps", "0.1,0.5,100")
        for part in ("360 points; distance to the 4th nearest other point", f"knee: {knee['distance']:.6g}; ",
                     "neighbours", "not counted, exact"):
            self.assertIn(part, p.stdout)
        # The suggestion must be a valid sweep.
        offered = next(line for line in p.stdout.splitlines() if line.startswith("worth sweeping: ")).split()[2:]
        self.assertEqual(offered[2:], ["--minpts", "5"])
        self.assertEqual(len(self.json("plan", self.points, *offered)["groups"]), 20)

    def test_neighbours_per_point_are_exact_or_near_the_truth(self):
        exact = self.found("--eps", "0.5,0.1")["selectivity"]
        for row in exact:
            truth = self.json("neighbors", self.points, "--eps", row["eps"])["mean_neighbors"]
            self.assertEqual((row["neighbors"], row["error"]), (truth, 0))
        self.assertEqual([row["eps"] for row in exact], [0.5, 0.1])
        sampled = self.found("--eps", "0.5,0.1", "--sample", 90)
        self.assertEqual(sampled["sampled"], 90)
        for row, truth in zip(sampled["selectivity"], exact):
            self.assertGreater(row["error"], 0)
            self.assertLess(abs(row["neighbors"] - truth["neighbors"]), 4 * row["error"])
        self.assertIn("from 90 points", self.succeeds("k-distance", self.points, "--eps", 0.1, "--sample", 90).stdout)

    def test_distances_are_in_the_unit_of_the_metric(self):
        points = self.write("points.csv", "lat,lon\n0,0\n0,1\n0,3\n")
        found = self.json("k-distance", points, "--k", 1, "--metric", "greatcircle", "--unit", "km")
        self.assertEqual(found["eps_unit"], "km")
        self.assertAlmostEqual(found["quantiles"][-1]["distance"], 2 * 6371.0088 * math.pi / 180, places=6)

    def test_rows_that_were_dropped_are_told(self):
        points = self.write("nan.csv", "x,y\n0,0\nnan,1\n0,2\n5,5\n")
        self.assertEqual(len(self.distances(points, "--k", 1, "--on-nan", "drop")), 3)
        self.assertEqual(npy(self.folder / "d.rows.npy", "<i8"), (0, 2, 3))
        p = self.succeeds("k-distance", points, "--k", 1, "--on-nan", "drop", "--out", "-")
        self.assertIn("distances are of the 3 rows that were kept of 4", p.stderr)

    def test_equal_points_have_no_knee(self):
        points = self.write("same.csv", "x\n" + "1\n" * 9)
        found = self.json("k-distance", points)
        self.assertEqual((found["knee"], found["eps_range"]), (None, None))
        text = self.succeeds("k-distance", points).stdout
        self.assertIn("knee: none", text)
        self.assertIn("worth sweeping: none", text)

    def test_sizes_whose_squares_leave_float64(self):
        square = [(0, 0), (1, 0), (0, 1), (1, 1), (0.5, 0.5)]
        for factor in (1e-160, 1e160):
            points = self.write_rows("square.csv", "x,y", [(x * factor, y * factor) for x, y in square])
            p = self.succeeds("k-distance", points, "--k", 2)
            self.assertIn("worth sweeping: none in this unit; eps ", p.stdout)
            self.assertIn("for float64", p.stdout)
            self.assertAlmostEqual(self.json("k-distance", points, "--k", 2)["eps_range"]["to"] / factor, 1, places=14)
            self.fails(2, ["for float64"], "cluster", points, "--eps", factor, "--minpts", 2)

    def test_what_cannot_be_is_an_error_with_a_way_out(self):
        fails = lambda parts, *words: self.fails(2, parts, "k-distance", *words)
        fails(["FILE", "missing", "epsflow k-distance"])
        fails(["--k is 0", "1 to"], self.points, "--k", 0)
        fails(["eps: ", "lo:hi:step"], self.points, "--eps", "0.1:")
        fails(["--sample", "add --eps"], self.points, "--sample", 5)
        fails(["--out", "--json", "standard output"], self.points, "--out", "-", "--json")
        fails(["d.fits", ".npy, .csv"], self.points, "--out", self.folder / "d.fits")
        fails(["never replaces an input"], self.points, "--out", self.points, "--overwrite")
        p = self.fails(2, ["k is 360, of 360 points", "1 to 359"], "k-distance", self.points, "--k", 360)
        self.assertEqual(p.stdout, "")
        mine = self.write("d.npy", "mine")
        fails(["d.npy exists already", "--overwrite"], self.points, "--out", mine)
        self.assertEqual(mine.read_text(), "mine")


if __name__ == "__main__":
    unittest.main()
