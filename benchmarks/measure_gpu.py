#!/usr/bin/env python3
"""Measures the figures of the GPU backend with the program `bench`. Prints Markdown. Takes about three minutes on an
H200 with 16 cores."""

import statistics
import subprocess
import sys
from pathlib import Path

from bench import BENCH, main, make_sets, output, table

EPS15 = "0.05:0.75:0.05"
EPS8 = "0.03:0.24:0.03"
MINPTS16 = "2:32:2"


def kernels(run):
    print("## Kernels\n\nDevice time over all points, medians. `rows` is count, scan and fill together; `packed`"
          " writes bits. Threads as launched. Sorting the pairs of `global` and `shared` comes on top of them.\n")
    row = table("set", "eps", "points", "pairs", "cells", "index ms", "global ms (threads)", "shared ms (threads)",
                "sort ms", "rows ms (count + fill; threads)", "packed ms")
    for name, eps, first in (("s1", 0.2, 0), ("s5", 0.07, 0), ("u2", 0.2, 0), ("u15", 0.07, 5_000_000)):
        r = run("kernels", name, eps, "--first", first)
        fill = r["count"]["ms"] + r["scan"]["ms"] + r["fill"]["ms"]
        row(name + (" (first 5 M)" if first else ""), eps, f"{r['points'] / 1e6:.2f} M", f"{r['pairs'] / 1e6:.1f} M",
            f"{r['cells'] / 1e6:.2f} M", f"{r['index_ms']:.2f}",
            *(f"{r[k]['ms']:.2f} ({r[k]['threads'] / 1e6:.1f} M)" for k in ("global", "shared")),
            f"{r['sort']['ms']:.2f}", f"{fill:.2f} ({r['count']['ms']:.2f} + {r['fill']['ms']:.2f}; "
            f"{r['fill']['threads'] / 1e6:.1f} M)", f"{r['pack']['ms']:.2f}")


def tables(run):
    print("## Tables into host memory\n\nFrom points on the device to the last row in the host's table: index,"
          " plan, search, sort, copy, offsets. The bus is a copy of 1 GiB to pinned memory, measured in the same"
          " process; its share counts 4 bytes a pair. The first table also touches and pins its memory.\n")
    row = table("set", "eps", "pairs", "kernel", "first ms", "then ms", "first G pairs/s", "then G pairs/s", "bus GB/s",
                "share of bus")
    for name, eps in (("u15", 0.15), ("s5", 0.3)):
        for kernel, packed in (("rows", 0), ("global", 0), ("shared", 0), ("rows", 1)):
            r = run("tables", name, eps, kernel, "--packed", packed)
            row(name, eps, f"{r['pairs'] / 1e9:.3f} G", "packed" if packed else kernel, f"{r['first_s'] * 1e3:.0f}",
                f"{r['steady_s'] * 1e3:.1f}", f"{r['gpairs_per_s_first']:.2f}", f"{r['gpairs_per_s_steady']:.2f}",
                f"{r['bus_gb_per_s']:.1f}", "" if packed else f"{r['share_of_bus'] * 100:.0f} %")


def sweep(run, name, eps, minpts, *words, repeat=5):
    """Returns the median seconds after one run to warm up, and the share of the last run that searched."""
    r = run("sweep", name, eps, minpts, "--repeat", repeat, *words)
    return statistics.median(r["seconds"][1:]), r["search_share"]


def pipelining(run):
    print("## Pipelining\n\nminpts 4; seconds from points to labels, medians after one run to warm up. One at a"
          " time: one table, one lane. Busy: the share of time in which the GPU searched or sorted, from the trace."
          " csr tables are made in up to three times their memory, all of it touched and pinned anew in every run.\n")
    row = table("set", "eps", "tables", "one at a time s", "pipelined s", "ratio", "busy", "CPU backend s", "CPU / GPU")
    for name, eps in (("s1", EPS15), ("u2", EPS15), ("u15", EPS8)):
        cpu, _ = sweep(run, name, eps, 4, "--backend", "cpu", repeat=3)
        for form, repeat in (("auto", 5), ("csr", 3)):
            how = ["--backend", "gpu", "--strategy", "table", "--table-format", form]
            one, _ = sweep(run, name, eps, 4, *how, "--tables", 1, "--lanes", 1, repeat=repeat)
            many, busy = sweep(run, name, eps, 4, *how, repeat=repeat)
            row(name, eps, form, f"{one:.3f}", f"{many:.3f}", f"{one / many:.2f}", f"{busy * 100:.0f} %",
                f"{cpu:.3f}" if form == "auto" else "", f"{cpu / many:.2f}" if form == "auto" else "")


def reuse(run):
    print("## Reuse\n\nSixteen minpts (2 to 32) on one table against sixteen runs, seconds, medians after one run"
          " to warm up.\n")
    row = table("set", "eps", "backend", "one minpts", "sixteen, one table", "sixteen runs", "ratio")
    for name, eps in (("s1", 0.3), ("s1", 0.7), ("u2", 0.7)):
        for backend in ("gpu", "cpu"):
            once, _ = sweep(run, name, eps, MINPTS16, "--backend", backend, repeat=3)
            apart, _ = sweep(run, name, eps, MINPTS16, "--backend", backend, "--separately", 1, repeat=2)
            single, _ = sweep(run, name, eps, 4, "--backend", backend, repeat=3)
            row(name, eps, backend, f"{single:.3f}", f"{once:.3f}", f"{apart:.3f}", f"{apart / once:.1f}")


PARTS = {part.__name__: part for part in (kernels, tables, pipelining, reuse)}


def gpu(bench=BENCH, sets=".", only=tuple(PARTS), touch=45):
    """Kernels, tables, pipelining and reuse, each measurement in a fresh process.

    sets: folder with u2, s1, s5 and u15 as .npy, or gen_points, which makes them. touch: GiB of memory to touch first,
    because a virtual machine may receive it only then.
    """
    folder = Path(sets)
    make_sets(folder, "u2", "s1", "s5", "u15")
    subprocess.run([sys.executable, "-c", f"b = bytearray({touch} << 30)\nfor i in range(0, len(b), 4096): b[i] = 1"],
                   check=True)
    print(subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                         capture_output=True, text=True).stdout)
    for part in only:
        PARTS[part](lambda case, name, *words: output([bench, case, folder / f"{name}.npy", *words]))
        print()


if __name__ == "__main__":
    main(__doc__, gpu)
