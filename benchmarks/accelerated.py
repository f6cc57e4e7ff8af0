"""Times calls of scikit-learn and hdbscan as they are, and with epsflow.accel, in turns.

    python benchmarks/accelerated.py [--rows 10,100,…] [--columns 2,3,8] [--most SECONDS] [--min-rows N] [FUNCTION …]

FUNCTION: dbscan, sklearn_hdbscan, hdbscan; default all. 80 % of the points are in 100 normal clumps, 20 % are uniform.
An original that would take longer than --most seconds, by the size before, is left out. Prints the median of each in
milliseconds and their ratio, and whether the labels are the same, or the adjusted Rand index.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

import epsflow.accel

MIN_SAMPLES = 10


def clumps(n: int, d: int) -> Any:
    random = np.random.default_rng(1)
    centres = random.uniform(0, 100, (100, d))
    dense = n * 8 // 10
    points = [centres[random.integers(0, 100, dense)] + random.normal(0, 2 if d > 3 else 1, (dense, d)),
              random.uniform(0, 100, (n - dense, d))]
    return np.concatenate(points)[random.permutation(n)]


def eps_of(n: int, d: int) -> float:
    """Returns an eps at which points in clumps have some tens of neighbours."""
    dense, spread = max(1.0, 0.008 * n), 2 if d > 3 else 1
    return float(min(3 * spread, spread * 2.0 * (20 / dense) ** (1 / d)))


def functions() -> dict[str, Callable[[Any], Any]]:
    import hdbscan
    from sklearn.cluster import DBSCAN, HDBSCAN

    return {
        "dbscan": lambda X: DBSCAN(eps=eps_of(*X.shape), min_samples=MIN_SAMPLES).fit(X).labels_,
        "sklearn_hdbscan": lambda X: HDBSCAN(min_cluster_size=MIN_SAMPLES, copy=True).fit(X).labels_,
        "hdbscan": lambda X: hdbscan.HDBSCAN(min_cluster_size=MIN_SAMPLES).fit(X).labels_,
    }


def seconds(call: Callable[[Any], Any], X: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    found = call(X)
    return time.perf_counter() - start, found


def same(a: Any, b: Any) -> str:
    from sklearn.metrics import adjusted_rand_score

    return "same" if np.array_equal(a, b) else f"{adjusted_rand_score(a, b):.6f}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default="10,100,1000,10000,100000,1000000")
    parser.add_argument("--columns", default="2,3,8")
    parser.add_argument("--most", type=float, default=60)
    parser.add_argument("--min-rows", type=int)
    parser.add_argument("functions", nargs="*")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    calls = functions()
    print(f"{'function':16} {'columns':>7} {'rows':>8} {'original ms':>12} {'accelerated ms':>15} {'ratio':>8}  labels")
    for name in given.functions or calls:
        for d in map(int, given.columns.split(",")):
            last, last_n = 0.0, 1
            for n in map(int, given.rows.split(",")):
                X = clumps(n, d)
                expected = last * (n / last_n) ** (2 if name == "sklearn_hdbscan" else 1.2)
                turns = 200 if n <= 100 else 20 if n <= 1000 else 5 if n <= 10_000 else 1
                with epsflow.accel.enable(min_rows=given.min_rows):
                    calls[name](X)  # starts its threads
                before, after, labels = [], [], "-"
                for turn in range(turns):
                    if expected <= given.most:
                        took, original = seconds(calls[name], X)
                        before.append(took)
                    with epsflow.accel.enable(min_rows=given.min_rows):
                        took, found = seconds(calls[name], X)
                    after.append(took)
                    if before and turn == 0:
                        labels = same(original, found)
                if before:
                    last, last_n = median(before), n
                left = f"{median(before) * 1e3:12.3f}" if before else f"{'-':>12}"
                ratio = f"{median(before) / median(after):8.2f}" if before else f"{'-':>8}"
                print(f"{name:16} {d:7} {n:8} {left} {median(after) * 1e3:15.3f} {ratio}  {labels}", flush=True)


if __name__ == "__main__":
    main()
