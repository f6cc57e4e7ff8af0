"""Tests options: valid and invalid values, the names in errors, missing options, and suggestions for misspelt ones."""
import unittest

from support import ProgramTest, manifest, summary


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
        for option in ("threads", "tables", "lanes"):
            for value in ("-1", "4097", "99999999999999999999999"):
                self.refuses([f"--{option} is {value};", "to 4,096 are possible"], "--" + option, value)
        self.refuses(["--threads is -1; 0 (one per core) to 4,096 are possible"], "--threads", -1)
        self.refuses(["--batch-pairs is -1;", "to 1,099,511,627,776 are possible"], "--batch-pairs", -1)
        for words in (["--gpu", -1], ["--gpu=-1"]):
            self.refuses(["--gpu is -1; 0 (the first) to"], *words)
        self.refuses(["--gpu is 'first', no whole number"], "--gpu", "first")
        self.refuses(["--dims is 0; 1 to 4,096 are possible"], "--dims", 0)
        self.refuses(["--skip-rows is -3; 0 and more are possible"], "--skip-rows", -3)
        for value in ("two", "2.5"):
            self.refuses([f"--lanes is '{value}', no whole number"], "--lanes", value)
        self.refuses(["minpts 4294967296", "is over 4,294,967,295"], variant=["--eps", 1, "--minpts", 4294967296])
        self.succeeds("cluster", self.points, "--eps", 1, "--minpts", 4294967295)

    def test_sizes_are_powers_of_1024_and_those_in_bytes_of_1000(self):
        points = self.generated("uniform", 130_000)  # 2,080,000 bytes
        words = ["cluster", points, "--eps", 1e-6, "--minpts", 3, "--memory"]
        self.assertIn("2.0 MiB", self.fails(4, ["--memory"], *words, "2M").stderr)
        self.assertIn("1.9 MiB", self.fails(4, ["--memory"], *words, "2MB").stderr)

    def test_more_variants_than_anybody_means_are_refused(self):
        self.fails(2, ["1,000,000 eps", "1,000 minpts", "10,000,000 variants"], "plan", self.points,
                   "--eps", "1:1000000:1", "--minpts", "1:1000:1")

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

    def each(self, *words):
        return [[command, self.points, *tail, *words] for command, tail in self.commands.items()]

    def test_every_command_takes_them(self):
        for index in ("auto", "grid"):
            for decide in ("auto", "scalar"):
                for words in self.each("--backend", "cpu", "--index", index, "--decide", decide):
                    self.succeeds(*words)

    def test_other_words_are_refused_with_those_there_are(self):
        for words in self.each("--index", "gri"):
            self.fails(2, ["--index 'gri' is unknown; did you mean grid?", "auto, grid, tree, all"], *words)
        for words in self.each("--decide", "tensor32"):
            self.fails(2, ["--decide 'tensor32' is unknown", "auto, scalar, tensor64, tensor16"], *words)
        for option in ("--index", "--decide"):
            for words in self.each(option, ""):
                self.fails(2, [f"{option} is empty"], *words)
            for words in self.each(option, "auto", option, "auto"):
                self.fails(2, [f"{option} is given twice"], *words)

    def test_the_cpu_has_no_tensor_cores(self):
        part = "--decide asks for tensor cores, which a GPU has, and --backend for the CPU"
        for decide in ("tensor64", "tensor16"):
            for words in self.each("--backend", "cpu", "--decide", decide):
                p = self.fails(2, [part], *words)
                self.assertNotIn("Options::", p.stderr)
                self.assertEqual(len(p.stderr.splitlines()), 1, p.stderr)

    def test_the_papers_kernels_and_packed_tables_search_a_grid_in_float64(self):
        for table in (["--kernel", "global"], ["--kernel", "shared"], ["--table-format", "packed"]):
            for search in (["--index", "tree"], ["--index", "all"], ["--decide", "tensor64"], ["--decide", "tensor16"]):
                p = self.fails(2, ["--kernel other than rows and packed tables", "leave out --index and --decide"],
                               "cluster", self.points, *self.commands["cluster"], *table, *search)
                self.assertNotIn("Options::", p.stderr)

    def test_a_plan_says_which(self):
        words = ["plan", self.points, *self.commands["plan"], "--backend", "cpu"]
        for given in ([], ["--index", "grid"], ["--decide", "scalar"]):
            lines = self.succeeds(*words, *given).stdout.splitlines()
            columns = dict(zip(lines[0].split(), lines[1].split()))
            self.assertEqual((columns["index"], columns["decide"]), ("grid", "scalar"), lines)
            group = self.json(*words, *given)["groups"][0]
            self.assertEqual((group["index"], group["decide"]), ("grid", "scalar"))

    def test_they_are_recorded(self):
        self.succeeds("sweep", self.points, *self.commands["sweep"], "--backend", "cpu", "--index", "grid", "--decide",
                      "scalar")
        recorded = manifest(self.out)["options"]
        self.assertEqual((recorded["index"], recorded["decide"]), ("grid", "scalar"))


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
    def variants(self, *words):
        self.succeeds("sweep", self.points, "--out", self.out, "--overwrite", *words)
        return sorted(summary(self.out))

    def test_every_form(self):
        expected = [(0.1, 3), (0.2, 3), (0.3, 3)]
        for eps in ("0.1,0.2,0.3", "0.1:0.3:0.1", "0.3:0.1:0.1", "0.3:0.1:-0.1", "0.1:0.3:3:lin", "0.3:0.2:0.1, 0.1"):
            self.assertEqual(self.variants("--eps", eps, "--minpts", 3), expected, eps)
        self.assertEqual(self.variants("--eps", 1, "--min-samples", "8:2:3:log"), [(1, 2), (1, 4), (1, 8)])

    def test_what_is_wrong_is_named(self):
        for eps, parts in (("0.1,", ["item 2 of '0.1,' is empty"]),
                           ("0.1:0.2", ["'0.1:0.2' is no list", "lo:hi:n:lin"]),
                           ("0.1:0.5:5", ["'0.1:0.5:5'", "lo:hi:n:lin"]),  # the step may be meant as a number of values
                           ("0.1,x", ["'x' in '0.1,x' is no number"])):
            self.fails(2, parts, "sweep", self.points, "--eps", eps, "--minpts", 3, "--out", self.out)
        self.assertFalse(self.out.exists())


class Aliases(Points):
    def test_min_samples_is_minpts(self):
        results = [self.json("cluster", self.points, "--eps", 1, name, 3) for name in ("--minpts", "--min-samples")]
        for result in results:
            del result["seconds"]
        self.assertEqual(results[0], results[1])
        self.succeeds("sweep", self.points, "--eps", 1, "--min-samples", 3, "--out", self.out)
        self.assertEqual(manifest(self.out)["options"]["minpts"], "3")


if __name__ == "__main__":
    unittest.main()
