#!/usr/bin/env python3
"""Times steps of epsflow.Window beside incdbscan-rs (PyPI) and runs of epsflow.DBSCAN, in turns over the same points.

    compare_window.py [--points 20000] [--percent 5] [--steps 20] [--eps 0.8] [--threads N]

Three fifths of the points are in 50 clumps, the others anywhere in the plane, as in bench_window. eps is a multiple of
the mean separation, min_samples 6. In each step P percent of the points arrive, and as many leave, the first ones.
Prints medians in milliseconds, from arrays to labels, and in how many steps core points have the clusters of the run,
whatever their numbers.
"""

import argparse
import time

import epsflow
import numpy as np
from incdbscan_rs import IncrementalDBSCAN


def points_of(random, n, centres):
    x = random.uniform(0, 1, (n, 2))
    in_clump = random.random(n) < 0.6
    clumps = random.integers(0, len(centres), in_clump.sum())
    x[in_clump] = centres[clumps] + random.normal(0, 0.02, (len(clumps), 2))
    return x


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--percent", type=float, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--eps", type=float, default=0.8)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    random = np.random.default_rng(1)
    centres = random.uniform(0, 1, (50, 2))
    eps, changed = options.eps / options.points**0.5, int(options.points * options.percent / 100)
    kept = points_of(random, options.points, centres)
    window = epsflow.Window(eps, 6, max_points=options.points, threads=options.threads, backend="cpu")
    window.step(kept)
    peer = IncrementalDBSCAN(eps=eps, min_pts=6)
    peer.insert(kept)
    times = {"window": [], "incdbscan-rs": [], "run": []}
    agreed = 0

    def timed(name, work):
        begin = time.perf_counter()
        result = work()
        times[name].append(1e3 * (time.perf_counter() - begin))
        return result

    for step in range(options.steps + 3):
        x = points_of(random, changed, centres)
        gone, kept = kept[:changed], np.concatenate([kept[changed:], x])

        def of_window():
            window.step(x)
            return window.labels

        def of_peer():
            peer.delete(gone)
            peer.insert(x)
            return peer.get_cluster_labels(kept)

        labels, of_others = timed("window", of_window), np.asarray(timed("incdbscan-rs", of_peer))
        clustering = epsflow.DBSCAN(eps, min_samples=6, n_jobs=options.threads, backend="cpu")
        of_run = timed("run", lambda: clustering.fit_predict(kept))
        assert (labels == of_run).all()
        core = window.core
        pairs = {*zip(labels[core].tolist(), of_others[core].tolist())}
        agreed += len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
    medians = {name: round(float(np.median(values[3:])), 2) for name, values in times.items()}
    ratio = medians["incdbscan-rs"] / medians["window"]
    print(options.points, f"{options.percent} %", medians, f"{ratio:.0f} times", f"{agreed} of {step + 1} agree")


if __name__ == "__main__":
    main()
