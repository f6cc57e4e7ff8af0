"""Tests the program from the user's view: commands, files, errors, exit codes."""
import json
import re
import unittest

from support import ProgramTest, limit_files, manifest, npy_labels, run, summary

# The squares of support.py, and a column that is not a number.
SQUARES = "x,y,name\n0,0,a\n0.1,0,b\n0,0.1,c\n0.1,0.1,d\n5,5,e\n5.1,5,f\n5,5.1,g\n5.1,5.1,h\n9,9,i\n"


class Squares(ProgramTest):
    def setUp(self):
        super().setUp()
        self.points = self.write("p.csv", SQUARES)
        self.tail = ["--columns", "x,y", "--eps", 0.1, "--minpts", 3]


class Commands(Squares):
    def test_without_a_command_it_shows_the_help_and_fails(self):
        self.assertEqual(run().returncode, 2)

    def test_info_shows_what_the_machine_offers(self):
        info = self.json("info")
        self.assertGreaterEqual(info["cores"], 1)
        self.assertEqual(list(info["backends"]), ["cpu", "gpu"])
        cpu, gpu = info["backends"]["cpu"], info["backends"]["gpu"]
        self.assertIs(cpu["usable"], True)
        self.assertIn("vector instructions", cpu["detail"])
        self.assertIn(gpu["usable"], (True, False))
        self.assertIn(info["version"], self.succeeds("--version").stdout)
        # If a backend is not usable, it is shown with the reason.
        text = self.succeeds("info").stdout
        for name, backend in info["backends"].items():
            self.assertGreater(len(backend["detail"]), 10)
            self.assertIn(f"backend       {name}: {backend['detail']}\n", text)
        self.assertLessEqual({"text", "NPY", "FITS", "HDF5", "Parquet"}, set(info["formats"]))
        for name, format in info["formats"].items():
            self.assertIn(f"format        {name}", text)
            self.assertEqual(format["usable"], f"format        {name}: left out" not in text)

    def test_says_that_it_runs_on_the_cpu_where_a_gpu_cannot_be_used_unless_that_was_asked_for(self):
        # With fewer points, the CPU is chosen automatically.
        points = self.write_rows("many.csv", "x,y", [(i % 200, i // 200) for i in range(40000)])
        gpu = self.json("info")["backends"]["gpu"]

        def notices(p):
            """Returns the messages, except the lines on the input, which begin with its name."""
            return "".join(line for line in p.stderr.splitlines(True) if not line.startswith(f"epsflow: {points}: "))

        said = gpu["present"] and not gpu["usable"]
        notice = f"epsflow: running on the CPU: GPU: {gpu['detail']}\n" if said else ""
        for words in (["cluster", "--minpts", 3], ["neighbors"], ["sweep", "--minpts", "3,4"]):
            out = ["--out", self.out, "--overwrite"] if words[0] == "sweep" else []
            few_words = [words[0], self.points, "--columns", "x,y", "--eps", 0.1, *words[1:], *out]
            self.assertNotIn("running on the CPU", self.succeeds(*few_words).stderr)
            words = [words[0], points, *few_words[2:]]
            self.assertEqual(notices(self.succeeds(*words)), notice)
            self.assertEqual(notices(self.succeeds(*words, "--backend", "cpu")), "")
            quiet = self.succeeds(*words, "--quiet")
            self.assertEqual((quiet.stdout, quiet.stderr), ("", ""))
            if gpu["usable"]:
                self.assertEqual(notices(self.succeeds(*words, "--backend", "gpu", "--gpu", 0)), "")
                continue
            code = 2 if "not in this build" in gpu["detail"] else 4
            self.fails(code, ["GPU", "--backend cpu"], *words, "--backend", "gpu")
            self.fails(code, ["GPU", "--backend cpu"], *words, "--gpu", 0)

    def test_cluster_writes_labels(self):
        """compare_test.py reads every format."""
        for name in ("l.npy", "l.csv"):
            p = self.succeeds("cluster", self.points, *self.tail, "--out", self.folder / name)
            self.assertIn("9 points: 2 clusters (largest 4), 8 core, 0 border, 1 noise", p.stdout)
        self.assertEqual(npy_labels(self.folder / "l.npy"), (0, 0, 0, 0, 1, 1, 1, 1, -1))
        self.assertEqual((self.folder / "l.csv").read_text(), "label\n0\n0\n0\n0\n1\n1\n1\n1\n-1\n")
        result = self.json("cluster", self.points, *self.tail)
        self.assertEqual((result["clusters"], result["noise"], result["core"], result["largest"]), (2, 1, 8, 4))

    def test_generate_in_many_dimensions(self):
        p = self.succeeds("generate", "embeddings", "--n", 50, "--dims", 4096, "--out", self.folder / "e.npy")
        self.assertIn("50 points (x0, x1, … x4095) in", p.stdout)
        self.succeeds("neighbors", self.folder / "e.npy", "--eps", 0.4)
        p = self.succeeds("generate", "exponential", "--n", 2, "--dims", 3, "--out", "-")
        self.assertTrue(p.stdout.startswith("x0,x1,x2\n0.004084772654515943,"), p.stdout)
        out = ["--n", 3, "--out", self.folder / "j.npy", "--overwrite"]
        for words, seed, rate in (([], 2137834274, 40), (["--seed", 7, "--rate", "0.5"], 7, 0.5)):
            result = self.json("generate", "exponential", "--dims", 1, *words, *out)
            self.assertEqual((result["seed"], result["rate"], result["columns"]), (seed, rate, ["x0"]))

    def test_generate_refuses_what_cannot_be(self):
        """generate_test.cpp has every option."""
        for kind, option, value, parts in (
            ("moons", "--seed", 1, ["no generator 'moons'", "tec", "blobs"]),
            ("tec", "--dims", 3, ["--dims is not for 'tec'", "generate exponential or embeddings"]),
            ("exponential", "--rate", "4O", ["--rate is '4O', no number; finite numbers from 0.01 on are possible"]),
        ):
            self.fails(2, parts, "generate", kind, option, value, "--out", self.folder / "x.npy")
        self.assertFalse((self.folder / "x.npy").exists())

    def test_every_way_to_run_gives_the_same_labels(self):
        base = ["cluster", self.generated("tec", 5000), "--columns", "0,1", "--eps", 0.2, "--minpts", 5]
        expected = self.labels_of(*base)
        for words in (["--kernel", "global"], ["--kernel", "shared"],
                      ["--table-format", "csr", "--batch-pairs", 7], ["--method", "each"],
                      ["--strategy", "table"], ["--strategy", "direct"],
                      ["--strategy", "direct", "--threads", 2, "--verify"],
                      ["--threads", 1, "--lanes", 3], ["--memory", "64M"], ["--verify", "--tables", 1],
                      ["--backend", "cpu"], ["--backend", "cpu", "--index", "grid", "--decide", "scalar"],
                      ["--backend", "cpu", "--index", "tree"],
                      ["--backend", "cpu", "--index", "all", "--strategy", "table"]):
            self.assertEqual(self.labels_of(*base, *words), expected, words)

    def test_gpus(self):
        plan = ["plan", self.points, *self.tail]
        for words in (plan, ["sweep", *plan[1:], "--out", self.out]):
            self.fails(2, ["--gpus is '0,x'", "numbers of GPUs as in 0,1"], *words, "--gpus", "0,x")
            self.fails(2, ["--gpus names GPUs", "--backend cpu"], *words, "--gpus", "0", "--backend", "cpu")
        sharing = self.json(*plan, "--backend", "cpu")["sharing"]
        self.assertEqual(sharing, {"engines": 1, "by": "one", "parts": 1, "because": "all points fit the one device"})

    def test_a_plan_tells_the_time(self):
        words = ["plan", self.points, "--columns", "x,y", "--eps", "0.1,0.15", "--minpts", "3,4"]
        plan = self.json(*words, "--backend", "cpu")
        times = [group["seconds"] for group in plan["groups"]]
        self.assertTrue(len(times) == 2 and all(t > 0 for t in times), times)
        self.assertAlmostEqual(plan["seconds"], sum(times))
        lines = self.succeeds(*words, "--backend", "cpu").stdout.splitlines()
        self.assertIn("seconds", lines[0].split())
        self.assertRegex(lines[-1], r"^about \S+ s in all")


class Sweeps(Squares):
    def setUp(self):
        super().setUp()
        self.sweep = ["sweep", self.points, "--columns", "x,y", "--eps", "0.1,0.15", "--minpts", "3,4",
                      "--out", self.out]

    def stages(self):
        """Returns the names in trace.json."""
        return {event["name"] for event in json.loads((self.out / "trace.json").read_text())["traceEvents"]}

    def test_writes_a_row_and_labels_for_every_variant(self):
        p = self.succeeds(*self.sweep, "--backend", "cpu")
        self.assertIn("4 variants of 9 points", p.stdout)
        # A pipe gets no progress bar, only the description of the input.
        self.assertEqual(len(p.stderr.splitlines()), 1, p.stderr)
        self.assertIn("9 rows; coordinates x, y (columns 0, 1)", p.stderr)
        rows = summary(self.out)
        self.assertEqual(set(rows), {(0.1, 3), (0.1, 4), (0.15, 3), (0.15, 4)})
        header = (self.out / "summary.csv").read_text().splitlines()[0]
        self.assertEqual(header, "eps,minpts,clusters,noise,core,border,largest,seconds,labels,crc32")
        self.assertEqual([rows[0.1, 4][c] for c in ("clusters", "noise", "core", "border")], ["0", "9", "0", "0"])
        self.assertEqual([rows[0.15, 4][c] for c in ("clusters", "noise", "core", "border", "largest")],
                         ["2", "1", "8", "0", "4"])
        for row in rows.values():
            self.assertEqual(len(npy_labels(self.out / row["labels"])), 9)

    def test_says_what_ran(self):
        self.succeeds(*self.sweep, "--backend", "cpu", "--gpu-memory", "2G", "--kernel", "global",
                      "--threads", 2, "--batch-pairs", 100, "--verify")
        described = manifest(self.out)
        self.assertEqual((described["status"], described["variants"]), ("complete", 4))
        self.assertNotIn("gpu", described["machine"])  # a search for a GPU takes longer than this run
        for name, value in (("backend", "cpu"), ("gpu-memory", "2G"), ("kernel", "global"),
                            ("threads", "2"), ("batch-pairs", "100"), ("verify", "true")):
            self.assertEqual(described["options"][name], value)
        self.assertNotIn("tables", described["options"])  # only given options
        self.assertEqual((described["input"]["points"], described["input"]["columns"]), (9, ["x", "y"]))
        self.assertEqual(described["options"]["eps"], "0.1,0.15")
        self.assertLessEqual({"group by eps", "build index", "plan batches", "neighbours", "build table",
                              "DBSCAN per variant", "results"}, self.stages())
        self.succeeds(*self.sweep, "--gpu-memory", "2G", "--overwrite")
        self.assertIn("direct clustering", self.stages())
        self.assertEqual(manifest(self.out)["machine"]["gpu"], self.json("info")["backends"]["gpu"]["detail"])

    def test_no_points_are_a_valid_input(self):
        empty = self.write("empty.csv", "x,y\n")
        self.succeeds("sweep", empty, "--header", "yes", "--eps", 0.1, "--minpts", 3, "--out", self.out)
        row = summary(self.out)[0.1, 3]
        self.assertEqual([row[c] for c in ("clusters", "noise", "core", "largest")], ["0"] * 4)
        self.assertEqual(npy_labels(self.out / row["labels"]), ())


class BadInput(Squares):
    def test_files(self):
        self.fails(3, ["no-such.csv"], "cluster", self.folder / "no-such.csv", *self.tail)
        self.fails(3, [str(self.folder)], "cluster", self.folder, *self.tail)
        self.fails(3, ["z", "x, y, name"], "cluster", self.points, "--columns", "x,z", "--eps", 0.1, "--minpts", 3)
        parts = ["/proc/nowhere", "choose another place"]
        self.fails(4, parts, "sweep", self.points, *self.tail, "--out", "/proc/nowhere")

    def test_a_far_outlier_costs_nothing(self):
        rows = "".join(f"{i % 100 * 0.01},{i // 100 * 0.01}\n" for i in range(10_000))
        for far in ("1e6,1e6", "1e15,-1e15", "1e300,1e300"):
            points = self.write("far.csv", rows + far + "\n")
            result = self.json("cluster", points, "--eps", 0.0101, "--minpts", 3, "--memory", "64M")
            self.assertEqual((result["clusters"], result["noise"]), (1, 1))

    def test_points_or_a_table_beyond_the_memory(self):
        """The error names bytes, budget and option. Without a request for a table, the program does without one."""
        words = ["cluster", self.generated("uniform", 100_000), "--eps", 0.1, "--minpts", 3, "--memory"]
        self.fails(4, ["1.5 MiB", "--memory"], *words, "1M")
        for more in (["--strategy", "table"], ["--table-format", "csr"], ["--strategy", "table", "--kernel", "global"]):
            self.fails(4, ["neighbour table", "needs", "32.0 MiB", "raise --memory to at least", "bytes", "lower eps",
                           "--strategy direct"], *words, "32M", *more)
        labels = self.folder / "l.npy"
        for more in ([], ["--strategy", "auto"], ["--strategy", "direct"]):
            result = self.json(*words, "32M", *more, "--overwrite", "--out", labels)
            self.assertEqual((result["clusters"], result["noise"], result["core"]), (1, 0, 100_000))
            self.assertEqual(set(npy_labels(labels)), {0})

    def test_a_full_disk_keeps_what_is_complete(self):
        points = self.generated("uniform", 50_000)
        self.succeeds("sweep", points, "--eps", 0.003, "--minpts", "4", "--out", self.out)
        words = ["sweep", points, "--eps", "0.003,0.004", "--minpts", "4,5", "--out", self.out, "--resume"]
        kept = self.out / summary(self.out)[0.003, 4]["labels"]
        when = kept.stat().st_mtime_ns
        self.fails(4, ["cannot write", "labels"], *words, preexec_fn=limit_files(100_000))
        self.assertEqual(set(summary(self.out)), {(0.003, 4)})
        self.assertEqual([p for p in self.out.rglob("*") if ".part-" in p.name], [])
        self.assertIn("3 variants of 50,000 points", self.succeeds(*words).stdout)
        self.assertEqual(len(summary(self.out)), 4)
        self.assertEqual(kept.stat().st_mtime_ns, when)


class TightMemory(ProgramTest):
    def test_the_same_command_ends_the_same_and_the_advice_is_enough(self):
        points = self.generated("blobs", 60_000)
        ended = set()
        for grid in (["--eps", "0.004,0.009", "--minpts", "4,8"], ["--eps", "0.02", "--minpts", "3,5,9,20", "--core"]):
            for memory in (1_500_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000):
                # Each run has its own folder, because a later run would skip finished variants.
                runs = [run("sweep", points, *grid, "--out", self.folder / f"{len(grid)}_{memory}_{k}", "--quiet",
                            "--memory", memory) for k in range(3)]
                self.assertEqual(len({(p.returncode, p.stderr) for p in runs}), 1, runs)
                ended.add(runs[0].returncode)
                advice = re.search(r"--memory to .*?\(([\d,]+) bytes\), which is enough", runs[0].stderr)
                if runs[0].returncode == 4 and advice:
                    out = self.folder / f"advised_{len(grid)}_{memory}"
                    self.succeeds("sweep", points, *grid, "--out", out, "--quiet",
                                  "--memory", advice.group(1).replace(",", ""))
                    ended.add("advised")
        self.assertEqual(ended, {0, 4, "advised"})


if __name__ == "__main__":
    unittest.main()
