"""Tests the description of the input that every run prints, and the options that select how it is read."""
import json
import unittest

from support import ProgramTest

POINTS = "id,x,\"y, mm\"\n7,0,0\n8,0,1\n9,1,0\n"


class Reading(ProgramTest):
    def setUp(self):
        super().setUp()
        self.points = self.write("p.csv", POINTS)
        self.tail = ["--eps", 1, "--minpts", 2]

    def test_every_command_says_what_it_read(self):
        for words in (["cluster", "--minpts", 2], ["neighbors"], ["sweep", "--minpts", 2, "--out", self.out]):
            line = self.succeeds(words[0], self.points, "--eps", 1, *words[1:]).stderr.splitlines()[0]
            self.assertTrue(line.startswith(f"epsflow: {self.points}: "), line)
            # The line shows that the id column became a coordinate.
            self.assertIn("text, comma-separated, header in line 1; ", line)
            self.assertTrue(line.endswith('3 rows; coordinates id, x, "y, mm" (columns 0, 1, 2)'), line)

    def test_what_was_read_is_recorded(self):
        result = self.json("cluster", self.points, "--columns", "1,2", *self.tail)
        self.assertEqual((result["columns"], result["column_numbers"], result["dropped_rows"]),
                         (["x", "y, mm"], [1, 2], 0))
        self.assertEqual([(i["name"], i["rows"], i["dropped_rows"]) for i in result["inputs"]],
                         [(str(self.points), 3, 0)])

    def test_weights(self):
        points = self.write("w.csv", 'x,y,"mass, kg"\n0,0,1\n0,1,0.5\n5,5,nan\n')
        words = [points, "--on-nan", "drop", "--weight", '"mass, kg"', *self.tail]
        p = self.succeeds("cluster", *words, "--json")
        self.assertIn('coordinates x, y (columns 0, 1); weights in column "mass, kg"\n', p.stderr)
        self.assertIn("dropped 1 of 3 rows", p.stderr)
        result = json.loads(p.stdout)
        self.assertEqual((result["points"], result["columns"], result["weight"]), (2, ["x", "y"], "mass, kg"))
        self.assertEqual(self.json("plan", *words)["weight"], "mass, kg")
        self.assertNotIn("weight", self.json("cluster", self.points, *self.tail))
        self.assertIn("--weight COLUMN", self.succeeds("help", "sweep").stdout)

    def test_weights_that_cannot_be(self):
        points = self.write("w.csv", "x,y,w\n0,0,1\n0,1,\n")
        for code, parts, weight in ((3, ["no column 'mass'", "--weight may choose from: x, y, w"], "mass"),
                                    (2, ["--weight is '0-1', 2 columns", "one column"], "0-1"),
                                    (2, ["--weight 'x,w' names 2 columns", "one column"], "x,w"),
                                    (2, ["--weight"], ""),
                                    (3, ["w.csv", "row 1", "'w'", "weights", "--on-nan drop"], "w")):
            self.fails(code, parts, "cluster", points, "--weight", weight, *self.tail)
        self.fails(2, ["--weight"], "neighbors", points, "--weight", "w", "--eps", 1)

    def test_dropped_rows_are_counted_and_named_by_every_command(self):
        bad = self.write("bad.csv", "x,y\n0,0\nnan,1\n1,0\n2,inf\n" + "nan,0\n" * 20)
        for words in (["cluster", "--minpts", 2], ["neighbors"], ["sweep", "--minpts", 2, "--out", self.out]):
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

    def test_columns_with_blanks_and_quotes_by_range_and_from_the_end(self):
        for columns, numbers in (('x,"y, mm"', [1, 2]), (' x , "y, mm" ', [1, 2]), ("1,2", [1, 2]), ('"x",2', [1, 2]),
                                 ("0-2", [0, 1, 2]), ("1-2,0", [1, 2, 0]), ("-1", [2]), ("-1,-2", [2, 1])):
            result = self.json("cluster", self.points, "--columns", columns, *self.tail)
            self.assertEqual(result["column_numbers"], numbers, columns)
        self.fails(3, ["no column '0-5'", "--columns"], "cluster", self.points, "--columns", "0-5", *self.tail)
        # A word that begins with a dash may be a value of any option.
        self.fails(2, ["minpts -3"], "cluster", self.points, "--eps", 1, "--minpts", -3)

    def test_how_to_read_text(self):
        for name, text, option, value, points, columns in (
            ("a.csv", "0,1\n0,5\n1,6\n", "--header", "yes", 2, ["0", "1"]),
            ("b.csv", "0,1\n0,5\n1,6\n", "--header", "no", 3, []),
            ("c.csv", "a;b\n1,5;2\n3,5;2\n", "--decimal", ",", 2, ["a", "b"]),
            ("d.txt", "1|2\n3|4\n", "--delimiter", "|", 2, []),
            ("e.txt", "1\t2\n3\t4\n", "--delimiter", "tab", 2, []),
            ("f.txt", "1  2\n3    4\n", "--delimiter", "blanks", 2, []),
            ("g.csv", "% made by hand\n1,2\n", "--comment", "%", 1, []),
            ("h.csv", "made by hand\nx,y\n1,2\n", "--skip-rows", 1, 1, ["x", "y"]),
        ):
            result = self.json("cluster", self.write(name, text), *self.tail, option, value)
            self.assertEqual((result["points"], result["columns"]), (points, columns), name)

    def test_what_cannot_be_told_names_the_option_that_decides(self):
        self.fails(3, ["line 1", "--header yes"], "cluster", self.write("pandas.csv", "0,1\n0,5\n1,6\n"), *self.tail)
        decimal = self.write("decimal.csv", "a;b\n1,5;2\n")
        self.fails(3, ["line 2", "'1,5'", "--decimal ','"], "cluster", decimal, *self.tail)

    def test_options_of_another_kind_of_file_are_refused(self):
        array = self.generated("uniform", 5)
        for words, file in ((["--header", "yes"], array), (["--skip-rows", 1], array),
                            (["--precision", "float32"], array), (["--dims", 2], self.points),
                            (["--external"], self.points), (["--table", 1], self.points)):
            self.fails(2, [f"{file}: {words[0]} is for", "leave it out"], "cluster", file, *self.tail, *words)

    def test_standard_input_is_a_file_too_and_read_once(self):
        p = self.succeeds("cluster", "-", "--columns", "x", *self.tail, "--json", input=POINTS)
        self.assertTrue(p.stderr.startswith("epsflow: standard input: "), p.stderr)
        result = json.loads(p.stdout)
        self.assertEqual((result["points"], result["inputs"][0]["name"]), (3, "standard input"))
        self.fails(2, ["standard input", "only once"], "cluster", "-", "-", *self.tail)


if __name__ == "__main__":
    unittest.main()
