#!/usr/bin/env python3
"""Compares epsflow with other programs, which take turns in one run on one machine. Prints Markdown tables.

Every case needs numpy; a case that calls Python packages needs epsflow and the packages that it names (pip install).
"""

from __future__ import annotations

import functools
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from pathlib import Path
from statistics import median

import numpy as np

from bench import BENCH, clumps, in_process, in_turns, main, make_sets, output, processor_seconds, table, timed

MIN_SAMPLES = 10


def fits(kind, file, variants, most, labels_file=None):
    """Fits all (eps, min_samples), up to `most` times, fewer if that takes long. Returns the seconds of each time,
    imports not included, and the sum of the numbers of clusters. Saves the labels of the last variant."""
    X = np.load(file)
    if kind == "dbscan":
        from dbscan import DBSCAN

        fit = lambda eps, m: DBSCAN(X, eps=eps, min_samples=m)[0]
    else:
        if kind == "scikit-learn":
            from sklearn.cluster import DBSCAN

            more = {"n_jobs": -1}
        else:
            from epsflow import DBSCAN

            more = {"backend": "cpu"} if "CPU" in kind else {}
        fit = lambda eps, m: DBSCAN(eps=eps, min_samples=m, **more).fit(X).labels_
    seconds = []
    while len(seconds) < most and (len(seconds) < 2 or sum(seconds) < 5) and sum(seconds[:1]) <= 20:
        found, took, _ = timed(lambda: [fit(eps, m) for eps, m in variants])
        seconds.append(took)
    if labels_file:
        np.save(labels_file, np.asarray(found[-1], dtype=np.int32))
    return {"seconds": seconds, "clusters": sum(int(labels.max()) + 1 for labels in found)}


def bench_sweep(bench, *words):
    return output([bench, "sweep", *words])


def dbscan(bench=BENCH, sets=".", rounds=3, skip_sklearn=False):
    """The program `bench` beside scikit-learn and `dbscan` (Wang, Gu & Shun).

    sets: folder with u2.npy and s1.npy, or gen_points.cpp to make them. Every measurement is a fresh process that loads
    the points first and then times points in memory to labels in memory, float64, on all cores. The result is the ratio
    of the medians. The sweep of 64 variants calls `dbscan` 64 times in one process.
    """
    folder = Path(sets)
    make_sets(folder, "u2", "s1")
    row = table("set", "eps", "minpts", "program", "median s", "min", "max", "peer / epsflow")
    for name, eps, minpts, peers in (
        ("u2", "0.2", "4", ("dbscan", "scikit-learn")),
        ("s1", "0.1", "4", ("dbscan", "scikit-learn")),
        ("s1", "0.3", "4", ("dbscan",)),
        ("s1", "0.05:0.4:0.05", "4,8,16,32,48,64,80,100", ("dbscan",)),
    ):
        file = str(folder / f"{name}.npy")
        single = ":" not in eps
        eps_list = [float(eps)] if single else [round(0.05 * k, 2) for k in range(1, 9)]
        variants = [(e, int(m)) for e in eps_list for m in minpts.split(",")]
        ours = functools.partial(bench_sweep, bench, file, eps, minpts)
        programs = {"epsflow": ours}
        if single:
            programs["epsflow, one thread"] = functools.partial(ours, "--threads", 1)
            programs["epsflow, csr table"] = functools.partial(ours, "--table-format", "csr")
        else:
            programs["epsflow, each variant on its own"] = functools.partial(ours, "--method", "each")
        for peer in peers:
            if peer != "scikit-learn" or not skip_sklearn:
                programs[peer] = functools.partial(in_process, fits, peer, file, variants, 1)
        times, clusters = defaultdict(list), defaultdict(list)
        for turn in range(rounds):
            for program, measure in programs.items():
                # One round is enough for slow programs: they are minutes away from any threshold.
                if turn > 0 and (program == "scikit-learn" or (program == "dbscan" and not single)):
                    continue
                made = measure()
                times[program] += made["seconds"]
                clusters[made["clusters"]].append(program)
        base = median(times["epsflow"])
        for program, seconds in times.items():
            row(name, eps, minpts, program, f"{median(seconds):.3f}", f"{min(seconds):.3f}", f"{max(seconds):.3f}",
                f"{median(seconds) / base:.2f}")
        if len(clusters) > 1:
            print(f"\nClusters differ: {dict(clusters)}\n", flush=True)


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


def brief(seconds):
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def fit(sizes=(10_000, 100_000, 1_000_000), dims=(2, 3, 5, 10, 20), limit=120.0):
    """fit of epsflow.DBSCAN, from arrays to labels, beside scikit-learn and `dbscan` if they are installed.

    Every measurement is a fresh process: "first" is its first fit, with the start of threads or GPU, "later" the median
    of the other fits; imports are not timed. The labels of scikit-learn are compared one by one, and the counts of
    clusters and noise of `dbscan`. limit: seconds after which a peer is stopped.
    """
    import epsflow

    kinds = ["epsflow"] + (["epsflow, CPU"] if "gpu" in epsflow.backends() else []) + ["scikit-learn", "dbscan"]
    row = table("points", "dims", "eps", "clusters, noise", *(f"{kind}: first, later" for kind in kinds), "labels")
    stopped = set()  # a peer that took too long does not get more points
    with tempfile.TemporaryDirectory() as folder:
        for n, d in ((n, d) for n in sizes for d in dims):
            points = clumps(n, d)
            eps = usual_eps(points)
            file = os.path.join(folder, "points.npy")
            np.save(file, points)
            cells, labels = [], {}
            for kind in kinds:
                if (kind, d) in stopped:
                    cells.append("–")
                    continue
                labels_file = os.path.join(folder, f"{kind}.npy")
                try:
                    first, *later = in_process(
                        fits, kind, file, [(eps, MIN_SAMPLES)], 12, labels_file, limit=limit)["seconds"]
                    cells.append(", ".join([brief(first)] + [brief(median(later))] * bool(later)))
                    labels[kind] = np.load(labels_file)
                except subprocess.TimeoutExpired:
                    cells.append(f"> {limit:g} s")
                    stopped.add((kind, d))
                except RuntimeError as error:
                    cells.append(str(error)[:60])
                    stopped.add((kind, d))
            if "epsflow" not in labels:
                row(f"{n:,}", d, f"{eps:g}", "", *cells, "")
                continue
            ours, theirs = labels["epsflow"], labels.pop("dbscan", None)
            same = [kind for kind in labels if np.array_equal(labels[kind], ours)]
            word = "equal" if len(same) == len(labels) else f"equal: {same} ONLY"
            if theirs is not None and (theirs.max() != ours.max() or (theirs < 0).sum() != (ours < 0).sum()):
                word += f"; dbscan: {theirs.max() + 1}, {(theirs < 0).sum()}"
            row(f"{n:,}", d, f"{eps:g}", f"{ours.max() + 1}, {(ours < 0).sum()}", *cells, word)


def accelerated(functions=("dbscan", "sklearn_hdbscan", "hdbscan"), rows=(10, 100, 1000, 10_000, 100_000, 1_000_000),
                columns=(2, 3, 8), most=60.0, min_rows=-1):
    """Calls of scikit-learn and hdbscan as they are, and with epsflow.accel.

    An original that would take longer than `most` seconds, by the size before, is left out. min_rows: of enable(), if
    it is not negative. labels: whether they are the same, or the adjusted Rand index.
    """
    import epsflow.accel
    import hdbscan
    from sklearn.cluster import DBSCAN, HDBSCAN
    from sklearn.metrics import adjusted_rand_score

    def eps_of(n, d):
        """Returns an eps at which points in clumps have some tens of neighbours."""
        dense, spread = max(1.0, 0.008 * n), 2 if d > 3 else 1
        return float(min(3 * spread, spread * 2.0 * (20 / dense) ** (1 / d)))

    calls = {
        "dbscan": lambda X: DBSCAN(eps=eps_of(*X.shape), min_samples=MIN_SAMPLES).fit(X).labels_,
        "sklearn_hdbscan": lambda X: HDBSCAN(min_cluster_size=MIN_SAMPLES, copy=True).fit(X).labels_,
        "hdbscan": lambda X: hdbscan.HDBSCAN(min_cluster_size=MIN_SAMPLES).fit(X).labels_,
    }
    warnings.simplefilter("ignore")
    row = table("function", "columns", "rows", "original ms", "accelerated ms", "ratio", "labels")
    for name, d in ((name, d) for name in functions for d in columns):
        last, last_n = 0.0, 1
        for n in rows:
            X = clumps(n, d, spread=2 if d > 3 else 1, equal=True)

            def original():
                return calls[name](X)

            def accelerated_one():
                with epsflow.accel.enable(min_rows=None if min_rows < 0 else min_rows):
                    return calls[name](X)

            accelerated_one()  # starts its threads
            both = {"original": original, "accelerated": accelerated_one}
            if last * (n / last_n) ** (2 if name == "sklearn_hdbscan" else 1.2) > most:
                del both["original"]
            turns = 200 if n <= 100 else 20 if n <= 1000 else 5 if n <= 10_000 else 1
            seconds, labels = in_turns(both, turns)
            before, after = median(seconds.get("original", [0])), median(seconds["accelerated"])
            if "original" not in both:
                row(name, d, n, "-", f"{after * 1e3:.3f}", "-", "-")
                continue
            last, last_n = before, n
            index = adjusted_rand_score(*labels.values())
            same = "same" if np.array_equal(*labels.values()) else f"{index:.6f}"
            row(name, d, n, f"{before * 1e3:.3f}", f"{after * 1e3:.3f}", f"{before / after:.2f}", same)


def by_epsflow(X):
    from epsflow import HDBSCAN

    return HDBSCAN(min_cluster_size=10, min_samples=10, backend="cpu").fit(X).labels_


def by_hdbscan_rs(X):
    from hdbscan_rs import HDBSCAN

    return HDBSCAN(min_cluster_size=10, min_samples=10).fit_predict(X)


def by_fast_plscan(X):
    from fast_plscan import PLSCAN

    return PLSCAN(min_samples=10).fit(X).labels_


def by_fast_hdbscan(X):
    from fast_hdbscan import HDBSCAN

    return HDBSCAN(min_cluster_size=10, min_samples=9).fit_predict(X)


HDBSCANS = {"epsflow": by_epsflow, "hdbscan-rs": by_hdbscan_rs, "fast_plscan": by_fast_plscan,
            "fast_hdbscan": by_fast_hdbscan}


def hdbscan(points=1_000_000, repeat=3, only=tuple(HDBSCANS)):
    """HDBSCAN beside hdbscan-rs, fast_plscan and fast_hdbscan: seconds from points to labels, on all cores.

    min_samples is 10 as scikit-learn counts it, the point itself included, and min_cluster_size is 10. Packages that
    are not installed are left out. fast_hdbscan and fast_plscan compile on their first call, which is not timed.
    """
    runs = {}
    for name in only:
        try:
            HDBSCANS[name](clumps(2000, 2, spread=1, equal=True))
            runs[name] = HDBSCANS[name]
        except ImportError:
            print(f"{name} is not installed")
    row = table("package", "points", "dims", "median s", "least s", "clusters")
    for d in (2, 3):
        X = clumps(points, d, spread=1, equal=True)
        seconds, labels = in_turns({name: functools.partial(run, X) for name, run in runs.items()}, repeat)
        for name, taken in seconds.items():
            row(name, points, d, f"{median(taken):.3f}", f"{min(taken):.3f}", int(np.max(labels[name])) + 1)


BOX = 100.0


def haloes(points, dims=3):
    """Returns Gaussian haloes of many sizes over a uniform background, in the box."""
    draw = np.random.default_rng(points)
    sizes = np.minimum(60 * draw.uniform(size=points // 400) ** -1.0, 4000).astype(int)
    members = np.repeat(draw.uniform(0, BOX, (len(sizes), dims)), sizes, axis=0)[: points // 2]
    members += draw.normal(0, 0.4, members.shape)
    return np.concatenate([members, draw.uniform(0, BOX, (points - len(members), dims))]) % BOX


def canonical(labels):
    """Returns the smallest point in each point's group, which does not depend on the numbers of the groups."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return first[inverse]


def by_pyfof(X, length):
    import pyfof

    labels = np.empty(len(X), np.int64)
    for number, members in enumerate(pyfof.friends_of_friends(X, length)):
        labels[members] = number
    return labels


def by_halotools(X, length):
    from halotools.mock_observables import FoFGroups

    b = length / (BOX / np.cbrt(len(X)))
    return FoFGroups(np.c_[X, np.zeros(len(X))], b, b, Lbox=BOX, num_threads=1).group_ids


def by_scipy(X, length):
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    pairs = cKDTree(X, boxsize=BOX).query_pairs(length, output_type="ndarray")
    graph = coo_matrix((np.ones(len(pairs), bool), pairs.T), (len(X), len(X)))
    return connected_components(graph, directed=False)[1]


def by_jztree(X, length):
    import jax.numpy as jnp
    from jztree.fof import fof_labels

    return np.asarray(fof_labels(jnp.asarray(X, jnp.float32), float(length), BOX, output_order="input")[1])


def groups(points=(20_000, 100_000), rounds=3):
    """Groups of friends beside pyfof, halotools, scipy and jztree: whether they are the same, and the times.

    epsflow has one thread and solves the same problem as each finder: pyfof has no periodic box; halotools links within
    cylinders, which become circles for points of one plane (z = 0); scipy builds a graph of all pairs (cKDTree, with a
    periodic box) and its connected components; jztree (with jztree-cu12 or jztree-cu13, and a GPU) computes in float32,
    so that pairs at exactly the linking length may differ. Two labellings are the same if their groups are equal as
    sets. Exits with 1 if they differ.
    """
    import epsflow

    warnings.simplefilter("ignore")
    good = True
    row = table("finder", "points", "box", "groups of 2 and more", "same", "seconds", "epsflow, one thread", "ratio")
    for n in points:
        whole, plane = haloes(n), haloes(n, 2)
        for name, find, X, box in (
            ("pyfof", by_pyfof, whole, None),
            ("scipy", by_scipy, whole, BOX),
            ("halotools", by_halotools, plane, BOX),
            ("jztree", by_jztree, whole.astype(np.float32).astype(np.float64) % BOX, BOX),
        ):
            length = 0.2 * BOX / len(X) ** (1 / X.shape[1])
            try:
                seconds, found = in_turns({
                    name: lambda: find(X, length),
                    "epsflow": lambda: epsflow.friends_of_friends(X, length, box=box, min_size=1, threads=1).labels,
                }, rounds)
            except ImportError as missing:
                row(name, "-", "-", "-", f"not there: {str(missing).splitlines()[0]}", "", "", "")
                continue
            same = bool((canonical(found[name]) == canonical(found["epsflow"])).all())
            good = good and same
            count = int((np.unique(found["epsflow"], return_counts=True)[1] > 1).sum())
            theirs, ours = median(seconds[name]), median(seconds["epsflow"])
            row(name, n, "periodic" if box else "open", count, "yes" if same else "NO", f"{theirs:.3f}", f"{ours:.4f}",
                f"{theirs / ours:.1f}")
    return 0 if good else 1


def window(points=20_000, percent=5.0, steps=20, eps=0.8, threads=0):
    """Steps of epsflow.Window beside incdbscan-rs and runs of epsflow.DBSCAN, over the same points.

    Three fifths of the points are in 50 clumps, the others anywhere in the plane, as in `bench window`. eps is a
    multiple of the mean separation, min_samples 6. In each step P percent of the points arrive, and as many leave, the
    first ones. Medians are from arrays to labels. agree: the steps in which core points have the clusters of the run,
    whatever their numbers.
    """
    import epsflow
    from incdbscan_rs import IncrementalDBSCAN

    random = np.random.default_rng(1)
    centres = random.uniform(0, 1, (50, 2))

    def arriving(n):
        x = random.uniform(0, 1, (n, 2))
        in_clump = random.random(n) < 0.6
        of = random.integers(0, len(centres), in_clump.sum())
        x[in_clump] = centres[of] + random.normal(0, 0.02, (len(of), 2))
        return x

    radius, changed = eps / points**0.5, int(points * percent / 100)
    current = arriving(points)
    ours = epsflow.Window(radius, 6, max_points=points, threads=threads or None, backend="cpu")
    ours.step(current)
    peer = IncrementalDBSCAN(eps=radius, min_pts=6)
    peer.insert(current)
    clustering = epsflow.DBSCAN(radius, min_samples=6, n_jobs=threads or None, backend="cpu")
    times, agreed = defaultdict(list), 0
    for _ in range(steps + 3):
        x = arriving(changed)
        gone, current = current[:changed], np.concatenate([current[changed:], x])

        def of_window():
            ours.step(x)
            return ours.labels

        def of_peer():
            peer.delete(gone)
            peer.insert(x)
            return peer.get_cluster_labels(current)

        seconds, labels = in_turns(
            {"window": of_window, "incdbscan-rs": of_peer, "run": lambda: clustering.fit_predict(current)}, 1)
        for name, (took,) in seconds.items():
            times[name].append(1e3 * took)
        assert (labels["window"] == labels["run"]).all()
        core = ours.core
        pairs = {*zip(labels["window"][core].tolist(), np.asarray(labels["incdbscan-rs"])[core].tolist())}
        agreed += len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
    medians = {name: float(np.median(taken[3:])) for name, taken in times.items()}
    row = table("points", "percent", *(f"{name} ms" for name in medians), "incdbscan-rs / window", "agree")
    row(points, percent, *(f"{taken:.2f}" for taken in medians.values()),
        f"{medians['incdbscan-rs'] / medians['window']:.0f}", f"{agreed} of {steps + 3}")


def persistable_counts(file, eps, minpts, jobs, wall):
    import persistable

    warnings.simplefilter("ignore")
    x = np.load(file)
    now = time.perf_counter if wall else time.process_time
    begin = now()
    made = persistable.Persistable(x, n_neighbors=2 * max(minpts), n_jobs=jobs)
    fit_s = now() - begin
    begin = now()
    counts = made._bifiltration._hilbert_function(eps, [(m - 0.5) / len(x) for m in reversed(minpts)], n_jobs=jobs)
    return {"seconds": now() - begin, "fit": fit_s, "clusters": int(counts.sum())}


def blobs(n):
    random = np.random.default_rng(n)
    noise = n // 5
    centres = random.uniform(0, 100, (20, 2))
    widths = random.uniform(0.5, 4, 20)
    which = random.integers(0, 20, n - noise)
    points = centres[which] + random.normal(size=(n - noise, 2)) * widths[which, None]
    return np.concatenate([points, random.uniform(-10, 110, (noise, 2))])


def persistable(bench=(BENCH,), python=sys.executable, rounds=3, points=(2_000, 40_000), cells=(900, 10_000),
                keep=("core", "summary"), core=0, wall=0, work=tempfile.gettempdir()):
    """`bench map`, of one build or several, beside persistable (Scoccola & Rolle), on one core.

    Sets (2,000, 5,000, 20,000 or 40,000 points): 20 blobs of several widths in two dimensions, with a fifth of noise.
    900 cells are 30 eps with minpts 2, 5, …, 89; 10,000 are 100 eps with minpts 2 … 101; eps in equal ratios. epsflow
    finds the clusters of each cell, and the cluster of the next cells that contains each of them. persistable
    (persistable-clustering, in `python`) counts the clusters of each cell (`_hilbert_function`, n_jobs=1); its fit is
    timed separately. A figure is the minimum of all rounds, in seconds of processor time, so that other work on the
    machine affects it less. For epsflow it includes the start and reading the file. With wall, figures are seconds of
    wall time, with that many threads of epsflow, and the better of as many jobs and one job of persistable; reading is
    not included, and the machine should be idle. The clusters of all cells together must be the same.
    """
    repeat = 3
    ranges = {2_000: (0.12, 23), 5_000: (0.08, 15), 20_000: (0.04, 10), 40_000: (0.03, 8)}
    minpts_of = {900: range(2, 90, 3), 10_000: range(2, 102)}
    bound = None if wall else core
    row = table("points", "cells", "program", "least s", "persistable / epsflow", "clusters of all")
    for n, count in ((n, count) for n in points for count in cells):
        file = os.path.join(work, f"blobs{n}.npy")
        np.save(file, blobs(n))
        minpts = list(minpts_of[count])
        eps = np.geomspace(*ranges[n], count // len(minpts)).tolist()
        lists = [",".join(repr(e) for e in eps), ",".join(str(m) for m in minpts)]
        seconds, clusters = defaultdict(list), defaultdict(set)
        for _ in range(rounds):
            for i, how in ((i, how) for i in range(len(bench)) for how in keep):
                used = -processor_seconds(resource.RUSAGE_CHILDREN)
                made = output([bench[i], "map", file, *lists, "--backend", "cpu", "--threads", wall or 1, "--repeat",
                               repeat, "--keep", how], core=bound)
                used += processor_seconds(resource.RUSAGE_CHILDREN)
                name = f"epsflow {how}" + (f" ({i + 1})" if i > 0 else "")
                seconds[name].append(median(made["seconds"]) if wall else used / repeat)
                clusters[name].add(made["clusters"])
            for jobs in {1, wall or 1}:
                made = in_process(persistable_counts, file, eps, minpts, jobs, bool(wall), python=python, core=bound)
                seconds["persistable"].append(made["seconds"])
                seconds["persistable, its fit"].append(made["fit"])
                clusters["persistable"].add(made["clusters"])
        for name, taken in seconds.items():
            ratio = "" if name.startswith("persistable") else f"{min(seconds['persistable']) / min(taken):.1f}"
            row(n, count, name, f"{min(taken):.4f}", ratio,
                ", ".join(str(found) for found in clusters[name]))
        if len(set.union(*clusters.values())) > 1:
            print("\nClusters are NOT EQUAL\n", flush=True)


def grid_of(points, scales):
    """Returns eps at these multiples of the mean separation in the unit square, and minpts."""
    return [float(f"{s / np.sqrt(points):.6g}") for s in scales], [2, 4, 8, 16]


def report(rows):
    """Prints rows of name, wall seconds, processor seconds and scale factor. The first row is the single run."""
    _, clock, spent, _ = rows[0]
    row = table("", "s", "of the processor", "ratio", "ratio of the processor")
    for name, seconds, used, scale in rows:
        seconds, used = seconds * scale, used * scale
        row(name, f"{seconds:.2f}", f"{used:.2f}", f"{seconds / clock:.1f}", f"{used / spent:.1f}")


def files(program="build/release/bin/epsflow", maps=2880, points=10_000, looped=100, work=tempfile.gettempdir()):
    """One `epsflow sweep maps/*.npy --by-file` beside a call of `epsflow sweep` for each map, on the CPU.

    Maps are uniform points in the unit square (float32 .npy), 8 eps × 4 minpts. Both write the labels of all variants.
    The calls handle `looped` maps, whose labels must be equal, and their times are scaled to all. Other work on the
    machine affects processor seconds less.
    """
    eps, minpts = grid_of(points, (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2))
    words = ["--eps", ",".join(f"{e}" for e in eps), "--minpts", ",".join(f"{m}" for m in minpts), "--quiet"]
    with tempfile.TemporaryDirectory(dir=work) as folder:
        here = Path(folder)
        (here / "maps").mkdir()
        made = []
        for i in range(maps):
            made.append(here / "maps" / f"map_{i:05}.npy")
            np.save(made[-1], np.random.default_rng(i).random((points, 2), np.float32))

        def sweep(names, out, *more):
            subprocess.run([program, "sweep", *names, *words, "--out", here / out, *more], check=True)

        _, clock, spent = timed(lambda: sweep(made, "one", "--by-file"))
        _, loop_clock, loop_spent = timed(
            lambda: [sweep([file], f"loop/{i}") for i, file in enumerate(made[:looped])])
        for file in sorted((here / "one" / "labels").glob("*.npy")):
            together = np.load(file, mmap_mode="r")
            for i in range(looped):
                alone = np.load(here / f"loop/{i}" / "labels" / file.name)
                assert np.array_equal(alone, together[i * points : (i + 1) * points]), (file.name, i)
    report([("one call, --by-file", clock, spent, 1),
            (f"a call for each map ({looped} of them, scaled)", loop_clock, loop_spent, maps / looped)])


def fits_of(X, eps, minpts):
    from sklearn.cluster import DBSCAN

    return [DBSCAN(eps=e, min_samples=m).fit(X).labels_ for e in eps for m in minpts]


def sets(sets=10_000, points=1_000, looped=200, jobs=os.cpu_count()):
    """epsflow.sweep_many beside a loop over epsflow.sweep and joblib over sklearn.cluster.DBSCAN, on the CPU.

    Sets of uniform points in the unit square in memory, 16 variants. joblib makes a fit for each variant, in `jobs`
    processes that have been started before. The loops handle `looped` sets, whose labels must be equal, and their times
    are scaled to all. Other work on the machine affects processor seconds less.
    """
    import epsflow
    import joblib

    eps, minpts = grid_of(points, (0.5, 0.7, 0.9, 1.1))
    made = [np.random.default_rng(i).random((points, 2)) for i in range(sets)]
    engine = epsflow.Engine("cpu", threads=jobs)
    epsflow.sweep_many(made[:10], eps, minpts, engine=engine)
    few = made[:looped]
    found, clock, spent = timed(lambda: epsflow.sweep_many(made, eps, minpts, engine=engine))
    loop, loop_clock, loop_spent = timed(lambda: [epsflow.sweep(X, eps, minpts, engine=engine) for X in few])
    with joblib.Parallel(n_jobs=jobs) as parallel:
        parallel(joblib.delayed(fits_of)(X, eps, minpts) for X in few[: 2 * jobs])
        theirs, joblib_clock, _ = timed(lambda: parallel(joblib.delayed(fits_of)(X, eps, minpts) for X in few))
    for s, (mine, fitted) in enumerate(zip(loop, theirs)):
        for k, (e, m) in enumerate((e, m) for e in eps for m in minpts):
            labels = found.labels(e, m, slice=s)
            assert np.array_equal(labels, mine.labels(e, m)) and np.array_equal(labels, fitted[k]), (s, e, m)
    report([("sweep_many", clock, spent, 1),
            (f"a loop over sweep ({looped} sets, scaled)", loop_clock, loop_spent, sets / looped),
            (f"joblib over scikit-learn ({looped} sets, scaled; its processes are not seen)", joblib_clock,
             float("nan"), sets / looped)])


if __name__ == "__main__":
    main(__doc__, dbscan, fit, accelerated, hdbscan, groups, window, persistable, files, sets)
