#!/usr/bin/env python3
"""Compares maps of epsflow with persistable (Scoccola & Rolle), in one run on one core.

usage: persistable_map.py --bench build/release/bin/bench_map [--bench OTHER …] [--python PYTHON] [--rounds 3]
                          [--points 2000 40000] [--cells 900 10000] [--keep core summary] [--core 0 | --wall JOBS]
                          [--work FOLDER]
needs: numpy here; numpy and persistable-clustering in PYTHON (pip install persistable-clustering)

Sets: 20 blobs of several widths in two dimensions, with a fifth of noise. 900 cells are 30 eps with minpts 2, 5, …, 89;
10,000 are 100 eps with minpts 2 … 101; eps in equal ratios. epsflow finds the clusters of each cell, and the cluster of
the next cells that contains each of them. persistable counts the clusters of each cell (`_hilbert_function`, n_jobs=1);
its fit is timed separately. Programs take turns; each is bound to one core. A figure is the minimum of all rounds, in
seconds of processor time, so that other work on the machine affects it less. For epsflow it includes the start and
reading the file. With --wall, figures are seconds of wall time, with JOBS threads of epsflow, and the better of JOBS
jobs and one job of persistable; reading is not included, and the machine should be idle. The clusters of all cells
together must be the same.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

RANGES = {2_000: (0.12, 23), 5_000: (0.08, 15), 20_000: (0.04, 10), 40_000: (0.03, 8)}
MINPTS = {900: ("2:89:3", range(2, 90, 3)), 10_000: ("2:101:1", range(2, 102))}
REPEAT = 3

PEER = r"""
import sys, time, json, numpy as np, persistable, warnings
warnings.simplefilter("ignore")
x, eps, minpts, jobs = np.load(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3]), int(sys.argv[4])
now = time.perf_counter if sys.argv[5] == "wall" else time.process_time
begin = now()
made = persistable.Persistable(x, n_neighbors=2 * max(minpts), n_jobs=jobs)
fit = now() - begin
begin = now()
counts = made._bifiltration._hilbert_function(eps, [(m - 0.5) / len(x) for m in reversed(minpts)], n_jobs=jobs)
print(json.dumps({"seconds": now() - begin, "fit": fit, "clusters": int(counts.sum())}))
"""


def blobs(n: int) -> np.ndarray:
    random = np.random.default_rng(n)
    noise = n // 5
    centres = random.uniform(0, 100, (20, 2))
    widths = random.uniform(0.5, 4, 20)
    which = random.integers(0, 20, n - noise)
    points = centres[which] + random.normal(size=(n - noise, 2)) * widths[which, None]
    return np.concatenate([points, random.uniform(-10, 110, (noise, 2))])


def processor_seconds(command: list[str], core: int | None) -> tuple[float, dict]:
    """Runs a command on one core or on all. Returns its processor seconds, with child processes, and its JSON."""
    bind = None if core is None else lambda: os.sched_setaffinity(0, {core})
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=bind)
    out = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command[0]} failed")
    return used.ru_utime + used.ru_stime, json.loads(out)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bench", action="append", required=True)
    arguments.add_argument("--python", default=sys.executable)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--points", type=int, nargs="+", default=[2_000, 40_000], choices=RANGES)
    arguments.add_argument("--cells", type=int, nargs="+", default=[900, 10_000], choices=MINPTS)
    arguments.add_argument("--keep", nargs="+", default=["core", "summary"])
    arguments.add_argument("--core", type=int, default=0)
    arguments.add_argument("--wall", type=int, metavar="JOBS")
    arguments.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()))
    given = arguments.parse_args()
    core = given.core if given.wall is None else None
    clock = "processor" if given.wall is None else "wall"
    for n in given.points:
        points = blobs(n)
        file = given.work / f"blobs{n}.npy"
        np.save(file, points)
        for cells in given.cells:
            words, minpts = MINPTS[cells]
            count = cells // len(minpts)
            eps = np.geomspace(*RANGES[n], count)
            ours = ",".join(repr(float(e)) for e in eps)
            best: dict[str, float] = {}
            clusters = set()

            def take(name: str, seconds: float, found: int) -> None:
                best[name] = min(best.get(name, seconds), seconds)
                clusters.add(found)

            for _ in range(given.rounds):
                for i, bench in enumerate(given.bench):
                    for keep in given.keep:
                        how = ["--backend", "cpu", "--threads", str(given.wall or 1), "--repeat", str(REPEAT),
                               "--keep", keep]
                        command = [bench, str(file), ours, words, *how]
                        seconds, made = processor_seconds(command, core)
                        seconds = seconds / REPEAT if given.wall is None else statistics.median(made["seconds"])
                        take(f"epsflow {keep}" + (f" ({i + 1})" if i > 0 else ""), seconds, made["clusters"])
                for jobs in {1, given.wall or 1}:
                    peer = [str(file), json.dumps(eps.tolist()), json.dumps(list(minpts)), str(jobs), clock]
                    _, made = processor_seconds([given.python, "-c", PEER, *peer], core)
                    take("persistable", made["seconds"], made["clusters"])
                    best["fit"] = min(best.get("fit", made["fit"]), made["fit"])
            theirs = best.pop("persistable")
            ratios = ", ".join(f"{name} {seconds:.4f} ({theirs / seconds:.1f}x)"
                               for name, seconds in best.items() if name != "fit")
            equal = "equal" if len(clusters) == 1 else f"NOT EQUAL {sorted(clusters)}"
            print(f"{n} points, {cells} cells: persistable {theirs:.2f} (fit {best['fit']:.2f}), {ratios}; "
                  f"clusters {equal}", flush=True)


if __name__ == "__main__":
    main()
