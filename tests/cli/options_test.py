"""Tests options: valid and invalid values, the names in errors, missing options, and suggestions for misspelt ones."""
import unittest

from support import ProgramTest, manifest


class Points(ProgramTest):
    def setUp(self):
        super().setUp()
        self.points = self.write("p.csv", "x,y\n0,0\n0,1\n1,0\n1,1\n9,9\n")


class Values(Points):
    def refuses(self, parts, *words, variant=("--eps", 1, "--minpts", 3)):
        """Checks that cluster with these words fails with one line of error."""
        p = self.fails(2, parts, "cluster", self.points, *variant, *words)
        self.assertEqual(len(p.stderr.splitlines()), 1, p.stderr)
        self.assertEqual(p.stdout, "")

    def test_numbers_out_of_range_name_option_value_and_range(self):
        for value in ("-1", "4097", "99999999999999999999999"):
            self.refuses([f"--threads is {value}; 0 (one per core) to 4,096 are possible"], "--threads", value)
        self.refuses(["--batch-pairs is -1;", "to 1,099,511,627,776 are possible"], "--batch-pairs", -1)
        for words in (["--gpu", -1], ["--gpu=-1"]):
            self.refuses(["--gpu is -1; 0 (the first) to"], *words)
        self.refuses(["--dims is 0; 1 to 4,096 are possible"], "--dims", 0)
        self.refuses(["--skip-rows is -3; 0 and more are possible"], "--skip-rows", -3)
        for value in ("two", "2.5"):
            self.refuses([f"--lanes is '{value}', no whole number"], "--lanes", value)

    def test_sizes_name_their_option(self):
        for option in ("--memory", "--gpu-memory"):
            for value in ("-5", "0", "lots", "8X"):
                self.refuses([f"{option} '{value}' is no size; write 8G, 512M or a number of bytes"], option, value)

    def test_empty_values_are_refused_by_name(self):
        for option in ("out", "columns", "table", "memory", "threads", "delimiter", "decimal"):
            self.refuses([f"--{option} is empty"], "--" + option, "")
        self.refuses(["--eps is empty"], variant=["--eps", "", "--minpts", 3])
        self.refuses(["--minpts is empty"], variant=["--eps", 1, "--min-samples", ""])
        self.fails(2, ["--out is empty"], "sweep", self.points, "--eps", 1, "--minpts", 3, "--out", "")
        self.fails(2, ["one FILE … is empty"], "cluster", "", "--eps", 1, "--minpts", 3)
        self.succeeds("cluster", self.points, "--eps", 1, "--minpts", 3, "--comment", "")

    def test_single_characters(self):
        self.refuses(["--delimiter ';;' is no single character", "tab", "blanks"], "--delimiter", ";;")
        for value in (".,", "·"):
            self.refuses([f"--decimal '{value}' is no single character"], "--decimal", value)

    def test_words_of_a_choice(self):
        for option, value, choices in (("--kernel", "both", "rows, global, shared"),
                                       ("--backend", "tpu", "auto, cpu, gpu"),
                                       ("--strategy", "index", "auto, table, direct")):
            self.refuses([f"{option} '{value}' is unknown", choices], option, value)
        self.refuses(["--backend 'gp' is unknown; did you mean gpu?", "auto, cpu, gpu"], "--backend", "gp")

    def test_lists_of_columns(self):
        for columns, part in (("x,,y", "item 2 is empty"), ("x,", "item 2 is empty"),
                              ('"x,y', "a quote is not closed"), ('"x"y', "a comma is missing")):
            self.refuses([f"--columns '{columns}': {part}"], "--columns", columns)

    def test_options_given_twice_or_wrongly(self):
        self.refuses(["--eps is given twice"], "--eps", 2)
        self.refuses(["--minpts (or --min-samples) is given twice"], "--min-samples", 3)
        self.refuses(["--json takes no value"], "--json=1")
        self.refuses(["--eps has no value"], variant=["--minpts", 3, "--eps"])
        # Another option is not a value, but any other word that begins with a dash may be.
        for other in ("--minpts", "--min-samples", "--minpts=3", "-q", "--json"):
            self.refuses(["--eps has no value"], variant=["--eps", other, 3])

    def test_slips_are_pointed_out(self):
        self.refuses(["-eps is written --eps"], variant=["-eps", 1, "--minpts", 3])
        for words, parts in ((["--minpt", 3], ["no option --minpt;", "did you mean --minpts?"]),
                             (["-min-samples=3"], ["-min-samples is written --min-samples"]),
                             (["--min-sample=3"], ["no option --min-sample;", "did you mean --min-samples?"]),
                             (["--frobnicate"], ["no option --frobnicate; see epsflow cluster --help"]),
                             (["-z"], ["no option -z;"])):
            self.refuses(parts, *words, variant=["--eps", 1])
        self.fails(2, ["no command 'swep'; did you mean sweep?"], "swep", self.points)
        self.fails(2, ["no command '--verson'; did you mean --version?"], "--verson")
        self.fails(2, ["no command 'frobnicate'; epsflow --help lists"], "frobnicate")
        self.fails(2, ["info takes no 'p.csv'"], "info", "p.csv")

    def test_options_that_contradict_each_other_speak_the_programs_words(self):
        self.refuses(["--gpu asks for a GPU and --backend for the CPU"], "--backend", "cpu", "--gpu", 0)
        for words in (["--kernel", "global"], ["--table-format", "csr"], ["--method", "each"]):
            self.refuses(["--kernel, --table-format and --method are about tables", "--strategy direct makes none"],
                         "--strategy", "direct", *words)


class Searches(Points):
    """Tests --index and --decide, how candidates are found and classified, in every command that searches."""

    def setUp(self):
        super().setUp()
        sweep = ["--eps", 1, "--minpts", 3]
        self.commands = {"cluster": sweep, "sweep": [*sweep, "--out", self.out, "--overwrite"], "plan": sweep,
                         "neighbors": ["--eps", 1, "--out", self.folder / "n.h5", "--overwrite"]}

    def test_every_command_takes_them_and_the_words_there_are(self):
        """tests/pipeline/options_test.cpp has every pair of options that contradict each other."""
        for command, tail in self.commands.items():
            words = [command, self.points, *tail, "--backend", "cpu"]
            self.succeeds(*words, "--index", "grid", "--decide", "scalar")
            for more, parts in ((["--index", "gri"], ["'gri' is unknown; did you mean grid?", "auto, grid, tree, all"]),
                                (["--decide", "tensor32"], ["'tensor32' is unknown",
                                                            "auto, scalar, tensor64, tensor16"]),
                                (["--decide", "tensor64"], ["--decide asks for tensor cores, which a GPU has, and "
                                                            "--backend for the CPU"])):
                p = self.fails(2, parts, *words, *more)
                self.assertNotIn("Options::", p.stderr)
                self.assertEqual(len(p.stderr.splitlines()), 1, p.stderr)
        p = self.fails(2, ["--kernel other than rows and packed tables", "leave out --index and --decide"],
                       "cluster", self.points, *self.commands["cluster"], "--kernel", "global", "--index", "tree")
        self.assertNotIn("Options::", p.stderr)

    def test_a_plan_says_which(self):
        words = ["plan", self.points, *self.commands["plan"], "--backend", "cpu"]
        for given, index in (([], "grid"), (["--index", "tree"], "tree"), (["--index", "all"], "all"),
                             (["--decide", "scalar"], "grid")):
            lines = self.succeeds(*words, *given).stdout.splitlines()
            columns = dict(zip(lines[0].split(), lines[1].split()))
            self.assertEqual((columns["index"], columns["decide"], columns["variants"]), (index, "scalar", "1"), lines)
            group = self.json(*words, *given)["groups"][0]
            self.assertEqual((group["index"], group["decide"]), (index, "scalar"))


class Missing(ProgramTest):
    def test_everything_that_is_missing_is_named_at_once(self):
        for words, parts in ((["sweep"], "FILE …, --eps, --minpts and --out are missing"),
                             (["sweep", "p.csv"], "--eps, --minpts and --out are missing"),
                             (["sweep", "p.csv", "--min-samples", 3], "--eps and --out are missing"),
                             (["sweep", "--variants", "1:2"], "FILE … and --out are missing"),
                             (["cluster"], "FILE …, --eps and --minpts are missing"),
                             (["neighbors"], "FILE … and --eps are missing"),
                             (["generate"], "KIND and --out are missing")):
            self.fails(2, [parts + "; for example: epsflow " + words[0]], *words)
        self.fails(2, ["SHELL is missing; for example: source <(epsflow completion bash)"], "completion")


class Lists(Points):
    """sweep_test.cpp has every form of a list, and every error in one."""

    def test_eps_and_minpts_are_lists_of_the_library(self):
        for words, expected in ((["--eps", "0.3:0.1:-0.1", "--minpts", 3], [(0.1, 3), (0.2, 3), (0.3, 3)]),
                                (["--eps", "1, 2", "--min-samples", "8:2:2:log"], [(1, 2), (1, 8), (2, 2), (2, 8)]),
                                (["--variants", "0.1:3,0.15:4"], [(0.1, 3), (0.15, 4)])):
            variants = self.json("sweep", self.points, "--out", self.out, "--overwrite", *words)["variants"]
            self.assertEqual(sorted((v["eps"], v["minpts"]) for v in variants), expected)
            if "--min-samples" in words:
                self.assertEqual(manifest(self.out)["options"]["minpts"], "8:2:2:log")

    def test_what_is_wrong_is_named(self):
        for words, parts in ((["--eps", "0.1:0.2", "--minpts", 3], ["'0.1:0.2' is no list", "lo:hi:n:lin"]),
                             (["--eps=-1", "--minpts", 3], ["eps -1"]),
                             (["--eps", 1, "--minpts=2.5"], ["minpts 2.5"]),
                             (["--eps", 1, "--variants", "1:2"], ["not both"])):
            self.fails(2, parts, "sweep", self.points, "--out", self.out, *words)
        self.fails(2, ["cluster takes one eps and one minpts"], "cluster", self.points, "--eps", "1,2", "--minpts", 3)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
