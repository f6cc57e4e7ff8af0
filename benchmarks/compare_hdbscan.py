"""HDBSCAN beside other packages: seconds from points to labels, in turns, on all cores.

    python benchmarks/compare_hdbscan.py [--points 1000000] [--repeat 3] [--only epsflow,fast_plscan]

80 % of the points are in 100 clumps, and 20 % are uniform. min_samples is 10 as scikit-learn counts it, the point
itself included, and min_cluster_size is 10. Packages that are not installed are left out. fast_hdbscan and
fast_plscan compile on their first call, which is not timed.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import statistics
import time

import numpy as np


def clumps(n: int, d: int) -> np.ndarray:
    random = np.random.default_rng(1)
    centres = random.random((100, d))
    clumped = centres[np.arange(n - n // 5) % 100] + random.normal(0, 0.01, (n - n // 5, d))
    return np.ascontiguousarray(np.concatenate([random.random((n // 5, d)), clumped])[random.permutation(n)])


def by_epsflow(X):
    import epsflow

    return epsflow.HDBSCAN(min_cluster_size=10, min_samples=10, backend="cpu").fit(X).labels_


def by_fast_hdbscan(X):
    import fast_hdbscan

    return fast_hdbscan.HDBSCAN(min_cluster_size=10, min_samples=9).fit_predict(X)


def by_fast_plscan(X):
    import fast_plscan

    return fast_plscan.PLSCAN(min_samples=10).fit(X).labels_


def by_hdbscan_rs(X):
    import hdbscan_rs

    return hdbscan_rs.HDBSCAN(min_cluster_size=10, min_samples=10).fit_predict(X)


RUNS = {
    "epsflow": by_epsflow, "hdbscan-rs": by_hdbscan_rs, "fast_plscan": by_fast_plscan, "fast_hdbscan": by_fast_hdbscan,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default=",".join(RUNS))
    given = parser.parse_args()
    runs = {}
    for name in given.only.split(","):
        try:
            RUNS[name](clumps(2000, 2))
            runs[name] = RUNS[name]
        except ImportError:
            print(json.dumps({"package": name, "left out": "not installed"}))
    for d in (2, 3):
        X = clumps(given.points, d)
        seconds: dict[str, list[float]] = {name: [] for name in runs}
        clusters = {}
        for _ in range(given.repeat):
            for name, run in runs.items():
                begin = time.perf_counter()
                labels = run(X)
                seconds[name].append(time.perf_counter() - begin)
                clusters[name] = int(np.max(labels)) + 1
        for name, taken in seconds.items():
            print(json.dumps({
                "package": name, "version": importlib.metadata.version(name), "points": given.points, "dims": d,
                "cores": len(os.sched_getaffinity(0)), "seconds": round(statistics.median(taken), 3),
                "least": round(min(taken), 3), "clusters": clusters[name],
            }), flush=True)


if __name__ == "__main__":
    main()
