"""Combines all outputs of a sweep in pairs, in every kind of earlier folder, with weights, dropped rows and slices.

The expected files of a folder are computed here from the rules in the manual, and compared file by file.
"""
import collections
import concurrent.futures
import itertools
import json
import os
import re
import shutil
import unittest
import zlib

from support import ProgramTest, npy, npy_labels, run, summary, table, tree

# The options of the group "Results" that request an output, with their values.
OUTPUTS = {"core": [], "labelled": ["csv"], "catalog": ["csv"], "hdf5": [], "lineage": [], "report": ["page.html"],
           "keep": ["summary"]}
# The options of the group that request no output.
OTHERS = {"out", "resume", "overwrite", "stats"}
OF_VARIANT = {"labels": ".npy", "core": ".npy", "labelled": ".csv", "catalog": ".csv"}
ALWAYS = {"summary.csv", "sweep.json", "trace.json"}
PAIRS = [()] + [(name,) for name in OUTPUTS] + list(itertools.combinations(OUTPUTS, 2))

OLD, NEW = (0.3, 2), (0.3, 4)  # the variant of earlier folders, and the added one
EPS, BEFORE, ASKED = "0.3", "2", "2,4"


def points_text():
    """Returns two groups and noise as x, y, slice s, weight w. Slices alternate by row, and one row lacks x and y."""
    rows = ["x,y,s,w"]
    for group, (x, y) in enumerate([(0, 0), (5, 5), (9, 1)]):
        for i in range(8):
            rows.append(f"{x + 0.1 * (i % 4):.1f},{y + 0.1 * (i // 4):.1f},{(i + group) % 2},{1 + i % 3}")
    rows += [",2,0,1", "20,20,1,1", "30,30,0,1", "20.2,20,0,1", "20.1,20.1,1,1"]
    return "\n".join(rows) + "\n"


class Setting(collections.namedtuple("Setting", "weights dropped sliced")):
    """States whether the points have weights, dropped rows and slices."""

    def words(self, folder):
        points = folder / ("gap.csv" if self.dropped else "points.csv")
        words = [points, "--columns", "x,y"]
        if self.weights:
            words += ["--weight", "w"]
        if self.dropped:
            words += ["--on-nan", "drop"]
        return words

    def slices(self):
        return ["--by", "s"] if self.sliced else []


SETTINGS = [Setting(*flags) for flags in itertools.product((False, True), repeat=3)]


def options_of(outputs, page):
    words = []
    for name in outputs:
        words += [f"--{name}", *([page] if name == "report" else OUTPUTS[name])]
    return words


class Earlier(collections.namedtuple("Earlier", "name outputs results explored strangers other",
                                     defaults=((), True, False, False, False))):
    """A kind of earlier folder: its outputs and other contents."""

    def fits(self, setting):
        return not (setting.sliced and (self.explored or "lineage" in self.outputs))

    def make(self, folder, base, setting):
        if self.results and self.explored:
            p = run("explore", *setting.words(base), "--out", folder, "--quiet", "--threads", 1)
            assert p.returncode == 0 and folder.exists(), p.stderr
        elif self.results:
            given = setting._replace(weights=not setting.weights) if self.other else setting
            p = run("sweep", *given.words(base), *given.slices(), "--eps", EPS, "--minpts", BEFORE, "--out", folder,
                    *options_of(sorted(self.outputs), None), "--quiet", "--threads", 1)
            assert p.returncode == 0, p.stderr
        else:
            folder.mkdir()
        if self.strangers:
            for name in OF_VARIANT:
                (folder / name).mkdir(exist_ok=True)
                (folder / name / "notes.txt").write_text("of somebody else")
            (folder / "mine.txt").write_text("mine")


EARLIER = [Earlier("nothing", results=False), Earlier("labels")]
EARLIER += [Earlier(name, [name]) for name in ("core", "labelled", "catalog", "hdf5", "lineage", "keep")]
EARLIER += [Earlier("exploration", explored=True),
            Earlier("everything", ["core", "labelled", "catalog", "hdf5"], strangers=True),
            Earlier("files of others", results=False, strangers=True),
            Earlier("other input", ["core", "catalog"], other=True)]
STRANGERS = {f"{name}/notes.txt" for name in OF_VARIANT} | {"mine.txt"}


def refusal(outputs, setting):
    """Returns true if these outputs exclude each other."""
    wanted = set(outputs)
    of_labels = wanted & {"labelled", "catalog", "hdf5", "core"}
    return ("keep" in wanted and bool(of_labels)) or (setting.sliced and bool(wanted & {"lineage", "report"}))


def variant_outputs(outputs):
    made = {name for name in ("core", "labelled", "catalog") if name in outputs}
    return made if "keep" in outputs else made | {"labels"}


def name_of(output, variant):
    return f"{output}/eps_{variant[0]:g}_minpts_{variant[1]}{OF_VARIANT[output]}"


def expected_tree(outputs, setting, earlier, mode, before):
    """Returns the names of all files after a run. before: those before it."""
    wanted = set(outputs)
    names = set(ALWAYS) | {name_of(o, v) for o in variant_outputs(wanted) for v in (OLD, NEW)}
    names |= {"rows.npy"} if setting.dropped else set()
    names |= {"slices.csv"} if setting.sliced else set()
    names |= {"lineage.npz"} if wanted & {"lineage", "report"} else set()
    names |= {"sweep.h5"} if "hdf5" in wanted else set()
    names |= STRANGERS if earlier.strangers else set()
    if mode != "--resume" or not earlier.results:
        return names
    names |= {name for name in before if name.split("/")[0] in OF_VARIANT}
    if earlier.explored:  # its files describe the map, also after additions
        names |= {"map.csv", "explore.json", "lineage.npz"} | {"recommended.npy", "alternative.npy"} & set(before)
    if "hdf5" in earlier.outputs and "keep" not in wanted:
        names.add("sweep.h5")
    return names


class Pairs(ProgramTest):
    # Thousands of runs write files, so the folder is in memory if possible.
    PARENT = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

    def setUp(self):
        super().setUp()
        text = points_text()
        self.write("gap.csv", text)
        self.write("points.csv", "\n".join(row for row in text.split("\n") if not row.startswith(",")))

    def test_the_list_of_outputs_is_that_of_the_program(self):
        text = self.succeeds("help", "sweep").stdout
        group = re.search(r"^Results:?\n(.*?)\n\n", text, re.S | re.M).group(1)
        self.assertEqual(set(re.findall(r"^ {6}--([a-z0-9-]+)", group, re.M)), set(OUTPUTS) | OTHERS)

    def check(self, outputs, setting, earlier, mode, template, number):
        """Makes one run; returns nothing or its error."""
        where = self.folder / f"run{number}"
        where.mkdir()
        folder, page = where / "results", where / "page.html"
        shutil.copytree(template, folder)
        before = tree(folder)
        # Outputs that exclude each other are refused, and --resume in the results of another input.
        code = 2 if refusal(outputs, setting) else 3 if mode == "--resume" and earlier.other else 0
        try:
            p = run("sweep", *setting.words(self.folder), *setting.slices(), "--eps", EPS, "--minpts", ASKED,
                    "--out", folder, *options_of(outputs, page), mode, "--quiet", "--threads", 1)
            self.assertEqual(p.returncode, code, p.stderr)
            after = tree(folder)
            if code != 0:
                self.assertTrue(after == before, "the folder has changed")
            else:
                self.assertEqual(set(after), expected_tree(outputs, setting, earlier, mode, before))
                self.check_contents(outputs, setting, earlier, after)
                self.assertEqual(page.exists(), "report" in outputs, "the page")
                for name in OF_VARIANT:
                    if (folder / name).exists():
                        self.assertTrue(any((folder / name).iterdir()), f"{name}/ is empty")
        except AssertionError as error:
            return f"{' '.join(outputs) or 'labels'} {mode} over {earlier.name}, {setting}: {error}"
        finally:
            shutil.rmtree(where)

    def check_contents(self, outputs, setting, earlier, after):
        strangers = STRANGERS if earlier.strangers else set()
        for name in strangers - {"mine.txt"}:
            self.assertEqual(after[name], b"of somebody else", name)
        listed = {f["name"]: f for f in json.loads(after["sweep.json"])["files"]}
        self.assertEqual(set(listed), set(after) - {"summary.csv", "sweep.json"} - strangers)
        for name, digest in listed.items():
            self.assertEqual((len(after[name]), f"{zlib.crc32(after[name]):08x}"), (digest["bytes"], digest["crc32"]),
                             name)
        for output, variant in itertools.product(variant_outputs(set(outputs)) - {"labelled"}, (OLD, NEW)):
            name = name_of(output, variant)
            self.assertTrue(after[name] == self.references[setting][name], f"{name} differs from a fresh folder's")

    def test_every_pair_over_every_folder(self):
        self.references = {}
        templates = {}
        for setting in SETTINGS:
            fresh = self.folder / "fresh"
            self.succeeds("sweep", *setting.words(self.folder), *setting.slices(), "--eps", EPS, "--minpts", ASKED,
                          "--out", fresh, "--core", "--labelled", "csv", "--catalog", "csv", "--threads", 1)
            self.references[setting] = tree(fresh)
            self.check_reference(setting, fresh)
            shutil.rmtree(fresh)
            for earlier in EARLIER:
                if not earlier.fits(setting):
                    continue
                template = self.folder / f"template{len(templates)}"
                earlier.make(template, self.folder, setting)
                templates[setting, earlier.name] = template
        cases = [(outputs, setting, earlier, mode, templates[setting, earlier.name])
                 for setting in SETTINGS for earlier in EARLIER if earlier.fits(setting)
                 for outputs in PAIRS for mode in ("--overwrite", "--resume")]
        # If each run is slow, as under sanitizers, only some of the cases run.
        cases = cases[::int(os.environ.get("EPSFLOW_TEST_EVERY", 1))]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [w for w in pool.map(lambda case: self.check(*case[1], case[0]), enumerate(cases)) if w]
        print(f"{len(cases)} runs: {len(PAIRS)} pairs of outputs, {len(EARLIER)} kinds of earlier folder, "
              f"{len(SETTINGS)} kinds of points")
        self.assertEqual(wrong, [], f"{len(wrong)} of {len(cases)}")

    def check_reference(self, setting, folder):
        """Checks the reference runs: catalogues agree with labels and masks, and rows with the input."""
        n = len((self.folder / "points.csv").read_text().split("\n")) - 2
        rows = range(n)
        if setting.dropped:
            rows = npy(folder / "rows.npy", "<i8")
            self.assertEqual(rows, tuple(row for row in range(n + 1) if row != 24))
        for eps, minpts in (OLD, NEW):
            labels = npy_labels(folder / name_of("labels", (eps, minpts)))
            core = npy(folder / name_of("core", (eps, minpts)), "|b1")
            catalog = table((folder / name_of("catalog", (eps, minpts))).read_text())
            self.assertEqual(len(labels), n)
            self.assertEqual(len(catalog), int(summary(folder)[eps, minpts]["clusters"]))
            self.assertGreater(len(catalog), 0)
            slices = [(i % 8 + i // 8) % 2 if i < 24 else int(s) for i, s in zip(range(n), [0] * 24 + [1, 0, 0, 1])]
            for cluster in catalog:
                own = [i for i in range(n)
                       if labels[i] == int(cluster["cluster"])
                       and (not setting.sliced or slices[i] == int(cluster["s"]))]
                self.assertEqual(int(cluster["size"]), len(own))
                self.assertEqual(int(cluster["core"]), sum(core[i] for i in own))
                self.assertEqual(int(cluster["first_core"]), min(rows[i] for i in own if core[i]))


if __name__ == "__main__":
    unittest.main()
