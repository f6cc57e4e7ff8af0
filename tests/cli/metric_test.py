"""Tests metrics of the program: columns by name, units of eps, and results that differ in their metrics."""
import math
import random
import unittest

from support import ProgramTest, fits_table, npy_labels, summary


def vector(longitude, latitude):
    lam, phi = math.radians(longitude), math.radians(latitude)
    return math.cos(phi) * math.cos(lam), math.cos(phi) * math.sin(lam), math.sin(phi)


def degrees_between(a, b):
    """Uses the cross product, which is accurate for small and for large angles."""
    u, v = vector(*a), vector(*b)
    cross = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    return math.degrees(math.atan2(math.hypot(*cross), sum(x * y for x, y in zip(u, v))))


def dbscan(distance, n, eps, minpts):
    """Returns labels by the definition: clusters by their first core point, border points in the lowest cluster."""
    near = [[j for j in range(n) if i == j or distance(i, j) <= eps] for i in range(n)]
    labels, clusters = [-1] * n, 0
    for i in range(n):
        if len(near[i]) < minpts or labels[i] >= 0:
            continue
        labels[i], grow = clusters, [i]
        while grow:
            for j in near[grow.pop()]:
                if len(near[j]) >= minpts and labels[j] < 0:
                    labels[j] = clusters
                    grow.append(j)
        clusters += 1
    for i in range(n):
        if len(near[i]) < minpts:
            labels[i] = min((labels[j] for j in near[i] if len(near[j]) >= minpts), default=-1)
    return tuple(labels)


class Metrics(ProgramTest):
    def setUp(self):
        super().setUp()
        source = random.Random(3)
        self.sky = []
        for i in range(150):
            centre = [(179.5, 10), (0, 89.5), (40, -89), (-3, 0), (180, 0)][i % 5]
            longitude = centre[0] + source.gauss(0, 1 if abs(centre[1]) < 80 else 120)
            self.sky.append((((longitude + 180) % 360) - 180, max(-90, min(90, centre[1] + source.gauss(0, 0.8)))))
        self.variant = ["--eps", 0.9, "--minpts", 4]

    def expected(self):
        """Returns the labels of the variant by the definition."""
        return dbscan(lambda i, j: degrees_between(self.sky[i], self.sky[j]), len(self.sky), 0.9, 4)

    def table(self, name, header, row):
        return self.write_rows(name, ",".join(header), [row(*p) for p in self.sky])

    def labels(self, points, *words):
        return self.labels_of("cluster", points, "--metric", "greatcircle", *self.variant, "--verify", *words)

    def test_great_circles_by_names_of_columns(self):
        expected = self.expected()
        self.assertGreater(max(expected), 1)
        self.assertIn(-1, expected)
        for name, header, row in (("e.csv", ["u", "v"], lambda a, b: (a, b)),
                                  ("j.csv", ["name", "dec", "kind", "ra"], lambda a, b: ("M 31", b, "galaxy", a))):
            with self.subTest(header):
                self.assertEqual(self.labels(self.table(name, header, row)), expected)
        by_hand = self.table("f.csv", ["v", "x", "u"], lambda a, b: (b, 0, a))
        self.assertEqual(self.labels(by_hand, "--columns", "u,v"), expected)
        chosen = self.table("k.csv", ["ra", "dec", "b", "l"], lambda a, b: (0, 0, b, a))
        for columns in ("l,b", "b,l", "2,3"):
            self.assertEqual(self.labels(chosen, "--columns", columns), expected)

    def test_names_that_contradict_each_other(self):
        points = self.table("n.csv", ["dec", "lon"], lambda a, b: (b, a))
        self.fails(2, ["'dec', 'lon'", "--columns", "--latitude-first"], "cluster", points, "--metric", "greatcircle",
                   *self.variant)
        for words in ([], ["--columns", "dec,lon"]):
            self.assertEqual(self.labels(points, "--latitude-first", *words), self.expected())
        several = self.table("s.csv", ["ra", "dec", "l", "b"], lambda a, b: (a, b, 0, 0))
        for words, named in (([], "'ra', 'dec', 'l', 'b'"), (["--columns", "dec,l"], "'dec', 'l'")):
            self.fails(2, [named, "--columns"], "cluster", several, "--metric", "greatcircle", *words, *self.variant)
        self.fails(2, ["--latitude-first", "greatcircle"], "cluster", several, "--latitude-first", *self.variant)

    def test_a_unit_in_a_name_that_is_not_the_metrics(self):
        words = [*self.variant, "--metric"]
        radians = self.table("r.csv", ["lat_rad", "id", "lon_rad"], lambda a, b: (math.radians(b), 7, math.radians(a)))
        parts = ["'lon_rad'", "are in radians", "greatcircle takes degrees", "--metric haversine", "rename"]
        for more in ([], ["--columns", "0,2", "--latitude-first"]):
            self.fails(2, parts, "cluster", radians, *words, "greatcircle", *more)
        self.succeeds("cluster", radians, *words, "haversine")

    def test_an_eps_as_large_as_the_field_is_doubted(self):
        points = self.write_rows("p.csv", "dec,ra", [(20 + 8 * i / 99, 100 + 10 * i / 99) for i in range(100)])
        run = ["cluster", points, "--metric", "greatcircle", "--minpts", 4, "--eps"]
        self.assertNotIn("field", self.succeeds(*run, 9.9).stderr)
        self.assertNotIn("field", self.succeeds(*run, 30, "--quiet").stderr)
        said = self.succeeds(*run, 0.3, "--unit", "rad").stderr
        for part in ("--eps 0.3 is taken in rad", "17.2 degrees", "10 degrees of longitude and 8 of latitude",
                     "write --unit deg or --unit arcmin"):
            self.assertIn(part, said)
        sweep = ["sweep", points, "--metric", "greatcircle", "--out", self.out]
        self.assertIn("--eps 20 is taken in deg", self.succeeds(*sweep, "--variants", "30:4,20:4").stderr)
        self.assertNotIn("field", self.succeeds(*sweep, "--eps", "1,30", "--minpts", 4, "--overwrite").stderr)

    def test_what_names_do_not_tell_is_said(self):
        unnamed = self.table("e.csv", ["u", "v"], lambda a, b: (a, b))
        p = self.succeeds("cluster", unnamed, "--metric", "greatcircle", "--eps", 1, "--minpts", 4)
        self.assertIn("first is taken for longitude", p.stderr)
        radians = self.table("r.csv", ["u", "v"], lambda a, b: (math.radians(b), math.radians(a)))
        haversine = ["cluster", radians, "--metric", "haversine", "--eps", 0.01, "--minpts", 4]
        self.assertIn("first is taken for latitude, the second for longitude", self.succeeds(*haversine).stderr)
        for word in ("--quiet", "--latitude-first"):
            self.assertNotIn("is taken for", self.succeeds(*haversine, word).stderr)
        named = self.write_rows("a.csv", "ra,dec", self.sky)
        p = self.succeeds("cluster", named, "--metric", "greatcircle", "--eps", 1, "--minpts", 4)
        self.assertNotIn("longitude", p.stderr)

    def test_haversine_of_radians(self):
        expected = self.expected()
        points = self.table("r.csv", ["lat", "lon"], lambda a, b: (math.radians(b), math.radians(a)))
        words = ["--metric", "haversine", "--eps", math.radians(0.9), "--minpts", 4]
        swapped = self.table("s.csv", ["ra", "dec"], lambda a, b: (math.radians(a), math.radians(b)))
        for file, columns in ((points, "lat,lon"), (points, "lon,lat"), (swapped, "ra,dec")):
            self.assertEqual(self.labels_of("cluster", file, "--columns", columns, *words), expected)

        # The option overrides the names.
        misnamed = self.table("m.csv", ["lon", "lat"], lambda a, b: (math.radians(b), math.radians(a)))
        self.assertEqual(self.labels_of("cluster", misnamed, *words, "--latitude-first"), expected)
        self.fails(3, ["latitude", "beyond"], "cluster", misnamed, *words)

    def test_scale_and_cosine(self):
        points = self.write("p.csv", "x,t\n0,0\n1,100\n2,200\n0,5000\n")
        self.assertEqual(self.labels_of("cluster", points, "--scale", "1,0.01", "--eps", 1.5, "--minpts", 2),
                         (0, 0, 0, -1))
        vectors = self.write("v.csv", "x,y\n1,0\n1000,1\n0,2\n0.001,3\n-1,-1\n")
        self.assertEqual(self.labels_of("cluster", vectors, "--metric", "cosine", "--eps", 0.01, "--minpts", 2),
                         (0, 0, 1, 1, -1))

    def test_norms_and_periodic_boxes(self):
        points = self.write("p.csv", "x,y\n0,0\n3,4\n20,0\n29,1\n")
        for words, labels in (
            (["--eps", 5], (0, 0, -1, -1)),
            (["--eps", 6.9, "--metric", "manhattan"], (-1, -1, -1, -1)),
            (["--eps", 7, "--metric", "l1"], (0, 0, -1, -1)),
            (["--eps", 6.9, "--metric", "cityblock"], (-1, -1, -1, -1)),
            (["--eps", 5, "--metric", "l2"], (0, 0, -1, -1)),
            (["--eps", 4, "--metric", "chebyshev"], (0, 0, -1, -1)),
            (["--eps", 4.5, "--metric", "minkowski", "--p", 3], (0, 0, -1, -1)),
            (["--eps", 4, "--metric", "minkowski", "--p", "inf"], (0, 0, -1, -1)),
            (["--eps", 1.5, "--box", "30,-"], (0, -1, -1, 0)),
            (["--eps", 1.5, "--box", "0:30,-10:10"], (0, -1, -1, 0)),
            (["--eps", 1.5, "--box", "30"], (0, -1, -1, 0)),
            (["--eps", 2, "--box", "30", "--metric", "manhattan"], (0, -1, -1, 0)),
            (["--eps", 3, "--box", "30", "--scale", "2,2"], (0, -1, -1, 0)),
        ):
            self.assertEqual(self.labels_of("cluster", points, *words, "--minpts", 2, "--verify"), labels, words)

    def test_every_command_takes_a_metric(self):
        points = self.write_rows("a.csv", "ra,dec", self.sky)
        metric = ["--metric", "greatcircle", "--unit", "km"]
        pairs = sum(degrees_between(a, b) <= math.degrees(100 / 6371.0088) or a == b
                    for a in self.sky for b in self.sky)
        self.assertEqual(self.json("neighbors", points, "--eps", 100, *metric)["pairs"], pairs)
        plan = self.json("plan", points, "--eps", "50,100", "--minpts", 4, *metric)
        self.assertEqual(sorted(g["eps"] for g in plan["groups"]), [50, 100])

    def test_results_of_two_metrics_do_not_mix(self):
        points = self.write_rows("a.csv", "ra,dec", self.sky)
        sweep = ["sweep", points, "--minpts", 4, "--out", self.out, "--resume"]
        self.succeeds(*sweep, "--eps", 1, "--metric", "greatcircle")
        self.succeeds(*sweep, "--eps", 2, "--metric", "greatcircle")
        self.assertEqual(len(summary(self.out)), 2)
        for words, metric in (([], "euclidean"),
                              (["--metric", "greatcircle", "--unit", "km"], "greatcircle, eps in km")):
            p = self.fails(3, ["another metric", f"greatcircle, eps in deg, not {metric}", "--overwrite"], *sweep,
                           "--eps", 2, *words)
            self.assertNotIn("{", p.stderr)

    def test_what_has_no_such_metric_is_refused(self):
        points = self.table("a.csv", ["x", "y", "z"], lambda a, b: (a, b, 0))
        tail = ["--eps", 1, "--minpts", 4]
        self.fails(2, ["greatcircle", "two columns", "--columns"], "cluster", points, "--metric", "greatcircle", *tail)
        self.fails(2, ["--unit", "--metric greatcircle"], "cluster", points, "--unit", "km", *tail)
        self.fails(2, ["--scale", "2 factors", "3 columns"], "cluster", points, "--scale", "1,2", *tail)
        self.fails(2, ["--scale", "'x'"], "cluster", points, "--scale", "1,x", *tail)
        self.fails(2, ["--metric", "greatcircle", "haversine"], "cluster", points, "--metric", "canberra", *tail)
        self.fails(2, ["--p", "minkowski"], "cluster", points, "--p", "3", *tail)
        self.fails(2, ["--p", "'x'"], "cluster", points, "--metric", "minkowski", "--p", "x", *tail)
        self.fails(2, ["--box", "''", "no number"], "cluster", points, "--box", "1:", *tail)
        self.fails(2, ["--box", "'0'", "-"], "cluster", points, "--box", "0", *tail)
        self.fails(2, ["--box", "2 sides", "3 columns"], "cluster", points, "--box", "1,2", *tail)
        self.fails(3, ["--box", "0 to 1e+17", "column 1", "fits"], "cluster",
                   self.write("b.csv", "x,y\n1,0.1\n2,50\n"), "--box", "-,1e17", *tail)


# One of each unit in degrees.
DEGREES = {"deg": 1, "degrees": 1, "rad": 180 / math.pi, "arcmin": 1 / 60, "arcsec": 1 / 3600, "hourangle": 15}


class Units(ProgramTest):
    def setUp(self):
        super().setUp()
        source = random.Random(5)
        self.sky = [(source.choice((40, 180, 300)) + source.gauss(0, 2), source.choice((-50, 20)) + source.gauss(0, 1))
                    for _ in range(150)]
        self.greatcircle = ["--metric", "greatcircle", "--eps", 0.7, "--minpts", 4]
        self.haversine = ["--metric", "haversine", "--eps", math.radians(0.7), "--minpts", 4]
        self.expected = dbscan(lambda i, j: degrees_between(self.sky[i], self.sky[j]), len(self.sky), 0.7, 4)
        self.assertGreater(max(self.expected), 3)

    def text(self, name, longitude, latitude, header="ra,dec"):
        rows = "".join(f"{a / DEGREES.get(longitude, 1)!r},{b / DEGREES.get(latitude, 1)!r}\n" for a, b in self.sky)
        return self.write(name, f"{header}\n{longitude},{latitude}\n{rows}")

    def fits(self, name, longitude, latitude):
        path = self.folder / name
        path.write_bytes(fits_table([("DEC", latitude, [b / DEGREES.get(latitude, 1) for _, b in self.sky]),
                                     ("RA", longitude, [a / DEGREES.get(longitude, 1) for a, _ in self.sky])]))
        return path

    def labels(self, *words):
        out = self.folder / "labels.npy"
        p = self.succeeds("cluster", *words, "--out", out, "--overwrite", "--verify")
        return npy_labels(out), p.stderr

    def refused(self, parts, *words):
        self.fails(2, parts, "cluster", *words)

    def test_angles_come_in_the_unit_of_the_metric(self):
        for longitude, latitude in (("deg", "deg"), ("rad", "rad"), ("hourangle", "deg"), ("arcmin", "arcsec"),
                                    ("degrees", "[deg]")):
            for metric, wanted in ((self.greatcircle, "deg"), (self.haversine, "rad")):
                for points in (self.text("u.csv", longitude, latitude), self.fits("u.fits", longitude, latitude)):
                    labels, said = self.labels(points, *metric)
                    self.assertEqual(labels, self.expected, (longitude, latitude, metric))
                    changed = longitude[:3] != wanted
                    self.assertEqual("converted to " + ("degrees" if wanted == "deg" else "radians") in said, changed,
                                     said)
                    self.assertEqual(f"from '{longitude}'" in said, changed, said)
        self.assertNotIn("converted", self.labels(self.text("q.csv", "rad", "rad"), *self.greatcircle, "--quiet")[1])

    def test_a_unit_counts_for_more_than_a_name(self):
        self.assertEqual(self.labels(self.text("n.csv", "deg", "deg", "lon_rad,lat_rad"), *self.greatcircle)[0],
                         self.expected)
        bare = self.write("o.csv", "lon_rad,lat_rad\n1,1\n")
        self.refused(["'lon_rad', 'lat_rad'", "in radians"], bare, *self.greatcircle)

    def test_each_file_has_its_own_unit(self):
        hours = self.text("h.csv", "hourangle", "deg")
        radians = self.text("r.csv", "rad", "rad")
        named = self.write_rows("n.csv", "ra,dec", self.sky)
        labels, _ = self.labels(hours, radians, named, *self.greatcircle[:4], "--minpts", 12)
        self.assertEqual(labels, self.expected * 3)

    def test_angles_that_are_not_known_are_refused(self):
        for unit in ("h", "m", "h:m:s", "deg/s"):
            for points in (self.text("x.csv", f'"{unit}"', "deg"), self.fits("x.fits", unit, "deg")):
                for metric, takes in ((self.greatcircle, "greatcircle"), (self.haversine, "haversine")):
                    self.refused([f"{points.name}: column '{'ra' if points.suffix == '.csv' else 'RA'}' is in '{unit}'",
                                  takes, "hourangle", "convert the column", "--columns"], points, *metric)
        self.refused(["'dec' is in 'hourangle'", "a latitude", "of longitudes alone"],
                     self.text("l.csv", "deg", "hourangle"), *self.greatcircle)
        self.refused(["'ra' is in 'rad'", "'dec' has no unit"], self.text("o.csv", "rad", ""), *self.greatcircle)
        self.assertEqual(self.labels(self.text("p.csv", "deg", ""), *self.greatcircle)[0], self.expected)
        # If the column is not read, its unit does not matter.
        self.succeeds("cluster", self.text("w.csv", "h", "deg"), "--eps", 1, "--minpts", 4, "--columns", "dec")

    def test_norms_tell_of_columns_of_different_units(self):
        table = self.write("m.csv", "x,y,z,n\nm,km,[m],\n0,0,0,1\n1,0,0,1\n900,0,0,1\n0,5,0,1\n")
        words = ["--eps", 2, "--minpts", 2]
        for more in ([], ["--metric", "manhattan"]):
            found, said = self.labels(table, "--columns", "x,y", *more, *words)
            self.assertEqual(found, (0, 0, -1, -1))
            for part in ("m.csv", "different units", "'x' in 'm'", "'y' in 'km'", "--scale", "--columns"):
                self.assertIn(part, said)
        for chosen, labels in ((["--columns", "x,z"], (0, 0, -1, 0)), (["--columns", "x,n"], (0, 0, -1, 0)),
                               (["--columns", "x,y", "--scale", "0.001,1"], (0, 0, 0, -1)),
                               (["--columns", "x,z", "--weight", "y"], None)):
            found, said = self.labels(table, *chosen, *words)
            self.assertNotIn("converted", said)
            self.assertNotIn("different units", said)
            if labels is not None:
                self.assertEqual(found, labels, chosen)
        other = self.write("k.csv", "x,z\nkm,km\n0,0\n")
        for more in ([], ["--scale", "1,1"]):
            self.refused(["m.csv has column 'x' in 'm'", "k.csv has column 'x' in 'km'"], table, other,
                         "--columns", "x,z", *more, *words)
        said = self.labels(self.text("d.csv", "deg", "degrees"), "--eps", 0.1, "--minpts", 4)[1]
        self.assertEqual(said.count("convert"), 0)

    def test_results_are_of_the_converted_points(self):
        sweep = ["sweep", "--out", self.out, "--resume", *self.greatcircle, "--core"]
        self.succeeds(*sweep, self.write("h.csv", "ra,dec\nhourangle,deg\n1,2\n1.01,2\n"))
        # Any unit gives the same points. If the hours are read as degrees, the data set differs.
        self.succeeds(*sweep, self.write("d.csv", "ra,dec\ndeg,deg\n15,2\n15.15,2\n"))
        self.fails(3, [], *sweep, self.write("h.csv", "ra,dec\n1,2\n1.01,2\n"))

    def test_new_points_come_in_the_unit_of_the_clustering(self):
        variant = ["--eps", 0.7, "--minpts", 4, "--results", self.out]
        hours = self.text("h.csv", "hourangle", "deg")
        self.succeeds("sweep", hours, "--out", self.out, *self.greatcircle, "--core")
        for points in (hours, self.text("d.csv", "deg", "deg"), self.fits("r.fits", "rad", "rad")):
            self.assertEqual(self.labels_of("predict", points, *variant), self.expected)
        metres = self.text("m.csv", "m", "m", "x,y")
        self.succeeds("sweep", metres, "--out", self.out, *variant[:4], "--core", "--overwrite")
        self.succeeds("predict", metres, *variant)
        self.fails(2, ["column x is in km, and in"], "predict", self.text("k.csv", "km", "km", "x,y"), *variant)


class Same(ProgramTest):
    def test_results_are_resumed_by_the_same_metric_under_another_name(self):
        points = self.write("p.csv", "x,y\n0,0\n0,1\n5,5\n")
        for first, others in ((["--metric", "manhattan"], [["--metric", "minkowski", "--p", 1]]),
                              (["--metric", "chebyshev"], [["--metric", "minkowski", "--p", "inf"]]),
                              ([], [["--metric", "minkowski"], ["--scale", "1,1"], ["--box", "-,-"]])):
            words = ["sweep", points, "--minpts", 2, "--out", self.out]
            self.succeeds(*words, "--eps", 1, *first, "--overwrite")
            for i, other in enumerate(others):
                self.succeeds(*words, "--eps", 2 + i, *other, "--resume")
        self.fails(3, [], *words, "--eps", 1, "--scale", "1,2", "--resume")


if __name__ == "__main__":
    unittest.main()
