"""Tests standard output and standard error, also if they are not writable, and the exit codes."""
import json
import os
import pty
import subprocess
import unittest

from support import BINARY, ProgramTest, npy_labels, start, summary

POINTS = "x,y\n0,0\n0,1\n1,0\n1,1\n9,9\n"


class Output(ProgramTest):
    def setUp(self):
        super().setUp()
        self.points = self.write("p.csv", POINTS)
        self.cluster = ["cluster", self.points, "--eps", 1, "--minpts", 3]
        self.sweep = ["sweep", self.points, "--eps", "1,2", "--minpts", 3, "--overwrite", "--out", self.out]

    def shell(self, redirection, *words, **kwargs):
        """Runs the program in a shell that redirects its streams."""
        return subprocess.run(["bash", "-c", f'"$0" "$@" {redirection}', BINARY, *map(str, words)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, **kwargs)

    def test_messages_that_cannot_be_printed_end_no_run(self):
        for redirection in ("2>&-", "2>/dev/full", "2> >(true)", "2>&- <&-"):
            out = self.folder / "l.npy"
            p = self.shell(redirection, *self.cluster, "--out", out, "--json")
            self.assertEqual(p.returncode, 0, redirection)
            self.assertEqual(json.loads(p.stdout)["clusters"], 1)
            # A result file must never get the descriptor of a closed stream.
            self.assertEqual(npy_labels(out), (0, 0, 0, 0, -1))
            out.unlink()
            self.assertEqual(self.shell(redirection, *self.sweep).returncode, 0, redirection)
            self.assertEqual(len(summary(self.out)), 2)

    def test_a_result_that_cannot_be_printed_is_an_error(self):
        for words in (self.cluster, self.sweep, ["info"], ["--help"], ["man"], ["--version"],
                      ["neighbors", self.points, "--eps", 1]):
            for redirection, reason in ((">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
                p = self.shell(redirection, *words)
                self.assertEqual(p.returncode, 4, (words, redirection))
                self.assertIn("cannot print the result on standard output: " + reason, p.stderr)
        self.assertEqual(self.shell("--json >/dev/full", *self.sweep).returncode, 4)

    def test_a_reader_that_goes_ends_the_program_quietly(self):
        """The reader may be one of messages, of labels or of points."""
        read, write = os.pipe()
        os.close(read)
        for words in (["man"], ["info", "--json"], [*self.cluster, "-q", "--json"], [*self.cluster, "-q", "--out", "-"],
                      [*self.cluster, "-q", "--labelled", "-"],
                      ["generate", "uniform", "-q", "--n", 10, "--out", "-"]):
            p = start(*words, stdout=write)
            self.assertEqual((p.communicate(timeout=120)[1], p.returncode), ("", 141), words)
        os.close(write)

    def shown_on_a_terminal(self, *words):
        """Returns the output of a sweep of 40 variants on a terminal."""
        points = self.generated("uniform", 20_000, "--overwrite")
        terminal, stderr = pty.openpty()
        p = start("sweep", points, "--eps", "0.001:0.02:0.001", "--minpts", "4,8", "--out", self.folder / "t", *words,
                  stderr=stderr)
        os.close(stderr)
        shown = b""
        try:
            while piece := os.read(terminal, 65536):
                shown += piece
        except OSError:  # Linux reports the closed end of a terminal like this
            pass
        os.close(terminal)
        self.assertEqual(p.wait(120), 0)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown[-100:])
        return shown

    def test_a_terminal_gets_a_bar_that_is_wiped_and_names_a_table_if_there_is_one(self):
        bar = rb"\r\x1b\[K\[=* *\] \d+/40 variants"
        self.assertRegex(self.shown_on_a_terminal("--strategy", "table"), bar + rb"  eps 0\.0\d+: table \d+ %")
        shown = self.shown_on_a_terminal("--strategy", "direct", "--overwrite")
        self.assertRegex(shown, bar)
        self.assertNotIn(b"eps 0:", shown)
        self.assertNotIn(b": table", shown)

    def test_quiet_prints_json_and_nothing_else(self):
        for words, key in ((self.cluster, "clusters"), (self.sweep, "variants"),
                           (["neighbors", self.points, "--eps", 1], "mean_neighbors"),
                           (["generate", "uniform", "--n", 10, "--out", self.folder / "u.npy"], "points")):
            p = self.succeeds(*words, "-q", "--json")
            self.assertIn(key, json.loads(p.stdout))
            self.assertEqual(p.stderr, "")
        p = self.succeeds(*self.cluster, "-q")
        self.assertEqual((p.stdout, p.stderr), ("", ""))

    def test_generate_as_json(self):
        out = self.folder / "u.npy"
        result = self.json("generate", "blobs", "--n", 10, "--seed", 7, "--out", out)
        self.assertEqual(result, {"points": 10, "kind": "blobs", "seed": 7, "columns": ["x", "y"], "out": str(out)})

    def test_counts_have_their_nouns(self):
        self.assertIn("5 points: 1 cluster (largest 4)", self.succeeds(*self.cluster).stdout)
        one = self.write("one.csv", "x\n1\n")
        self.assertIn("1 point, 1 pair within 1;", self.succeeds("neighbors", one, "--eps", 1).stdout)

    def test_mean_neighbors_leaves_the_point_itself_out(self):
        result = self.json("neighbors", self.points, "--eps", 1)
        # Four corners have two neighbours each, and one point has none.
        self.assertEqual((result["pairs"], result["mean_neighbors"]), (13, 1.6))
        self.assertNotIn("selectivity", result)

    def test_a_long_eps_keeps_the_table_in_columns(self):
        words = ["sweep", self.points, "--eps", "0.30000000000000004,2", "--minpts", 4294967295,
                 "--out", self.folder / "l"]
        table = self.succeeds(*words).stdout.splitlines()[:3]
        self.assertEqual(table[0].split()[:3], ["eps", "minpts", "clusters"])
        self.assertEqual(len({len(line) for line in table}), 1, table)
        for word, column in (("eps", 0), ("minpts", 1), ("clusters", 2)):
            end = table[0].index(word) + len(word)
            for line in table[1:]:
                self.assertTrue(line[:end].endswith(line.split()[column]), table)

    def test_control_characters_of_a_file_name_do_not_reach_the_terminal(self):
        p = self.fails(3, [r"\x1b[31mred"], "cluster", self.folder / "\x1b[31mred", "--eps", 1, "--minpts", 3)
        self.assertNotIn("\x1b", p.stderr)


if __name__ == "__main__":
    unittest.main()
