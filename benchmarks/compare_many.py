#!/usr/bin/env python3
"""Compares many data sets in one run with loops over them, on the CPU: through files, and in Python.

usage: compare_many.py files --program build/release/bin/epsflow [--maps 2880] [--points 10000] [--looped 100]
                             [--work FOLDER]
       compare_many.py sets [--sets 10000] [--points 1000] [--looped 200] [--jobs 2]
needs: numpy; for sets epsflow, scikit-learn and joblib

files: maps of uniform points in the unit square (float32 .npy), 8 eps × 4 minpts. Compares one
`epsflow sweep maps/*.npy --by-file` with a call of `epsflow sweep` for each map. Both write the labels of all variants.
sets: such points in memory, 16 variants. Compares one `epsflow.sweep_many` with a loop over `epsflow.sweep` and with
joblib over sklearn.cluster.DBSCAN (a fit for each variant, in `jobs` processes that have been started before).

The loops handle some of the sets, and their times are scaled to all. The table has wall and processor seconds; other
work on the machine affects processor seconds less. Labels of the looped sets must be equal.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def timed(act):
    """Returns the result of act(), its wall seconds, and its processor seconds with child processes."""
    def used():
        return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

    clock, spent = time.perf_counter(), used()
    made = act()
    return made, time.perf_counter() - clock, used() - spent


def variants(points, scales, minpts):
    return [float(f"{s / np.sqrt(points):.6g}") for s in scales], list(minpts)


def report(rows):
    """Prints rows of name, wall seconds, processor seconds and scale factor. The first row is the single run."""
    _, clock, spent, _ = rows[0]
    print("| | s | of the processor | ratio | ratio of the processor |\n|---|---|---|---|---|")
    for name, seconds, used, scale in rows:
        seconds, used = seconds * scale, used * scale
        print(f"| {name} | {seconds:.2f} | {used:.2f} | {seconds / clock:.1f} | {used / spent:.1f} |")


def compare_files(args):
    eps, minpts = variants(args.points, (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2), (2, 4, 8, 16))
    words = ["--eps", ",".join(map(str, eps)), "--minpts", ",".join(map(str, minpts)), "--quiet"]
    with tempfile.TemporaryDirectory(dir=args.work) as folder:
        work = Path(folder)
        (work / "maps").mkdir()
        maps = []
        for i in range(args.maps):
            maps.append(work / "maps" / f"map_{i:05}.npy")
            np.save(maps[-1], np.random.default_rng(i).random((args.points, 2), np.float32))

        def sweep(files, out, *more):
            subprocess.run([args.program, "sweep", *map(str, files), *words, "--out", str(work / out), *more],
                           check=True)

        _, clock, spent = timed(lambda: sweep(maps, "one", "--by-file"))
        _, loop_clock, loop_spent = timed(
            lambda: [sweep([file], f"loop/{i}") for i, file in enumerate(maps[: args.looped])])
        for file in sorted((work / "one" / "labels").glob("*.npy")):
            together = np.load(file, mmap_mode="r")
            for i in range(args.looped):
                alone = np.load(work / f"loop/{i}" / "labels" / file.name)
                assert np.array_equal(alone, together[i * args.points : (i + 1) * args.points]), (file.name, i)
        print(f"{args.maps} maps of {args.points} points, {len(eps) * len(minpts)} variants; "
              f"labels of {args.looped} maps are equal")
        scale = args.maps / args.looped
        report([("one call, --by-file", clock, spent, 1),
                (f"a call for each map ({args.looped} of them, scaled)", loop_clock, loop_spent, scale)])


def fit(X, eps, minpts):
    from sklearn.cluster import DBSCAN

    return [DBSCAN(eps=e, min_samples=m).fit(X).labels_ for e in eps for m in minpts]


def compare_sets(args):
    import joblib

    import epsflow

    eps, minpts = variants(args.points, (0.5, 0.7, 0.9, 1.1), (2, 4, 8, 16))
    sets = [np.random.default_rng(i).random((args.points, 2)) for i in range(args.sets)]
    engine = epsflow.Engine("cpu", threads=args.jobs)
    epsflow.sweep_many(sets[:10], eps, minpts, engine=engine)
    few = sets[: args.looped]
    found, clock, spent = timed(lambda: epsflow.sweep_many(sets, eps, minpts, engine=engine))
    loop, loop_clock, loop_spent = timed(lambda: [epsflow.sweep(X, eps, minpts, engine=engine) for X in few])
    with joblib.Parallel(n_jobs=args.jobs) as parallel:
        parallel(joblib.delayed(fit)(X, eps, minpts) for X in few[: 2 * args.jobs])
        theirs, joblib_clock, _ = timed(lambda: parallel(joblib.delayed(fit)(X, eps, minpts) for X in few))
    for s, (mine, fitted) in enumerate(zip(loop, theirs)):
        for k, (e, m) in enumerate((e, m) for e in eps for m in minpts):
            labels = found.labels(e, m, slice=s)
            assert np.array_equal(labels, mine.labels(e, m)) and np.array_equal(labels, fitted[k]), (s, e, m)
    scale = args.sets / args.looped
    print(f"{args.sets} sets of {args.points} points, 16 variants, {args.jobs} threads or processes; "
          f"labels of {args.looped} sets are equal")
    report([("sweep_many", clock, spent, 1),
            (f"a loop over sweep ({args.looped} sets, scaled)", loop_clock, loop_spent, scale),
            (f"joblib over scikit-learn ({args.looped} sets, scaled; its processes are not seen)", joblib_clock,
             float("nan"), scale)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ways = parser.add_subparsers(required=True)
    files = ways.add_parser("files")
    files.add_argument("--program", required=True)
    files.add_argument("--maps", type=int, default=2880)
    files.add_argument("--points", type=int, default=10_000)
    files.add_argument("--looped", type=int, default=100)
    files.add_argument("--work", default=os.environ.get("TMPDIR"))
    files.set_defaults(compare=compare_files)
    sets = ways.add_parser("sets")
    sets.add_argument("--sets", type=int, default=10_000)
    sets.add_argument("--points", type=int, default=1_000)
    sets.add_argument("--looped", type=int, default=200)
    sets.add_argument("--jobs", type=int, default=os.cpu_count())
    sets.set_defaults(compare=compare_sets)
    args = parser.parse_args()
    args.compare(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
