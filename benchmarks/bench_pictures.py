#!/usr/bin/env python3
"""Times the maps of epsflow.plot.clusters, from points and labels to a PNG in memory. Prints a Markdown table.

    bench_pictures.py [--points 15000000] [--repeat 5] [--threads 2]

Points are normal clumps of many sizes over a fifth of uniform noise. Labels come from DBSCAN with two eps, one with
many small clusters and one with few. CPU seconds are the sum over all threads, and hardly depend on the load of the
machine. The import of matplotlib and the first picture, which loads fonts, are not counted.
"""

from __future__ import annotations

import argparse
import io
import os
import statistics
import time

import matplotlib
import numpy as np

import epsflow

matplotlib.use("Agg")


def clumps(n, dims, seed=0):
    random = np.random.default_rng(seed)
    sizes = random.pareto(1.2, 1000) + 0.1
    of = random.choice(1000, size=n, p=sizes / sizes.sum())
    points = random.uniform(0, 100, (1000, dims))[of] + random.normal(scale=0.6, size=(n, dims))
    noise = random.random(n) < 0.2
    points[noise] = random.uniform(0, 100, (int(noise.sum()), dims))
    return points


def seconds_of(points, variant, repeat, **options):
    from matplotlib import pyplot

    taken = []
    for _ in range(repeat + 1):
        start, of_cpu = time.perf_counter(), time.process_time()
        drawn = epsflow.plot.clusters(points, variant, **options)
        getattr(drawn, "figure", drawn).savefig(io.BytesIO(), format="png")
        taken.append((time.perf_counter() - start, time.process_time() - of_cpu))
        pyplot.close("all")
    walls, cpu = zip(*taken[1:])
    return statistics.median(walls), min(walls), min(cpu)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=15_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, help="cores that the process may use")
    given = parser.parse_args()
    if given.threads:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: given.threads])
    print("| points | kind | eps | clusters | noise | median s | least s | CPU s |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- |")
    flat = clumps(given.points, 2)
    sphere = (flat - 50) * [3.4, 1.65]
    deep = clumps(given.points, 3)
    spacing = 100 / np.sqrt(given.points)
    near = epsflow.sweep(flat, eps=[0.9 * spacing, 2 * spacing], min_samples=10)
    solid = epsflow.sweep(deep, eps=[0.5 * 100 / given.points ** (1 / 3)], min_samples=10)
    rows = [(flat, variant, "plane", {}) for variant in near]
    rows += [(sphere, near[1], "geographic", {"kind": "geographic"}),
             (sphere, near[1], "sky", {"columns": ["ra", "dec"]})]
    rows += [(deep, solid[0], "planes", {}), (deep, solid[0], "principal", {"kind": "principal"})]
    for points, variant, kind, options in rows:
        median, least, cpu = seconds_of(points, variant, given.repeat, **options)
        share = 100 * variant.n_noise / len(points)
        print(f"| {len(points):,} | {kind} | {variant.eps:.3g} | {variant.n_clusters:,} | {share:.0f} % "
              f"| {median:.2f} | {least:.2f} | {cpu:.2f} |", flush=True)


if __name__ == "__main__":
    main()
