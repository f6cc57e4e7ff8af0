#!/usr/bin/env python3
"""measure_gpu.py --bin FOLDER --sets FOLDER --out FILE.md: measures all figures of the GPU backend in one run.

--bin: folder with bench_gpu and bench_sweep (scripts/pack.sh FOLDER BUILD bench_gpu bench_sweep packs them). --sets:
folder with u2, s1, s5 and u15 as .npy, or gen_points, which makes them. Every measurement is a fresh process. Memory is
touched once before, because a virtual machine may receive it only then. Takes about three minutes on an H200 with 16
cores.
"""
import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys

EPS15 = "0.05:0.75:0.05"
EPS8 = "0.03:0.24:0.03"
MINPTS16 = "2:32:2"


def run(program, *words):
    words = [str(w) for w in words]
    done = subprocess.run([str(program), *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{program.name} {' '.join(words)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def table(out, head, rows):
    out.write("| " + " | ".join(head) + " |\n| " + " | ".join("---" for _ in head) + " |\n")
    for row in rows:
        out.write("| " + " | ".join(str(cell) for cell in row) + " |\n")
    out.write("\n")
    out.flush()


def kernels(args, out):
    out.write("## Kernels\n\nDevice time over all points, medians. `rows` is count, scan and fill together; `packed`"
              " writes bits. Threads as launched. Sorting the pairs of `global` and `shared` comes on top of them.\n\n")
    rows = []
    for name, eps, first in (("s1", 0.2, 0), ("s5", 0.07, 0), ("u2", 0.2, 0), ("u15", 0.07, 5_000_000)):
        r = run(args.bin / "bench_gpu", "kernels", args.sets / f"{name}.npy", eps, "--first", first)
        fill = r["count"]["ms"] + r["scan"]["ms"] + r["fill"]["ms"]
        rows.append([name + (" (first 5 M)" if first else ""), eps, f"{r['points'] / 1e6:.2f} M",
                     f"{r['pairs'] / 1e6:.1f} M", f"{r['cells'] / 1e6:.2f} M", f"{r['index_ms']:.2f}"] +
                    [f"{r[k]['ms']:.2f} ({r[k]['threads'] / 1e6:.1f} M)" for k in ("global", "shared")] +
                    [f"{r['sort']['ms']:.2f}", f"{fill:.2f} ({r['count']['ms']:.2f} + {r['fill']['ms']:.2f}; "
                     f"{r['fill']['threads'] / 1e6:.1f} M)",
                     f"{r['pack']['ms']:.2f}"])
    table(out, ["set", "eps", "points", "pairs", "cells", "index ms", "global ms (threads)", "shared ms (threads)",
                "sort ms", "rows ms (count + fill; threads)", "packed ms"], rows)


def tables(args, out):
    out.write("## Tables into host memory\n\nFrom points on the device to the last row in the host's table: index,"
              " plan, search, sort, copy, offsets. The bus is a copy of 1 GiB to pinned memory, measured in the same"
              " process; its share counts 4 bytes a pair. The first table also touches and pins its memory.\n\n")
    rows = []
    for name, eps in (("u15", 0.15), ("s5", 0.3)):
        for kernel, packed in (("rows", 0), ("global", 0), ("shared", 0), ("rows", 1)):
            r = run(args.bin / "bench_gpu", "tables", args.sets / f"{name}.npy", eps, kernel, "--packed", packed)
            rows.append([name, eps, f"{r['pairs'] / 1e9:.3f} G", "packed" if packed else kernel,
                         f"{r['first_s'] * 1e3:.0f}", f"{r['steady_s'] * 1e3:.1f}", f"{r['gpairs_per_s_first']:.2f}",
                         f"{r['gpairs_per_s_steady']:.2f}", f"{r['bus_gb_per_s']:.1f}",
                         "" if packed else f"{r['share_of_bus'] * 100:.0f} %"])
    table(out, ["set", "eps", "pairs", "kernel", "first ms", "then ms", "first G pairs/s", "then G pairs/s", "bus GB/s",
                "share of bus"], rows)


def sweep(args, name, eps, minpts, *words, repeat=5):
    r = run(args.bin / "bench_sweep", args.sets / f"{name}.npy", eps, minpts, "--repeat", repeat, *words)
    return statistics.median(r["seconds"][1:]), r["search_share"]


def pipelining(args, out):
    out.write("## Pipelining\n\nminpts 4; seconds from points to labels, medians after one run to warm up. One at a"
              " time: one table, one lane. Busy: the share of time in which the GPU searched or sorted, from the trace."
              " csr tables are made in up to three times their memory, all of it touched and pinned anew in every"
              " run.\n\n")
    rows = []
    for name, eps in (("s1", EPS15), ("u2", EPS15), ("u15", EPS8)):
        cpu, _ = sweep(args, name, eps, 4, "--backend", "cpu", repeat=3)
        for form in ("auto", "csr"):
            repeat = 5 if form == "auto" else 3
            one, _ = sweep(args, name, eps, 4, "--backend", "gpu", "--strategy", "table", "--table-format", form,
                           "--tables", 1, "--lanes", 1, repeat=repeat)
            many, busy = sweep(args, name, eps, 4, "--backend", "gpu", "--strategy", "table", "--table-format", form,
                               repeat=repeat)
            rows.append([name, eps, form, f"{one:.3f}", f"{many:.3f}", f"{one / many:.2f}", f"{busy * 100:.0f} %",
                         f"{cpu:.3f}" if form == "auto" else "", f"{cpu / many:.2f}" if form == "auto" else ""])
    table(out, ["set", "eps", "tables", "one at a time s", "pipelined s", "ratio", "busy", "CPU backend s",
                "CPU / GPU"], rows)


def reuse(args, out):
    out.write("## Reuse\n\nSixteen minpts (2 to 32) on one table against sixteen runs, seconds, medians after one run"
              " to warm up.\n\n")
    rows = []
    for name, eps in (("s1", 0.3), ("s1", 0.7), ("u2", 0.7)):
        for backend in ("gpu", "cpu"):
            once, _ = sweep(args, name, eps, MINPTS16, "--backend", backend, repeat=3)
            apart, _ = sweep(args, name, eps, MINPTS16, "--backend", backend, "--separately", 1, repeat=2)
            single, _ = sweep(args, name, eps, 4, "--backend", backend, repeat=3)
            rows.append([name, eps, backend, f"{single:.3f}", f"{once:.3f}", f"{apart:.3f}", f"{apart / once:.1f}"])
    table(out, ["set", "eps", "backend", "one minpts", "sixteen, one table", "sixteen runs", "ratio"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--sets", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", nargs="*", default=["kernels", "tables", "pipelining", "reuse"])
    parser.add_argument("--touch", type=int, default=45, help="GiB of memory to touch first")
    args = parser.parse_args()
    for name in ("u2", "s1", "s5", "u15"):
        if not (args.sets / f"{name}.npy").exists():
            subprocess.run([args.sets / "gen_points", name, args.sets / f"{name}.npy"], check=True)
    subprocess.run([sys.executable, "-c",
                    f"b = bytearray({args.touch} << 30)\nfor i in range(0, len(b), 4096): b[i] = 1"], check=True)
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                         capture_output=True, text=True).stdout.strip()
    with open(args.out, "w", encoding="utf-8") as out:
        out.write(f"# The GPU backend\n\nMachine: {gpu}; {os.cpu_count()} cores, {platform.system()}. Command:"
                  " `benchmarks/measure_gpu.py --bin bundle/bin --sets FOLDER --out FILE`\n\n")
        for part in args.only:
            globals()[part](args, out)


if __name__ == "__main__":
    main()
