#!/usr/bin/env python3
"""Times the Python package as notebooks use it, and measures its copies. Prints tables in Markdown.

    bench_python.py table [--sizes 1e4,1e5,1e6] [--dims 2,3,5,10,20] [--limit 120]
    bench_python.py overhead [--bench build/release/bin/bench_sweep]
    bench_python.py memory
    bench_python.py bus

table: seconds of fit, from arrays in memory to labels in memory, for epsflow and, if installed, scikit-learn and
`dbscan`. Every measurement is a fresh process: "first" is its first fit, with the start of threads or GPU, "later" the
median of the other fits; imports are not timed. The labels of scikit-learn are compared one by one, and the counts of
clusters and noise of `dbscan`. limit: seconds after which a peer is stopped. overhead: fit of few points, and the same
call in C++, which bench_sweep times. memory: growth of the process with 15 million points. bus: bytes that a PyTorch
profiler counts between host and GPU while a tensor is clustered.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

MIN_SAMPLES = 10


def clumps(n, dims, seed=0):
    """Returns a hundred normal clumps of many sizes over a fifth of uniform noise."""
    random = np.random.default_rng(seed)
    sizes = random.pareto(1.2, 100) + 0.1
    of = random.choice(100, size=n, p=sizes / sizes.sum())
    points = random.uniform(0, 100, (100, dims))[of] + random.normal(scale=2, size=(n, dims))
    noise = random.random(n) < 0.2
    points[noise] = random.uniform(0, 100, (int(noise.sum()), dims))
    return points


def usual_eps(points):
    """Returns the median distance to the tenth neighbour, for 200 points, in two digits."""
    random = np.random.default_rng(1)
    tenth = []
    for i in random.choice(len(points), 200):
        squares = np.zeros(len(points))
        for k in range(points.shape[1]):
            squares += (points[:, k] - points[i, k]) ** 2
        tenth.append(np.sqrt(np.partition(squares, MIN_SAMPLES)[MIN_SAMPLES]))
    return float(f"{np.median(tenth):.2g}")


def measure_fits(kind, file, eps, labels_file):
    """Prints the seconds of all fits of this process, the first one first, and saves the labels."""
    points = np.load(file)
    if kind.startswith("epsflow"):
        from epsflow import DBSCAN

        more = {"backend": "cpu"} if "CPU" in kind else {}
        fit = lambda: DBSCAN(eps=eps, min_samples=MIN_SAMPLES, **more).fit(points).labels_
    elif kind == "scikit-learn":
        from sklearn.cluster import DBSCAN

        fit = lambda: DBSCAN(eps=eps, min_samples=MIN_SAMPLES, n_jobs=-1).fit(points).labels_
    else:
        from dbscan import DBSCAN

        fit = lambda: DBSCAN(points, eps=eps, min_samples=MIN_SAMPLES)[0]
    seconds = []
    while len(seconds) < 2 or (len(seconds) < 12 and sum(seconds) < 5):
        begin = time.perf_counter()
        labels = fit()
        seconds.append(time.perf_counter() - begin)
        if seconds[0] > 20:
            break
    np.save(labels_file, np.asarray(labels, dtype=np.int32))
    print(json.dumps(seconds))


def in_process(words, limit=None):
    run = subprocess.run([sys.executable, __file__, *words], capture_output=True, text=True, timeout=limit)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip().splitlines()[-1] if run.stderr.strip() else f"exit code {run.returncode}")
    return json.loads(run.stdout.strip().splitlines()[-1])


def brief(seconds):
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def compare(arguments):
    import epsflow

    kinds = ["epsflow"] + (["epsflow, CPU"] if "gpu" in epsflow.backends() else []) + ["scikit-learn", "dbscan"]
    print("| points | dims | eps | clusters, noise |", " | ".join(f"{kind}: first, later" for kind in kinds),
          "| labels |")
    print("| --- " * (5 + len(kinds)) + "|")
    stopped = {}  # a peer that took too long does not get more points
    with tempfile.TemporaryDirectory() as folder:
        for n in (int(float(word)) for word in arguments.sizes.split(",")):
            for dims in (int(word) for word in arguments.dims.split(",")):
                points = clumps(n, dims)
                eps = usual_eps(points)
                file = os.path.join(folder, "points.npy")
                np.save(file, points)
                cells, labels = [], {}
                for kind in kinds:
                    if stopped.get((kind, dims), n + 1) <= n:
                        cells.append("–")
                        continue
                    labels_file = os.path.join(folder, f"{kind}.npy")
                    try:
                        seconds = in_process(["fits", kind, file, repr(eps), labels_file], arguments.limit)
                        cells.append(brief(seconds[0])
                                     + (f", {brief(statistics.median(seconds[1:]))}" if seconds[1:] else ""))
                        labels[kind] = np.load(labels_file)
                    except subprocess.TimeoutExpired:
                        cells.append(f"> {arguments.limit:g} s")
                        stopped[kind, dims] = n
                    except RuntimeError as error:
                        cells.append(str(error)[:60])
                        stopped[kind, dims] = n
                if "epsflow" not in labels:
                    print(f"| {n:,} | {dims} | {eps:g} | |", " | ".join(cells), "| |", flush=True)
                    continue
                ours = labels["epsflow"]
                found = f"{ours.max() + 1}, {(ours < 0).sum()}"
                same = [kind for kind in labels if kind != "dbscan" and np.array_equal(labels[kind], ours)]
                word = ("equal" if len(same) == len([kind for kind in labels if kind != "dbscan"])
                        else f"equal: {same} ONLY")
                if "dbscan" in labels:
                    theirs = labels["dbscan"]
                    if theirs.max() != ours.max() or (theirs < 0).sum() != (ours < 0).sum():
                        word += f"; dbscan: {theirs.max() + 1}, {(theirs < 0).sum()}"
                print(f"| {n:,} | {dims} | {eps:g} | {found} |", " | ".join(cells), f"| {word} |", flush=True)


def overhead(arguments):
    import epsflow

    print("| points | backend | fit in Python | C++, load and run | more |")
    print("| --- | --- | --- | --- | --- |")
    for n in (1000, 10000):
        points = clumps(n, 2)
        for backend in sorted(epsflow.backends()):
            with tempfile.TemporaryDirectory() as folder:
                file = os.path.join(folder, "points.npy")
                np.save(file, points)
                model = epsflow.DBSCAN(eps=1.0, min_samples=5, backend=backend)
                in_cpp, in_python = [], []
                for _ in range(5):  # the two take turns
                    out = subprocess.run(
                        [arguments.bench, file, "1", "5", "--repeat", "101", "--share", "engine", "--backend", backend],
                        check=True, capture_output=True, text=True,
                    ).stdout
                    in_cpp += json.loads(out)["seconds"][1:]
                    model.fit(points)
                    for _ in range(100):
                        begin = time.perf_counter()
                        model.fit(points)
                        in_python.append(time.perf_counter() - begin)
            python, cpp = statistics.median(in_python), statistics.median(in_cpp)
            print(f"| {n:,} | {backend} | {python * 1e3:.3f} ms | {cpp * 1e3:.3f} ms | {(python - cpp) * 1e3:.3f} ms |",
                  flush=True)


def now_bytes():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()


def measure_memory(backend, order):
    import epsflow

    engine = epsflow.Engine(backend=backend)
    engine.load(np.zeros((1000, 2))).sweep(eps=1.0, min_samples=5)  # a warm-up
    points = np.asarray(np.random.default_rng(0).uniform(0, 1000, (15_000_000, 2)), order=order)
    # The array in the original order has been freed by now.
    before = now_bytes()
    data = engine.load(points)
    loaded = now_bytes()
    result = data.sweep(eps=0.2, min_samples=4)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps([points.nbytes, loaded - before, peak - before, result[0].labels.nbytes]))


def memory(arguments):
    import epsflow

    print("| backend | order of X | bytes of X | grown by loading | peak of the run over that before loading "
          "| labels |")
    print("| --- | --- | --- | --- | --- | --- |")
    for backend in sorted(epsflow.backends()):
        for order in ("C", "F"):
            size, loaded, peak, labels = (f"{b / 1e6:,.0f} MB" for b in in_process(["held", backend, order]))
            print(f"| {backend} | {order} | {size} | {loaded} | {peak} | {labels} |", flush=True)


def bus(arguments):
    import torch
    from torch.profiler import ProfilerActivity, profile

    import epsflow

    points = torch.from_numpy(clumps(10_000_000, 2).astype(np.float32)).cuda()
    torch.cuda.synchronize()
    print("| output | crossing to the GPU | crossing to the host | on the GPU, copied | labels |")
    print("| --- | --- | --- | --- | --- |")
    expected = None
    for output in ("torch", "numpy"):
        epsflow.sweep(points, eps=0.05, min_samples=10, output=output)  # a warm-up
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as trace:
            result = epsflow.sweep(points, eps=0.05, min_samples=10, output=output)
            torch.cuda.synchronize()
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "trace.json")
            trace.export_chrome_trace(file)
            events = json.load(open(file))["traceEvents"]
        crossed = {"HtoD": [], "DtoH": [], "DtoD": []}
        kernels = 0
        for event in events:
            kernels += event.get("cat") == "kernel"
            for way, sizes in crossed.items():
                if event.get("cat") == "gpu_memcpy" and way in event["name"]:
                    sizes.append(event["args"]["bytes"])
        assert kernels > 0, "the profiler saw no kernel"
        labels = result[0].labels
        labels = labels.cpu().numpy() if output == "torch" else labels
        expected = labels if expected is None else expected
        assert np.array_equal(labels, expected)
        cells = [f"{sum(sizes):,} bytes in {len(sizes)}" for sizes in crossed.values()]
        print(f"| {output} | {' | '.join(cells)} | {labels.nbytes:,} bytes, {labels.max() + 1} clusters "
              f"({kernels} kernels) |")


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def versions():
    from importlib.metadata import PackageNotFoundError, version

    for name in ("epsflow", "numpy", "scikit-learn", "dbscan", "torch"):
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["table", "overhead", "memory", "bus"])
    parser.add_argument("--sizes", default="1e4,1e5,1e6")
    parser.add_argument("--dims", default="2,3,5,10,20")
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--bench", default="build/release/bin/bench_sweep")
    arguments = parser.parse_args()
    import epsflow

    print(f"{datetime.date.today()}, {len(os.sched_getaffinity(0))} cores of {processor()}, "
          f"Python {platform.python_version()};",
          "; ".join(f"{name}: {detail}" for name, detail in epsflow.backends().items()) + ";", ", ".join(versions()))
    print()
    {"table": compare, "overhead": overhead, "memory": memory, "bus": bus}[arguments.what](arguments)


if __name__ == "__main__":
    if sys.argv[1:2] == ["fits"]:
        measure_fits(sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5])
    elif sys.argv[1:2] == ["held"]:
        measure_memory(sys.argv[2], sys.argv[3])
    else:
        main()
