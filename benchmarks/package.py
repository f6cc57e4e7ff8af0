#!/usr/bin/env python3
"""Measures the Python package as notebooks use it. Prints Markdown tables."""

from __future__ import annotations

import io
import json
import os
import resource
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

import numpy as np

from bench import BENCH, clumps, in_process, main, output, table, timed

import epsflow


def overhead(bench=BENCH):
    """fit of few points, arrays checked and attributes made, and the same load and run in C++ (`bench sweep`)."""
    row = table("points", "backend", "fit in Python", "C++, load and run", "more")
    for n in (1000, 10000):
        points = clumps(n, 2)
        for backend in sorted(epsflow.backends()):
            with tempfile.TemporaryDirectory() as folder:
                file = os.path.join(folder, "points.npy")
                np.save(file, points)
                model = epsflow.DBSCAN(eps=1.0, min_samples=5, backend=backend)
                in_cpp, in_python = [], []
                for _ in range(5):  # the two take turns
                    in_cpp += output([bench, "sweep", file, "1", "5", "--repeat", "101", "--share", "engine",
                                      "--backend", backend])["seconds"][1:]
                    in_python += [timed(lambda: model.fit(points))[1] for _ in range(101)][1:]
            python, cpp = 1e3 * median(in_python), 1e3 * median(in_cpp)
            row(f"{n:,}", backend, f"{python:.3f} ms", f"{cpp:.3f} ms", f"{python - cpp:.3f} ms")


def held_bytes(backend, order):
    """Returns the bytes of the points, of what loading adds, of the peak of the run beside that, and of the labels."""
    def now_bytes():
        return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

    engine = epsflow.Engine(backend=backend)
    engine.load(np.zeros((1000, 2))).sweep(eps=1.0, min_samples=5)  # a warm-up
    points = np.asarray(np.random.default_rng(0).uniform(0, 1000, (15_000_000, 2)), order=order)
    # The array in the original order has been freed by now.
    before = now_bytes()
    data = engine.load(points)
    loaded = now_bytes()
    result = data.sweep(eps=0.2, min_samples=4)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return points.nbytes, loaded - before, peak - before, result[0].labels.nbytes


def memory():
    """Growth of the process with 15 million points."""
    row = table("backend", "order of X", "bytes of X", "grown by loading", "peak of the run over that before loading",
                "labels")
    for backend in sorted(epsflow.backends()):
        for order in ("C", "F"):
            row(backend, order, *(f"{b / 1e6:,.0f} MB" for b in in_process(held_bytes, backend, order)))


def bus():
    """Bytes that a PyTorch profiler counts between host and GPU while a tensor is clustered."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    points = torch.from_numpy(clumps(10_000_000, 2).astype(np.float32)).cuda()
    torch.cuda.synchronize()
    row = table("output", "crossing to the GPU", "crossing to the host", "on the GPU, copied", "labels")
    expected = None
    for kind in ("torch", "numpy"):
        epsflow.sweep(points, eps=0.05, min_samples=10, output=kind)  # a warm-up
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as trace:
            result = epsflow.sweep(points, eps=0.05, min_samples=10, output=kind)
            torch.cuda.synchronize()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "trace.json")
            trace.export_chrome_trace(str(file))
            events = json.loads(file.read_text())["traceEvents"]
        kernels = sum(event.get("cat") == "kernel" for event in events)
        assert kernels > 0, "the profiler saw no kernel"
        copies = [event for event in events if event.get("cat") == "gpu_memcpy"]
        crossed = [[event["args"]["bytes"] for event in copies if way in event["name"]]
                   for way in ("HtoD", "DtoH", "DtoD")]
        labels = result[0].labels
        labels = labels.cpu().numpy() if kind == "torch" else labels
        expected = labels if expected is None else expected
        assert np.array_equal(labels, expected)
        row(kind, *(f"{sum(sizes):,} bytes in {len(sizes)}" for sizes in crossed),
            f"{labels.nbytes:,} bytes, {labels.max() + 1} clusters ({kernels} kernels)")


def pictures(points=15_000_000, repeat=5, threads=0):
    """The maps of epsflow.plot.clusters, from points and labels to a PNG in memory.

    Labels come from DBSCAN with two eps, one with many small clusters and one with few. CPU seconds are the sum over
    all threads, and hardly depend on the load of the machine. The import of matplotlib and the first picture, which
    loads fonts, are not counted. threads: cores that the process may use, if not 0.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    if threads:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    row = table("points", "kind", "eps", "clusters", "noise", "median s", "least s", "CPU s")
    flat = clumps(points, 2, count=1000, spread=0.6)
    sphere = (flat - 50) * [3.4, 1.65]
    deep = clumps(points, 3, count=1000, spread=0.6)
    spacing = 100 / np.sqrt(points)
    near = epsflow.sweep(flat, eps=[0.9 * spacing, 2 * spacing], min_samples=10)
    solid = epsflow.sweep(deep, eps=[0.5 * 100 / points ** (1 / 3)], min_samples=10)
    for X, variant, kind, options in (
        *((flat, variant, "plane", {}) for variant in near),
        (sphere, near[1], "geographic", {"kind": "geographic"}),
        (sphere, near[1], "sky", {"columns": ["ra", "dec"]}),
        (deep, solid[0], "planes", {}),
        (deep, solid[0], "principal", {"kind": "principal"}),
    ):
        def draw():
            drawn = epsflow.plot.clusters(X, variant, **options)
            getattr(drawn, "figure", drawn).savefig(io.BytesIO(), format="png")

        taken = []
        for _ in range(repeat + 1):
            taken.append(timed(draw)[1:])
            pyplot.close("all")
        walls, cpu = zip(*taken[1:])
        row(f"{len(X):,}", kind, f"{variant.eps:.3g}", f"{variant.n_clusters:,}",
            f"{100 * variant.n_noise / len(X):.0f} %", f"{median(walls):.2f}", f"{min(walls):.2f}", f"{min(cpu):.2f}")


N = 3000
NOISE = (0.2, 0.3, 0.4, 0.5, 0.6)


def in_space(random, dims, noise):
    clusters = int(random.integers(3, 9))
    alone = int(N * noise)
    centres = random.uniform(0, 10, (clusters, dims))
    widths = random.uniform(0.15, 0.5, clusters)
    truth = random.integers(0, clusters, N - alone)
    near = centres[truth] + random.normal(0, 1, (N - alone, dims)) * widths[truth, None]
    return np.vstack([near, random.uniform(-1, 11, (alone, dims))]), np.r_[truth, np.full(alone, -1)]


def on_sphere(random, clusters, noise):
    """Returns longitudes and latitudes, in degrees, and the true labels."""
    alone = int(N * noise)
    centres = np.c_[random.uniform(-170, 170, clusters), random.uniform(-60, 60, clusters)]
    truth = random.integers(0, clusters, N - alone)
    near = centres[truth] + random.normal(0, 0.3, (N - alone, 2))
    away = np.c_[random.uniform(-180, 180, alone), np.degrees(np.arcsin(random.uniform(-1, 1, alone)))]
    return np.vstack([near, away]), np.r_[truth, np.full(alone, -1)]


def sets_in_noise(seed):
    for k in range(6):
        random = np.random.default_rng(seed + 100 + k)
        for noise in NOISE:
            yield f"{2 + k % 2}-D", *in_space(random, 2 + k % 2, noise), {}
    for k in range(6):
        random = np.random.default_rng(seed + 200 + k)
        for noise in NOISE:
            yield "sphere", *on_sphere(random, 3 + k % 3, noise), {"metric": "greatcircle"}


def choose_in_noise(seed=0):
    """The recommendations of epsflow.explore() for 60 sets of 3,000 points with noise. Needs scikit-learn.

    They are in the plane, in space and on the sphere, with three to eight clusters and 20 to 60 % of uniform noise.
    Prints for each kind the mean adjusted Rand index of the recommended labels, and of the best of all offers, over the
    points that belong to a cluster in truth. A set without a recommendation counts 0. with the noise: the mean index of
    all recommendations over all points, with noise as one more class; sets without a recommendation are left out.
    """
    from sklearn.metrics import adjusted_rand_score

    scores, with_noise = defaultdict(list), []
    for kind, X, truth, metric in sets_in_noise(seed):
        explored = epsflow.explore(X, **metric)
        offers = [o for o in (explored.recommended, *explored.alternatives) if o is not None]
        near = truth >= 0
        found = [adjusted_rand_score(truth[near], o.labels[near]) for o in offers] or [0.0]
        scores[kind].append((found[0], max(found)))
        if offers:
            with_noise.append(adjusted_rand_score(truth, offers[0].labels))
    row = table("kind", "sets", "recommended", "best of offers", "with the noise")
    for kind, of_kind in scores.items():
        row(kind, len(of_kind), *(f"{mean:.3f}" for mean in np.mean(of_kind, axis=0)), "")
    everything = [pair for of_kind in scores.values() for pair in of_kind]
    row("all", len(everything), *(f"{mean:.3f}" for mean in np.mean(everything, axis=0)), f"{np.mean(with_noise):.3f}")


if __name__ == "__main__":
    main(__doc__, overhead, memory, bus, pictures, choose_in_noise)
