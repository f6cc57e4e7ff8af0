#!/usr/bin/env python3
"""Compares epsflow with scikit-learn and the PyPI package `dbscan` (Wang, Gu & Shun), in one run on one machine.

usage: compare.py --bench build/release/bin/bench_sweep --sets FOLDER [--rounds 3] [--out FILE.md] [--skip-sklearn]
needs: numpy, scikit-learn, dbscan (pip install numpy scikit-learn dbscan)

FOLDER holds u2.npy and s1.npy, or gen_points.cpp to make them. Every measurement is a fresh process that loads the
points first and then times points in memory to labels in memory, float64, on all cores. The programs take turns; the
result is the ratio of the medians. The sweep of 64 variants calls `dbscan` 64 times in one process.
"""
import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

EPS8 = "0.05:0.4:0.05"
MINPTS8 = "4,8,16,32,48,64,80,100"

PEER = r"""
import sys, time, json, numpy as np
kind, file, variants = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
x = np.load(file)
if kind == "dbscan":
    from dbscan import DBSCAN
    call = lambda e, m: DBSCAN(x, eps=e, min_samples=m)[0]
else:
    from sklearn.cluster import DBSCAN
    call = lambda e, m: DBSCAN(eps=e, min_samples=m, n_jobs=-1).fit(x).labels_
begin = time.perf_counter()
clusters = 0
for e, m in variants:
    clusters += int(call(e, m).max()) + 1
print(json.dumps({"seconds": [time.perf_counter() - begin], "clusters": clusters}))
"""


def output(words):
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def make_sets(folder, names):
    for name in names:
        if (folder / f"{name}.npy").exists():
            continue
        source = folder / "gen_points.cpp"
        if not source.exists():
            sys.exit(f"neither {name}.npy nor gen_points.cpp in {folder}")
        subprocess.run(["g++", "-O3", "-std=c++17", source, "-o", folder / "gen_points"], check=True)
        subprocess.run([folder / "gen_points", name, folder / f"{name}.npy"], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True, type=Path)
    parser.add_argument("--sets", required=True, type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--skip-sklearn", action="store_true")
    args = parser.parse_args()
    make_sets(args.sets, ("u2", "s1"))

    cases = [  # set, eps, minpts, peers
        ("u2", "0.2", "4", ("dbscan", "sklearn")),
        ("s1", "0.1", "4", ("dbscan", "sklearn")),
        ("s1", "0.3", "4", ("dbscan",)),
        ("s1", EPS8, MINPTS8, ("dbscan",)),
    ]
    lines = [
        "| set | eps | minpts | program | median s | min | max | peer / epsflow |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, eps, minpts, peers in cases:
        file = args.sets / f"{name}.npy"
        single = eps.count(":") == 0
        variants = [(float(eps), int(minpts))] if single else [(round(0.05 * k, 2), int(m)) for k in range(1, 9)
                                                               for m in minpts.split(",")]
        programs = {"epsflow": [args.bench, file, eps, minpts]}
        if single:
            programs["epsflow, one thread"] = [args.bench, file, eps, minpts, "--threads", "1"]
            programs["epsflow, csr table"] = [args.bench, file, eps, minpts, "--table-format", "csr"]
        else:
            programs["epsflow, each variant on its own"] = [args.bench, file, eps, minpts, "--method", "each"]
        for peer in peers:
            if peer != "sklearn" or not args.skip_sklearn:
                programs[peer] = [sys.executable, "-c", PEER, peer, file, json.dumps(variants)]
        times = {program: [] for program in programs}
        clusters = {}
        for round_number in range(args.rounds):
            for program, words in programs.items():
                # One round is enough for slow programs: they are minutes away from any threshold.
                slow = program == "sklearn" or (program == "dbscan" and not single)
                if slow and round_number > 0:
                    continue
                result = output([str(w) for w in words])
                times[program] += result["seconds"]
                clusters.setdefault(result["clusters"], []).append(program)
        base = statistics.median(times["epsflow"])
        for program, seconds in times.items():
            median = statistics.median(seconds)
            lines.append(f"| {name} | {eps} | {minpts} | {program} | {median:.3f} | {min(seconds):.3f} "
                         f"| {max(seconds):.3f} | {median / base:.2f} |")
            print(lines[-1], flush=True)
        if len(clusters) > 1:
            lines.append(f"\nClusters differ: {clusters}\n")
            print(lines[-1], flush=True)
    head = [
        f"# Comparison of {datetime.date.today()}",
        "",
        f"Machine: {processor()}, {os.cpu_count()} cores. Rounds: {args.rounds}. Command: "
        f"`benchmarks/compare.py --bench build/release/bin/bench_sweep --sets FOLDER --rounds {args.rounds}`",
        "",
    ]
    if args.out:
        args.out.write_text("\n".join(head + lines) + "\n")


if __name__ == "__main__":
    main()
