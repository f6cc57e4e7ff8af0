#!/usr/bin/env python3
"""Tests the page of a report in a browser: its contents, clicks and keys, that it loads nothing, and accessibility.

Needs Chromium with its driver, selenium and axe (scripts/test_report.sh installs these). EPSFLOW_BINARY is the program.
"""
import csv
import json
import os
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import axe_selenium_python
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

AXE = next(Path(axe_selenium_python.__file__).parent.rglob("axe.min.js")).read_text()
DATA = Path(os.environ.get("EPSFLOW_TEST_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))


def epsflow(*words):
    subprocess.run([os.environ["EPSFLOW_BINARY"], *map(str, words), "--quiet"], check=True, timeout=600)


def browser(downloads):
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,1000"):
        options.add_argument(argument)
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver")))


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.driver = browser(cls.folder)
        cls.addClassCleanup(cls.driver.quit)

    def open(self, page):
        self.driver.get_log("performance")
        self.driver.get(page.as_uri())
        self.page = page

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def heading(self, side=0):
        return self.one(f"#cell-{side}").text

    def of_cells(self, what):
        return self.driver.execute_script(
            f"return [...document.querySelectorAll('[role=gridcell].cell')].map((c) => c.{what})")

    def painted(self):
        """Returns the pixels of the map as text."""
        return self.driver.execute_script("return document.querySelector('.map canvas').toDataURL()")

    def check_alone(self):
        """Checks that no error was logged and that only the page itself was loaded."""
        self.assertEqual(self.driver.get_log("browser"), [])
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = {e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"}
        self.assertEqual({url for url in asked if not url.startswith(("data:", "blob:"))}, {self.page.as_uri()})

    def check_readable(self):
        """Checks the page with axe at all widths, light and dark."""
        for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light")):
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                        {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            self.driver.execute_script(AXE)
            found = self.driver.execute_async_script("axe.run().then(arguments[0])")
            self.assertEqual([(v["id"], v["nodes"][0]["html"][:200]) for v in found["violations"]], [], (width, scheme))
            self.assertGreater(len(found["passes"]), 15)
            wide = self.driver.execute_script("return document.documentElement.scrollWidth - "
                                              "document.documentElement.clientWidth")
            self.assertLessEqual(wide, 0, f"the page is wider than {width}")
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def check(self, page):
        self.open(page)
        data = json.loads(self.driver.execute_script("return document.getElementById('data').textContent"))
        cells = [c for c in data["cells"] if data["min_cluster_size"] or c["eps"] is not None]
        self.assertEqual(len(self.of_cells("ariaLabel")), len(cells))
        self.assertGreater(len(set(self.of_cells("style.background"))), 1)
        if data["advice"] and data["advice"]["recommended"]:
            self.assertRegex(self.one("#advice .answer strong").text, r"^★ Take an eps for each cluster, minpts \d+")
            self.assertTrue(self.heading().startswith("★"))
            self.assertEqual(self.of_cells("textContent").count("★"), 1)
            self.assertEqual(len(self.all("#advice .doubts li")), len(data["advice"]["doubts"]))
        # A click shows another cell.
        heading, map_before = self.heading(), self.painted()
        others = [c for c in cells if self.name_of(data, c) not in heading]
        most = max(others, key=lambda c: c["clusters"])
        target = self.one(f".cell[aria-label^='{self.name_of(data, most)}:']")
        target.click()
        self.assertNotEqual(self.heading(), heading)
        self.assertIn(self.name_of(data, most), self.heading())
        self.assertNotEqual(self.painted(), map_before)
        self.assertEqual(target.get_attribute("aria-selected"), "true")
        self.assertEqual(len(self.all(".panel .table tbody tr")), len(most["rows"]))
        # An arrow key does so too.
        heading = self.heading()
        across = "min_cluster_size" if data["min_cluster_size"] else "eps"
        target.send_keys(Keys.ARROW_RIGHT if most[across] < data[across][-1] else Keys.ARROW_LEFT)
        self.assertNotEqual(self.heading(), heading)
        self.assertEqual(self.driver.switch_to.active_element.get_attribute("aria-selected"), "true")
        # The cells show another quantity.
        before = self.of_cells("style.background")
        Select(self.one("#quantity")).select_by_value("noise")
        self.assertNotEqual(self.of_cells("style.background"), before)
        # Two cells are shown side by side.
        self.one("#compare").click()
        self.assertEqual(len(self.all(".panel")), 2)
        first = self.heading()
        target.click()
        self.assertEqual(self.heading(), first)
        self.assertIn(self.name_of(data, most), self.heading(1))
        self.check_readable()
        self.one("#compare").click()
        self.check_readable()
        self.check_alone()

    @staticmethod
    def name_of(data, cell):
        """Returns the page's name of a cell."""
        if data["min_cluster_size"]:
            return f"min_cluster_size {cell['min_cluster_size']}, minpts {cell['minpts']}"
        eps = float(f"{cell['eps']:.4g}")
        return f"eps {eps:.15g}{' ' + data['eps_unit'] if data['eps_unit'] else ''}, minpts {cell['minpts']}"

    def test_of_an_exploration(self):
        points = self.folder / "galaxies.csv"
        epsflow("generate", "blobs", "--n", 3000, "--out", points)
        page = self.folder / "explored.html"
        epsflow("explore", points, "--report", page)
        self.check(page)
        self.assertIn("★", self.of_cells("textContent"))

    def test_of_hierarchies(self):
        points, page = self.folder / "clumps.csv", self.folder / "trees.html"
        epsflow("generate", "blobs", "--n", 3000, "--out", points)
        words = ("--minpts", "4,8", "--min-cluster-size", "5,10,40", "--report", page)
        epsflow("hdbscan", points, *words, "--out", self.folder / "trees")
        self.check(page)
        # A cluster that is pointed at in the tree leaves the others grey on the map, and one on the map gets a frame.
        before = self.painted()
        to = webdriver.ActionChains(self.driver)
        to.move_to_element(self.all("polygon.selected")[-1]).perform()
        self.assertNotEqual(self.painted(), before)
        to.move_to_element(self.one("#title")).perform()
        self.assertEqual(self.painted(), before)
        self.assertEqual(self.all("polygon.lit"), [])
        found = self.driver.execute_script("""
            const canvas = document.querySelector(".map canvas");
            const box = canvas.getBoundingClientRect();
            for (let y = 1; y < box.height; ++y) for (let x = 1; x < box.width; ++x) {
              canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + x, clientY: box.top + y }));
              if (document.querySelector("polygon.lit")) return true;
            }""")
        self.assertTrue(found)

    def test_large_numbers_that_hardly_differ(self):
        points = self.folder / "times.csv"
        points.write_text("ns,one\n" + "".join(f"{1700000000000000000 + 256 * (i % 3)},3e15\n" for i in range(30)))
        page = self.folder / "times.html"
        epsflow("sweep", points, "--eps", "100,300", "--minpts", "2,4", "--out", self.folder / "times",
                "--report", page)
        self.open(page)
        self.assertEqual(len(self.of_cells("ariaLabel")), 4)
        self.check_alone()

    def test_three_dimensions_and_data_to_take_away(self):
        points = self.folder / "</script>&\".csv".replace("/", "")
        epsflow("generate", "galaxies", "--n", 2000, "--out", self.folder / "g.csv")
        (self.folder / "g.csv").rename(points)
        page = self.folder / "swept.html"
        epsflow("sweep", points, "--eps", "5,10,20,40", "--minpts", "3,6,12", "--out", self.folder / "swept",
                "--report", page)
        self.check(page)
        self.assertEqual(self.one("h1").text, points.name)
        planes = self.all(".map fieldset input")
        self.assertEqual(len(planes), 3)
        before = self.painted()
        planes[2].click()
        self.assertNotEqual(self.painted(), before)
        cell = self.heading()
        for button in self.all("#legend button, .panel button"):
            button.click()
        wanted = {"grid.csv", *(f"{name}_eps_{cell.split()[1].rstrip(',')}_minpts_{cell.split()[-1]}.csv"
                                for name in ("map", "sizes", "persistence", "clusters"))}
        until = time.monotonic() + 20
        while time.monotonic() < until and not all((self.folder / name).exists() for name in wanted):
            time.sleep(0.1)
        for name in wanted:
            with open(self.folder / name, newline="") as file:
                rows = list(csv.reader(file))
            self.assertGreater(len(rows), 1, name)
            self.assertEqual({len(row) for row in rows}, {len(rows[0])}, name)
        with open(self.folder / "grid.csv", newline="") as file:
            self.assertEqual(len(list(csv.DictReader(file))), 12)

    def test_of_principal_components_and_one_dimension(self):
        for dims, more in ((8, ()), (1, ("--columns", "0"))):
            points = self.folder / f"d{dims}.csv"
            epsflow("generate", "exponential", "--dims", 8, "--n", 2000, "--out", points)
            page = self.folder / f"d{dims}.html"
            epsflow("sweep", points, *more, "--eps", "0.001,0.01,0.02,0.04", "--minpts", "3,6",
                    "--out", self.folder / f"s{dims}", "--report", page)
            self.check(page)

    def watch(self, name, middles, *more):
        """Watches blobs at the positions (step, x, y), a step every 10 seconds, and returns the page."""
        points, out = self.folder / f"{name}.csv", self.folder / name
        points.write_text("t,x,y\n" + "".join(f"{10 * step + i / 20},{x + i % 12 / 12},{y + i // 12 / 12}\n"
                                              for step, x, y in sorted(middles) for i in range(144)))
        epsflow("watch", points, "--columns", "x,y", "--time", "t", "--eps", "0.1", "--minpts", "4", "--window", "15",
                "--step", "10", "--out", out, "--page", *more)
        return out / "window.html"

    def drawn_lives(self):
        """Returns the colour of each id in the strip of a window."""
        return dict(self.driver.execute_script("return [...document.querySelectorAll('#strip .life')]"
                                               ".map((life) => [life.dataset.id, getComputedStyle(life).fill])"))

    def test_of_a_window(self):
        page = self.watch("meets", [(s, 5 - abs(s - 5), 0) for s in range(12)] + [(s, 0, 0) for s in range(20)] +
                          [(s, s / 2 - 6, 3) for s in range(9)] + [(s, 9, k) for s in (3, 4, 15) for k in (0, 2, 4)])
        self.open(page)
        data = json.loads(self.driver.execute_script("return document.getElementById('data').textContent"))
        self.assertEqual({event[1] for event in data["events"]}, {"born", "merged", "split", "ended"})
        colours = self.drawn_lives()
        self.assertEqual({int(id_) for id_ in colours}, {life[0] for life in data["lives"]})
        self.assertEqual(len(set(colours.values())), len(colours))
        self.assertEqual(len(self.all("#rows tr")), data["clusters"])
        self.assertEqual(len(self.all("#strip .join")),
                         sum(len(set(before) ^ set(after)) for _, kind, before, after in data["events"]
                             if kind in ("merged", "split")))
        self.assertRegex(self.one("#now").text, r"Last step: .* \(step 19\)\. \d+ points in the window, \d+ clusters?;")
        self.assertEqual(self.all("#pause button"), [])
        self.assertGreater(len(self.all("#changes li")), 3)
        self.check_readable()
        self.check_alone()
        # The same ids have the same colours in another window.
        self.open(self.watch("others", [(s, 3 * k, 0) for s in range(3) for k in range(4 + s)]))
        others = self.drawn_lives()
        self.assertEqual({id_: colours[id_] for id_ in others if id_ in colours},
                         {id_: others[id_] for id_ in others if id_ in colours})
        self.assertGreater(len(set(others) & set(colours)), 4)
        self.check_alone()

    def test_a_window_that_runs_reloads_itself_until_it_is_stopped(self):
        page = self.watch("runs", [(0, 0, 0), (1, 0, 0)])
        text = page.read_text()
        page.write_text(text.replace('"running":false', '"running":true'))
        self.open(page)
        self.driver.execute_script("window.before = true")
        self.assertEqual(len(self.all("#pause button")), 1)
        until = time.monotonic() + 20
        while time.monotonic() < until and self.driver.execute_script("return window.before"):
            time.sleep(0.1)
        self.assertIsNone(self.driver.execute_script("return window.before"))
        self.one("#pause button").click()
        self.driver.execute_script("window.before = true")
        time.sleep(4)
        self.assertTrue(self.driver.execute_script("return window.before"))
        self.assertEqual(self.driver.get_log("browser"), [])

    def real(self, name, *words):
        if not (DATA / name).exists():
            self.skipTest(f"{DATA / name} is not there")
        page = self.folder / f"{name}.html"
        epsflow(*(word if word != "FILE" else DATA / name for word in words), "--report", page)
        self.assertLessEqual(page.stat().st_size, 8 << 20)
        self.check(page)

    def test_of_real_galaxies(self):
        self.real("sdss_dr7_galaxies.fits", "sweep", "FILE", "--columns", "ra,dec", "--metric", "greatcircle",
                  "--eps", "0.05:1:8:log", "--minpts", "4,8,16,32,64,128,256,512", "--out", self.folder / "sdss")

    def test_of_a_real_day_of_tec(self):
        self.real("tec_2024010.csv", "explore", "FILE", "--columns", "ipp_lon_deg,ipp_lat_deg",
                  "--metric", "greatcircle", "--eps", "0.05:5:12:log", "--minpts", "5,10,20,40")


if __name__ == "__main__":
    unittest.main(verbosity=2)
