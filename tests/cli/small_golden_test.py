#!/usr/bin/env python3
"""Compares the program on the small golden set with scikit-learn's labels, on every path. Argument: tests/golden."""
import csv
import itertools
import struct
import sys
import tempfile
from pathlib import Path

from support import npy_labels, run, summary

FOLDER = Path(sys.argv[1])


def paths(dims):
    for strategy in ("auto", "table", "direct"):
        yield ["--strategy", strategy]
    for kernel, form, method in itertools.product(("rows", "global", "shared"), ("auto", "csr", "packed"),
                                                  ("nested", "each")):
        if form == "packed" and (kernel != "rows" or dims > 3):
            continue
        yield ["--kernel", kernel, "--table-format", form, "--method", method]


def bytes_of_npy(path):
    """Returns the int8 values of an NPY file."""
    raw = path.read_bytes()
    assert b"'|i1'" in raw[:128], raw[:128]
    values = raw[10 + struct.unpack("<H", raw[8:10])[0]:]
    return struct.unpack(f"<{len(values)}b", values)


def wrong_variants(name, group, expected, path):
    """Returns how many labellings of a set differ on one path."""
    with tempfile.TemporaryDirectory() as out:
        p = run("sweep", FOLDER / f"{name}.npy", "--out", out, *path, "--backend", "cpu", "--variants",
                ",".join(f"{r['eps']}:{r['minpts']}" for r in group))
        if p.returncode != 0:
            print(f"{name} {path}: {p.stderr}")
            return len(group)
        found = summary(out)
        wrong = 0
        for v, r in enumerate(group):
            row = found[float(r["eps"]), int(r["minpts"])]
            n = len(expected) // len(group)
            good = npy_labels(Path(out) / row["labels"]) == expected[v * n:(v + 1) * n]
            if not good or any(row[c] != r[c] for c in ("clusters", "noise", "core")):
                print(f"{name} eps {r['eps']} minpts {r['minpts']} {path}: differs")
                wrong += 1
        return wrong


def main():
    wrong = total = 0
    with open(FOLDER / "golden.csv", newline="") as f:
        sets = [(name, list(group)) for name, group in itertools.groupby(csv.DictReader(f), key=lambda r: r["set"])]
    for name, group in sets:
        expected = bytes_of_npy(FOLDER / f"{name}.labels.npy")
        for path in paths(int(group[0]["dims"])):
            total += len(group)
            wrong += wrong_variants(name, group, expected, path)
    print(f"{total - wrong} of {total} labellings equal to scikit-learn's")
    return 1 if wrong or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
