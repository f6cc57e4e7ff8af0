"""Tests epsflow watch. Its files do not depend on when it was killed and started again."""
import base64
import contextlib
import datetime
import json
import os
import random
import signal
import struct
import subprocess
import time
import unittest

from report_test import data_of
from support import ProgramTest, printed_seed, start, table

OUTPUTS = ("events.jsonl", "catalog.csv", "tracks.csv")


def stream(n, seed):
    """Returns rows (t, x, y): blobs that wander, meet and part, and noise; times are a little out of order."""
    rng = random.Random(seed)
    rows = []
    for i in range(n):
        t = i / 10
        k = rng.randrange(5)
        if k == 4:
            x, y = rng.uniform(-4, 4), rng.uniform(-4, 4)
        else:
            center = 2 * abs((t / (40 + 10 * k)) % 2 - 1)
            x, y = rng.gauss(center + k % 2, 0.15), rng.gauss(center - k // 2, 0.15)
        rows.append((round(t + rng.uniform(-3, 3), 3), round(x, 4), round(y, 4)))
    return rows


def as_csv(rows):
    return "t,x,y\n" + "".join(f"{t},{x},{y}\n" for t, x, y in rows)


def as_json(rows):
    return "".join(json.dumps({"x": x, "t": t, "name": "a", "y": y}) + "\n" for t, x, y in rows)


def date_of(t, form="%Y-%m-%dT%H:%M:%S.%fZ"):
    return (datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=t)).strftime(form)


class Watch(ProgramTest):
    def words(self, source, *more, out="out", window=("--window", "40"), columns="x,y", eps="0.3"):
        return ("watch", *([source] if not isinstance(source, (list, tuple)) else source), "--columns", columns,
                "--time", "t", "--eps", eps, "--minpts", "4", *window, "--out", self.folder / out, *more)

    def outputs(self, out="out"):
        return {name: (self.folder / out / name).read_text() for name in OUTPUTS}

    def events(self, out="out"):
        return [json.loads(line) for line in self.outputs(out)["events.jsonl"].splitlines()]

    def catalog(self, out="out"):
        return table((self.folder / out / "catalog.csv").read_text())

    def page(self, out="out"):
        return data_of(self.folder / out / "window.html")

    def is_killed(self, words, catalog, size, seconds, piped):
        """Runs the program, and kills it some time after `catalog` has a size. Returns false if it ends before."""
        with contextlib.ExitStack() as stack:
            source = subprocess.DEVNULL
            if piped:
                cat = stack.enter_context(subprocess.Popen(["cat", piped], stdout=subprocess.PIPE))
                source = cat.stdout
            p = stack.enter_context(start(*words, stdin=source, stderr=subprocess.DEVNULL))
            while size > 0 and p.poll() is None and not (catalog.exists() and catalog.stat().st_size >= size):
                time.sleep(0.002)
            time.sleep(seconds)
            p.kill()
            return p.wait() == -signal.SIGKILL


class Kills(Watch):
    def setUp(self):
        super().setUp()
        seed = printed_seed()
        self.rng = random.Random(seed)
        self.rows = stream(12_000, seed)

    def compare(self, source, *more, text=None):
        whole, parts = f"whole{' '.join(more)}", f"parts{' '.join(more)}"
        kwargs = {"input": text} if text else {}
        self.succeeds(*self.words(source, *more, out=whole), **kwargs)
        catalog = len(self.outputs(whole)["catalog.csv"])
        words = self.words(source, *more, "--snapshot", "0.005", out=parts)
        piped = self.write("piped", text) if text else None
        sizes = [0, *sorted(self.rng.uniform(0, 0.9) * catalog for _ in range(5))]
        kills = [self.is_killed(words, self.folder / parts / "catalog.csv", size, self.rng.uniform(0, 0.02), piped)
                 for size in sizes]
        self.assertGreater(sum(kills), 2)
        self.assertRegex(self.succeeds(*words, **kwargs).stderr, r"goes on after [1-9][\d,]* steps? of")
        self.assertEqual(self.outputs(whole), self.outputs(parts))
        if "--page" in more:
            self.assertEqual(self.page(whole), self.page(parts))
            self.assertEqual(len(self.page(whole)["lives"]), self.page(whole)["all_lives"])
        self.assertGreater(len(self.events(whole)), 20)
        self.assertEqual(list((self.folder / parts).glob("*.part-*")), [])
        return self.catalog(whole)[-1]["step"]

    def test_files(self):
        files = [self.write(f"{i}.csv", as_csv(self.rows[i : i + 3000])) for i in range(0, 12_000, 3000)]
        self.compare(files, "--step", "1s")
        # A step may be as long as a file, and end in the next one.
        self.compare(files, "--step-rows", "70", "--all-events", "--page")

    def test_a_folder(self):
        (self.folder / "in").mkdir()
        for i in range(0, 12_000, 100):
            text = as_json(self.rows[i : i + 100]) if i % 200 else as_csv(self.rows[i : i + 100])
            self.write(f"in/{i:05}.{'jsonl' if i % 200 else 'csv'}", text)
        self.assertEqual(self.compare(self.folder / "in", "--once", "--settle", "0.05"), "119")

    def test_standard_input(self):
        self.compare("-", "--step", "2", text=as_csv(self.rows))


class Steps(Watch):
    def test_events_and_catalogue_of_two_clusters_that_meet(self):
        apart = [(k, 0.09 * k, 0) for k in range(5)] + [(k, 3 + 0.09 * k, 0) for k in range(5)]
        bridge = [(10 + k / 2, 0.09 * k + 0.4, 0) for k in range(29)]
        files = [self.write("a.csv", as_csv(apart)), self.write("b.jsonl", as_json(bridge)),
                 self.write("c.csv", as_csv([(t + 35, x, y) for t, x, y in apart])),
                 self.write("d.csv", as_csv([(300, 9, 9)]))]
        said = self.json(*self.words(files[:3], "--all-events"))
        self.assertEqual((said["steps"], said["rows"], said["points"], said["clusters"]), (3, 49, 49, 1))
        self.succeeds(*self.words(files, "--all-events"))
        told = [(e["step"], e["time"], e["event"], e["before"], e["sizes_before"], e["after"], e["sizes_after"])
                for e in self.events()]
        self.assertEqual(told, [
            (0, 4, "born", [], [], [0], [5]), (0, 4, "born", [], [], [1], [5]),
            (1, 24, "merged", [0, 1], [5, 5], [0], [39]),
            (2, 39, "continued", [0], [39], [0], [49]),
            (3, 300, "ended", [0], [49], [], [])])
        rows = self.catalog()
        self.assertEqual([(r["step"], r["time"], r["id"], r["cluster"], r["size"], r["first_core"]) for r in rows],
                         [("0", "4", "0", "0", "5", "0"), ("0", "4", "1", "1", "5", "5"),
                          ("1", "24", "0", "0", "39", "0"), ("2", "39", "0", "0", "49", "0")])
        self.assertAlmostEqual(float(rows[0]["x_center"]), 0.18)
        tracks = table(self.outputs()["tracks.csv"])
        self.assertEqual(list(tracks[0]), ["frame", "time", "cell", "num", "x", "y"])
        self.assertEqual([(r["frame"], r["cell"], r["num"]) for r in tracks],
                         [("0", "0", "5"), ("0", "1", "5"), ("1", "0", "39"), ("2", "0", "49")])
        self.succeeds(*self.words(files, out="fewer"))
        self.assertEqual([e["event"] for e in self.events("fewer")], ["born", "born", "merged", "ended"])

    def test_late_rows_are_left_out_and_others_may_be_out_of_order(self):
        rows = [(100, 0, 0), (70, 0.1, 0), (130, 0.2, 0), (89, 0.3, 0), (92, 0.4, 0), (131, 0.5, 0)]
        file = self.write("a.csv", as_csv(rows))
        said = self.json(*self.words(file))
        self.assertEqual((said["rows"], said["late"], said["points"]), (6, 1, 4))
        p = self.succeeds(*self.words(file, "--late", "35", "--json", out="short"))
        said = json.loads(p.stdout)
        self.assertRegex(p.stderr, r"a.csv: line 5: the time is more than 35 before .* such rows are left out")
        self.assertEqual((said["rows"], said["late"], said["points"]), (6, 2, 3))
        self.fails(2, ["--late is longer than --window"], *self.words(file, "--late", "41", out="long"))

    def test_dates_are_seconds_and_steps_are_their_multiples(self):
        rows = stream(500, 5)
        plain = self.write("a.csv", as_csv(rows))
        dated = self.write("b.csv", as_csv([(date_of(t), x, y) for t, x, y in rows]))
        shifted = self.write("c.jsonl", "".join(json.dumps(
            {"t": date_of(t + 7200, "%Y-%m-%d %H:%M:%S.%f+02:00"), "x": x, "y": y}) + "\n" for t, x, y in rows))
        for file in (plain, dated, shifted):
            self.json(*self.words(file, "--step", "0.5m", out=file.stem))
        begin = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc).timestamp()
        events = [[(e["step"], round(e["time"] - (begin if name != "a" else 0), 2), e["event"], e["after"])
                   for e in self.events(name)] for name in "abc"]
        self.assertEqual(events[1], events[2])
        self.assertEqual(events[0], events[1])
        self.assertEqual(events[0][-1][0], 1)  # 50 seconds
        self.assertEqual(self.outputs("b"), self.outputs("c"))


class Page(Watch):
    def test_clusters_that_meet_and_part(self):
        def row(t, a, b):
            return [(t, a + 0.09 * k, 0) for k in range(5)] + [(t, b + 0.09 * k, 0) for k in range(8)]

        bridge = [(50, 0.09 * k + 0.4, 0) for k in range(29)]
        steps = [row(0, 0, 3), row(50, 0, 3), bridge, row(100, 0, 3), row(150, 0, 3), row(250, 9, 3)]
        rows = [r for step in steps for r in step] + [(250, 100, 100)]
        file = self.write_rows("a.csv", "t,x,</script>y", rows)
        words = self.words(file, "--step", "50", window=("--window", "90"), columns="x,</script>y")
        self.succeeds(*words)
        self.assertFalse((self.folder / "out/window.html").exists())
        self.succeeds(*words, "--page")  # history from files of a run without a page
        data = self.page()
        self.assertEqual((data["running"], data["steps"], data["time"], data["rows"], data["late"]),
                         (False, 5, 250, 95, 0))
        events = [[e["step"], e["event"], e["before"], e["after"]] for e in self.events()]
        self.assertEqual({e[1] for e in events}, {"born", "merged", "split", "ended"})
        self.assertEqual(data["events"], events)
        lives = {}
        for r in self.catalog():
            life = lives.setdefault(int(r["id"]), [int(r["id"]), int(r["step"]), int(r["step"]), []])
            life[3].append(int(r["size"]))
        self.assertEqual(data["lives"], sorted(lives.values()))
        last = [r for r in self.catalog() if r["step"] == "4"]
        self.assertEqual([row[:3] for row in data["table"]],
                         sorted([[int(r["id"]), int(r["size"]), int(r["core"])] for r in last], key=lambda r: -r[1]))
        self.assertEqual([row[3:] for row in data["table"]], [[4, 250]] * 2)
        self.assertEqual([a["name"] for a in data["axes"]], ["x", "</script>y"])
        drawn = list(struct.iter_unpack("<HHI", base64.b64decode(data["drawn"])))
        self.assertEqual((len(drawn), data["points"], data["every"]), (14, 14, 1))
        self.assertEqual(drawn[-1], (65535, 65535, 0))
        self.assertEqual(sum(index == 0 for _, _, index in drawn), 1)
        for id_, size, *_ in data["table"]:
            self.assertEqual(sum(index > 0 and data["ids"][index - 1] == id_ for _, _, index in drawn), size)

    def test_many_points_and_many_steps_are_thinned(self):
        file = self.write("a.csv", as_csv(stream(30_000, 3)))
        words = self.words(file, "--step-rows", "100", window=("--keep", "25000"))
        self.succeeds(*words, "--page")
        data = self.page()
        self.assertEqual((data["points"], data["every"], data["steps"], data["first_step"]), (25_000, 2, 300, 100))
        drawn = list(struct.iter_unpack("<HHI", base64.b64decode(data["drawn"])))
        self.assertEqual(len(drawn), 12_500)
        self.assertTrue(all(len(sizes) <= 200 and first >= 100 for _, _, first, sizes in data["lives"]))
        self.assertTrue(all(event[0] >= 100 for event in data["events"]))
        self.assertLess(max(row[3] for row in data["table"][:1]), 100)  # known though it is long ago

    def test_dates_degrees_and_one_column(self):
        file = self.write_rows("a.csv", "t,lat,lon", [(date_of(t), y, 10 + x) for t, x, y in stream(200, 4)])
        window = ("--keep", "100")
        self.succeeds(*self.words(file, "--metric", "greatcircle", "--page", out="sky", window=window,
                                  columns="lat,lon"))
        data = self.page("sky")
        self.assertEqual([(a["name"], a["unit"]) for a in data["axes"]], [("lon", "°"), ("lat", "°")])
        self.assertTrue(data["dates"] and data["zone"])
        self.succeeds(*self.words(file, "--page", out="line", window=window, columns="lon", eps="0.1"))
        self.assertEqual([a["name"] for a in self.page("line")["axes"]], ["lon"])
        self.succeeds(*self.words(self.write("none.csv", "t,x,y\n"), "--page", out="none"))
        self.assertEqual((self.page("none")["steps"], self.page("none")["lives"]), (0, []))


class Folder(Watch):
    def start(self, *more):
        (self.folder / "in").mkdir()
        words = self.words(self.folder / "in", "--settle", "0.1", "--json", *more)
        self.process = start(*words, stdout=subprocess.PIPE)
        self.addCleanup(lambda: (self.process.poll() is None and self.process.kill(), self.process.communicate()))

    def wait_for_steps(self, steps):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if (self.folder / "out/catalog.csv").exists() and len({r["step"] for r in self.catalog()}) >= steps:
                return
            time.sleep(0.02)
        self.fail(f"fewer than {steps} steps")

    def stop(self, number, code):
        self.process.send_signal(number)
        out, errors = self.process.communicate(timeout=30)
        self.assertEqual(self.process.returncode, code, errors)
        return json.loads(out), errors

    def test_files_are_read_as_they_appear_and_changes_are_told_once(self):
        self.start()
        rows = stream(300, 1)
        first = self.write("in/b.csv", as_csv(rows[:100]))
        self.wait_for_steps(1)
        for name in (".hidden.csv", "c.csv.tmp", "c.csv.part", "notes.txt"):
            self.write(f"in/{name}", "nonsense")
        (self.folder / "in/bad.csv").symlink_to(self.folder / "nowhere.csv")
        first.write_text(first.read_text() + "1,1,1\n")
        self.write("in/a.jsonl", as_json(rows[100:200]))
        self.wait_for_steps(2)
        time.sleep(0.7)
        self.write("nowhere.csv", as_csv(rows[200:]))
        self.wait_for_steps(3)
        time.sleep(0.7)
        said, errors = self.stop(signal.SIGTERM, 0)
        self.assertEqual((said["steps"], said["rows"]), (3, 300))
        self.assertEqual(errors.count("b.csv has grown since it was opened"), 1, errors)
        self.assertEqual(errors.count("bad.csv: cannot read the file"), 1, errors)
        self.assertIn("tried again", errors)
        files = [self.folder / "in" / name for name in ("b.csv", "a.jsonl", "bad.csv")]
        first.write_text(as_csv(rows[:100]))
        self.succeeds(*self.words(files, out="again"))
        self.assertEqual(self.outputs(), self.outputs("again"))

    def test_the_page_reloads_until_the_end(self):
        self.start("--page")
        self.write("in/a.csv", as_csv(stream(100, 2)))
        self.wait_for_steps(1)
        end = time.monotonic() + 20
        while self.page()["steps"] < 1 and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual((self.page()["steps"], self.page()["points"]), (1, 100))
        self.assertTrue(self.page()["running"])
        self.stop(signal.SIGTERM, 0)
        self.assertFalse(self.page()["running"])
        self.write("in/bad.csv", "t,x,y\n1,2\n")
        self.fails(3, ["bad.csv: line 2"], *self.words(self.folder / "in", "--settle", "0.1", "--once", "--page"))
        self.assertEqual((self.page()["steps"], self.page()["running"]), (1, False))

    def test_once_reads_all_that_can_be_read(self):
        (self.folder / "in").mkdir()
        self.write("in/b.csv", as_csv(stream(100, 1)))
        (self.folder / "in/a.csv").symlink_to(self.folder / "nowhere.csv")
        words = self.words(self.folder / "in", "--settle", "0", "--once")
        self.fails(3, ["a.csv: cannot read the file"], *words)
        self.assertEqual({r["step"] for r in self.catalog()}, {"0"})
        self.write("nowhere.csv", as_csv(stream(50, 1)))
        self.assertEqual(self.json(*words)["rows"], 150)

    def test_a_file_whose_fault_was_mended_is_read_as_it_is_now(self):
        (self.folder / "in").mkdir()
        text = as_csv(stream(100, 1))
        file = self.write("in/a.csv", text + "1,2\n")
        for seconds in ("0", "10"):  # between snapshots
            file.write_text(text + "1,2\n")
            words = self.words(self.folder / "in", "--settle", "0", "--once", "--step-rows", "20", "--snapshot",
                               seconds, out=seconds)
            self.fails(3, ["a.csv: line 102"], *words)
            file.write_text(text + "1,2,3\n" + "9,9,9\n" * 20)
            said = self.json(*words)
            self.assertEqual((said["rows"], said["steps"]), (121, 7))

    def test_a_last_line_without_an_end_that_a_step_ended_with(self):
        first, second = self.write("a.csv", as_csv(stream(40, 1)).rstrip()), self.write("b.csv", "t,y\n")
        words = self.words([first, second], "--step-rows", "20")
        self.fails(3, ["b.csv: line 1"], *words)
        first.write_text(first.read_text() + "5\n9,9,9\n")
        second.write_text("t,x,y\n")
        self.assertEqual(self.json(*words)["rows"], 40)

    def test_an_interrupted_run_goes_on(self):
        self.start()
        rows = stream(300, 2)
        self.write("in/a.csv", as_csv(rows[:150]))
        self.wait_for_steps(1)
        said, errors = self.stop(signal.SIGINT, 130)
        self.assertEqual(said["steps"], 1)
        self.assertIn("the same command goes on", errors)
        self.write("in/b.csv", as_csv(rows[150:]))
        words = self.words(self.folder / "in", "--settle", "0.1", "--once")
        self.assertEqual(self.json(*words)["rows"], 300)
        before = self.outputs()
        self.assertEqual(self.json(*words)["steps"], 2)  # there is nothing new
        self.assertEqual(self.outputs(), before)

    def test_two_runs_do_not_share_results(self):
        self.start()
        self.write("in/a.csv", as_csv(stream(50, 2)))
        self.wait_for_steps(1)
        self.fails(2, ["is being written by process"], *self.words(self.folder / "in", "--once"))
        self.stop(signal.SIGTERM, 0)

    def change(self, while_read, last=""):
        """Stops the program while it reads a file whose last line is `last`, calls while_read(file), lets it go on.

        Returns the program, which has ended, and its output and errors."""
        file = self.write("a.csv", as_csv(stream(30_000, 1)) + last)
        p = start(*self.words(file, "--step-rows", "20", "--json"), stdout=subprocess.PIPE)
        self.addCleanup(lambda: (p.poll() is None and p.kill(), p.communicate()))
        self.process = p
        self.wait_for_steps(2)
        p.send_signal(signal.SIGSTOP)
        while_read(file)
        p.send_signal(signal.SIGCONT)
        return p, *p.communicate(timeout=60)

    def test_a_file_that_grows_while_it_is_read_ends_with_a_whole_line(self):
        def grow(file):
            with file.open("a") as end:
                end.write(",1.25\n3101,1,1\n")

        p, out, errors = self.change(grow, last="3100.5,1")
        self.assertEqual((p.returncode, json.loads(out)["rows"]), (0, 30_001), errors)
        self.assertIn("a.csv has grown since it was opened: what is new in it is not read", errors)
        file = self.write("whole.csv", as_csv(stream(30_000, 1)) + "3100.5,1,1.25\n")
        self.succeeds(*self.words(file, "--step-rows", "20", out="whole"))
        self.assertEqual(self.outputs(), self.outputs("whole"))

    def test_a_file_that_grew_after_a_kill_is_read_up_to_its_first_size(self):
        file = self.write("a.csv", as_csv(stream(30_000, 1)))
        words = self.words(file, "--step-rows", "20", "--snapshot", "0")
        self.assertTrue(self.is_killed(words, self.folder / "out/catalog.csv", 5000, 0, None))
        file.write_text(file.read_text() + "3101,9,9\n" * 20)
        p = self.succeeds(*words, "--json")
        self.assertEqual(json.loads(p.stdout)["rows"], 30_000)
        self.assertIn("a.csv has grown since it was opened", p.stderr)

    def test_a_file_that_shrinks_while_it_is_read(self):
        p, _, errors = self.change(lambda file: os.truncate(file, 1000))  # pieces of 64 KiB are read
        self.assertEqual(p.returncode, 3)
        self.assertIn("a.csv: was shortened while it was read", errors)

    def test_a_file_that_is_replaced_while_it_is_read(self):
        p, out, errors = self.change(lambda file: self.write("new.csv", "t,x,y\n1,2,3\n").rename(file))
        self.assertEqual((p.returncode, json.loads(out)["rows"]), (0, 30_000), errors)
        self.assertIn("a.csv has been replaced since it was opened", errors)

    def test_a_pipe_is_clustered_as_it_comes(self):
        p = start(*self.words("-", "--step-rows", "50", "--quiet"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(lambda: p.poll() is None and p.kill())
        p.stdin.write(as_csv(stream(120, 2)))
        p.stdin.flush()
        self.wait_for_steps(2)
        p.send_signal(signal.SIGTERM)
        self.assertEqual(p.wait(timeout=30), 0)
        p.communicate()
        self.assertEqual(self.json(*self.words("-", "--step-rows", "50"), input=as_csv(stream(120, 2)))["steps"], 3)


class Errors(Watch):
    def test_malformed_lines_are_named_and_earlier_steps_kept(self):
        good = as_csv(stream(100, 4))
        for k, (text, parts) in enumerate({
            "1,2\n": ["line 102: 2 fields in a table of 3 columns"],
            "1,abc,2\n": ["line 102: 'x' is 'abc', which is not a number"],
            "soon,1,2\n": ["line 102: 't' is 'soon', which is not a number or a date"],
            "1,,2\n": ["line 102: 'x' is NaN, infinite or missing", "--on-nan drop"],
            "nan,1,2\n": ["line 102: 't' is NaN"],
            "2026-01-01,1,2\n": ["line 102: 't' is '2026-01-01'", "is a number in earlier rows"],
            '1,"2,3\n': ["line 102: a quote is not closed"],
        }.items()):
            files = [self.write("a.csv", good), self.write("b.csv", good + text)]
            self.fails(3, ["b.csv", *parts], *self.words(files, out=str(k)))
            self.assertEqual({r["step"] for r in self.catalog(str(k))}, {"0"}, text)
            # With the line put right the same command goes on.
            self.write("b.csv", good)
            self.succeeds(*self.words(files, out=str(k)))
            self.assertEqual({r["step"] for r in self.catalog(str(k))}, {"0", "1"}, text)

    def test_json_dates_and_points_that_the_metric_refuses(self):
        for name, text, parts, more in (
            ("a.jsonl", as_json([(1, 2, 3)]) + "[1]\n", ["a.jsonl: line 2", "is not a JSON object"], ()),
            ("a.jsonl", '{"x": 1, "y": 2, "t": 3}\0x\n', ["a.jsonl: line 1", "is not a JSON object"], ()),
            ("b.jsonl", '{"t": 1, "x": "2", "y": 3}\n', ["line 1: 'x' is '\"2\"', which is not a number"], ()),
            ("c.csv", as_csv([("2026-01-01T00:00:00Z", 1, 2), ("2026-01-01T00:00:00", 1, 2)]),
             ["line 3: 't' is '2026-01-01T00:00:00'", "a date without a time zone, and is a date with"], ()),
            ("d.csv", as_csv([(1, 2, 3), (2, 3, 95), (3, 4, 5)]),
             ["d.csv: line 3: latitude 95 in column 1 is beyond"], ("--metric", "greatcircle")),
        ):
            self.fails(3, parts, *self.words(self.write(name, text), *more, out=name + ".out"))

    def test_steps_larger_than_the_window_are_told_and_counted(self):
        file = self.write("a.csv", as_csv(stream(300, 4)))
        p = self.succeeds(*self.words(file, "--step-rows", "100", "--json", window=("--keep", "10")))
        self.assertEqual(json.loads(p.stdout)["unused"], 3 * 90)
        self.assertEqual(p.stderr.count("step 0: 90 of its 100 rows leave at once"), 1, p.stderr)
        p = self.succeeds(*self.words(file, "--json", window=("--window", "2"), out="aged"))  # one step
        said = json.loads(p.stdout)
        self.assertEqual(said["rows"], said["late"] + said["unused"] + said["points"])
        self.assertGreater(said["unused"], 100)
        self.assertIn("the step is larger than the window", p.stderr)

    def test_the_memory_holds_also_for_the_rows_of_a_step(self):
        file = self.write("a.csv", as_csv(stream(60_000, 4)))
        words = self.words(file, "--keep", "100", window=())
        self.fails(4, ["a.csv: line", "the rows since the last step take", "--step-rows", "--memory"], *words,
                   "--memory", "3M")
        self.assertEqual(self.json(*words, "--memory", "64M")["points"], 100)
        self.fails(4, ["the memory budget of 3.0 MiB"], *self.words(file, "--step-rows", "5000", "--memory", "3M",
                                                            window=("--keep", "50000"), out="large"))
        self.assertGreater(len({r["step"] for r in self.catalog("large")}), 2)
        words = self.words(file, "--step-rows", "5000", window=("--keep", "50000"), out="large")
        self.assertEqual(self.json(*words)["points"], 50_000)

    def test_rows_without_values_can_be_dropped(self):
        file = self.write("a.csv", as_csv(stream(100, 4)) + "1,,2\nnan,1,2\n9,1,2\n")
        said = self.json(*self.words(file, "--on-nan", "drop"))
        self.assertEqual((said["rows"], said["skipped"], said["points"]), (103, 2, 101))
        lines = '{"x": 1, "y": null, "t": 3}\n{"t": 3}\n{"t": 3, "y": -Infinity, "s": "NaN \\" NaN", "x": NaN}\n'
        file = self.write("a.jsonl", lines + '{"t": 3, "y": 1, "z": NaN, "x": 2}\n')
        said = self.json(*self.words(file, "--on-nan", "drop", out="json"))
        self.assertEqual((said["rows"], said["skipped"], said["points"]), (4, 3, 1))
        self.fails(3, ["a.jsonl: line 1: 'y' is NaN, infinite or missing"], *self.words(file, out="error"))

    def test_options(self):
        file = self.write("a.csv", as_csv(stream(100, 4)))
        self.fails(2, ["--columns", "--time", "--window", "--out", "are missing"], "watch", file, "--eps", 1,
                   "--minpts", 2)
        self.fails(2, ["either --window"], *self.words(file, "--keep", "9"))
        self.fails(2, ["either --step or --step-rows"], *self.words(file, "--step", "9", "--step-rows", "9"))
        self.fails(2, ["--window is 'soon'", "24h"], *self.words(file, window=("--window", "soon")))
        self.fails(2, ["--window is '0s'"], *self.words(file, window=("--window", "0s")))
        self.fails(2, ["is a folder: name it alone"], *self.words([file, self.folder]))
        self.fails(2, ["--once is about a folder"], *self.words(file, "--once"))
        self.fails(3, ["nowhere.csv"], *self.words(self.folder / "nowhere.csv"))
        odd = self.write(os.fsdecode(b"\xff.csv"), "t,x,y\n")
        self.fails(3, ["the name is not in UTF-8"], *self.words(odd, out="odd"))
        self.fails(2, ["takes one eps and one minpts"], *self.words(file, eps="1,2"))
        self.assertFalse((self.folder / "out").exists())
        self.fails(3, ["a.csv: line 1: the header has no column 'z'; it has 't', 'x', 'y'"],
                   *self.words(file, columns="x,z", out="z"))

    def test_a_folder_of_other_options_or_another_command_is_refused(self):
        file = self.write("a.csv", as_csv(stream(100, 4)))
        self.succeeds(*self.words(file))
        before = self.outputs()
        for more, parts in {("--step", "3"): ["--step is 3, and was not given"],
                            ("--on-nan", "drop"): ["--on-nan is drop"],
                            ("--all-events",): ["--all-events is given"]}.items():
            self.fails(2, [*parts, "in the run that began"], *self.words(file, *more))
        self.fails(2, ["--window is 41, and was 40"], *self.words(file, window=("--window", "41")))
        self.fails(2, ["file 1 of the earlier run was"], *self.words(self.write("b.csv", as_csv(stream(9, 4)))))
        self.fails(2, ["the input is standard input, and was files"], *self.words("-", "--step", "3"), input="")
        self.assertEqual(self.outputs(), before)
        self.succeeds("sweep", file, "--columns", "x,y", "--eps", "1", "--minpts", "2", "--out", self.folder / "sweep")
        self.fails(2, ["and no snapshot of epsflow watch"], *self.words(file, out="sweep"))

    def test_another_input_and_damage_are_found(self):
        text = as_csv(stream(200, 4))
        words = self.words("-", "--step-rows", "50")
        self.succeeds(*words, input=text)
        self.fails(3, ["standard input: its first", "are not those"], *words, input=text.replace("1", "2", 1))
        self.fails(3, ["standard input: its first"], *words, input=text[:100])
        self.assertEqual(self.json(*words, input=text)["steps"], 4)
        snapshot = self.folder / "out" / "snapshot.bin"
        data = snapshot.read_bytes()
        for damaged in (data[:-1], data[:400] + b"x" + data[401:], b"", b"other"):
            snapshot.write_bytes(damaged)
            self.fails(3, ["snapshot.bin cannot be used"], *words, input=text)
        snapshot.unlink()
        snapshot.symlink_to("elsewhere")
        self.fails(4, ["cannot read", "snapshot.bin"], *words, input=text)
        snapshot.unlink()
        snapshot.write_bytes(data)
        (self.folder / "out" / "catalog.csv").write_text("")
        self.fails(3, ["catalog.csv is shorter"], *words, input=text)


if __name__ == "__main__":
    unittest.main()
