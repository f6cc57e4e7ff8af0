#!/usr/bin/env python3
"""What every run says of its input, and the options that say how to read it."""
import json
import unittest

from support import ProgramTest, run

POINTS = "id,x,\"y, mm\"\n7,0,0\n8,0,1\n9,1,0\n"


class Reading(ProgramTest):
    def setUp(self):
        super().setUp()
        self.points = self.write("p.csv", POINTS)
        self.tail = ["--eps", 1, "--minpts", 2]

    def test_every_command_says_what_it_read(self):
        for words in (["cluster", "--minpts", 2], ["neighbors"], ["sweep", "--minpts", 2, "--out", self.folder / "r"]):
            p = self.succeeds(words[0], self.points, "--eps", 1, *words[1:])
            line = p.stderr.splitlines()[0]
            self.assertTrue(line.startswith(f"epsflow: {self.points}: "), line)
            # The id column became a coordinate, and that is said.
            self.assertTrue(line.endswith('3 rows; coordinates id, x, "y, mm" (columns 0, 1, 2)'), line)

    def test_what_was_read_is_recorded(self):
        result = json.loads(self.succeeds("cluster", self.points, "--columns", "1,2", *self.tail, "--json").stdout)
        self.assertEqual(result["columns"], ["x", "y, mm"])
        self.assertEqual(result["column_numbers"], [1, 2])
        self.assertEqual(result["dropped_rows"], 0)
        self.assertEqual([(i["name"], i["rows"], i["dropped_rows"]) for i in result["inputs"]],
                         [(str(self.points), 3, 0)])

    def test_dropped_rows_are_counted_and_named_by_every_command(self):
        bad = self.write("bad.csv", "x,y\n0,0\nnan,1\n1,0\n2,inf\n" + "nan,0\n" * 20)
        for words in (["cluster", "--minpts", 2], ["neighbors"], ["sweep", "--minpts", 2, "--out", self.folder / "r"]):
            p = self.succeeds(words[0], bad, "--on-nan", "drop", "--eps", 1, *words[1:], "--json")
            self.assertIn("dropped 22 of 24 rows for NaN, infinity or missing values: rows 1, 3, 4, 5,", p.stderr)
            self.assertIn(", …\n", p.stderr)
            result = json.loads(p.stdout)
            self.assertEqual((result["points"], result["dropped_rows"]), (2, 22))
            self.assertEqual(result["inputs"][0]["first_dropped"], [1, 3, 4, 5, 6, 7, 8, 9, 10, 11])

    def test_a_line_per_file_and_no_flood(self):
        files = [self.write(f"f{i:02}.csv", "x,y\n0,0\n") for i in range(12)]
        lines = self.succeeds("cluster", *files, *self.tail).stderr.splitlines()
        self.assertEqual(len(lines), 11)
        self.assertIn("f09.csv: ", lines[9])
        self.assertEqual(lines[10], "epsflow: and 2 more files; 12 points and 0 rows dropped in all")

    def test_columns_with_blanks_and_quotes(self):
        for columns in ('x,"y, mm"', ' x , "y, mm" ', "1,2", '"x",2'):
            p = self.succeeds("cluster", self.points, "--columns", columns, *self.tail, "--json")
            self.assertEqual(json.loads(p.stdout)["column_numbers"], [1, 2], columns)

    def test_values_that_begin_with_a_dash_are_values(self):
        p = run("cluster", self.points, "--columns", "-1,-2", *self.tail)
        self.assertNotIn("no option", p.stderr)
        self.assertNotIn("--columns has no value", p.stderr)
        self.assertIn("minpts -3", self.fails(2, [], "cluster", self.points, "--eps", 1, "--minpts", -3).stderr)

    def test_standard_input_is_a_file_too(self):
        p = self.succeeds("cluster", "-", "--columns", "x", *self.tail, "--json", input=POINTS)
        self.assertTrue(p.stderr.startswith("epsflow: standard input: "), p.stderr)
        result = json.loads(p.stdout)
        self.assertEqual((result["points"], result["inputs"][0]["name"]), (3, "standard input"))

    def test_standard_input_is_read_once(self):
        self.fails(2, ["standard input", "only once"], "cluster", "-", "-", *self.tail)


if __name__ == "__main__":
    unittest.main()
