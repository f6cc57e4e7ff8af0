#!/usr/bin/env python3
"""Compares the program on real data with stored labels of scikit-learn, on every path; data of many dimensions run on
the default path only. Skips (77) if the data are missing."""
import csv
import hashlib
import itertools
import os
import sys
import tempfile
from pathlib import Path

from support import npy_labels, run, summary

PATHS = [
    [],
    ["--strategy", "table"],
    ["--method", "each", "--threads", "4"],
    ["--table-format", "csr", "--batch-pairs", "5000"],
    ["--kernel", "global"],
]


def wrong_of_file(key, group, folder, path):
    """Returns how many labellings of one file differ on one path."""
    file, table, columns = key
    wrong = 0
    with tempfile.TemporaryDirectory() as out:
        words = ["sweep", folder / file, "--out", out, "--on-nan", "drop", *path, "--variants",
                 ",".join(f"{r['eps']}:{r['minpts']}" for r in group)]
        words += ["--columns", columns.replace("+", ",")] if columns else []
        words += ["--table", table] if table else []
        p = run(*words)
        if p.returncode != 0:
            print(f"{file} {path}: {p.stderr}")
        found = summary(out) if p.returncode == 0 else {}
        for expected in group:
            row = found.get((float(expected["eps"]), int(expected["minpts"])))
            good = row is not None and all(
                int(row[c]) == int(expected[c]) for c in ("clusters", "noise", "core", "largest"))
            if good:
                labels = npy_labels(Path(out) / row["labels"])
                raw = b"".join(v.to_bytes(4, "little", signed=True) for v in labels)
                good = hashlib.sha256(raw).hexdigest() == expected["labels_sha256"]
            if not good:
                wrong += 1
                print(f"{file} eps {expected['eps']} minpts {expected['minpts']} {path}: differs")
    return wrong


def main():
    data = Path(os.environ.get("EPSFLOW_TEST_DATA", sys.argv[1]))
    wrong = total = 0
    for golden, folder, paths in ((data / "golden.csv", data, PATHS), (data / "golden_high.csv", data / "high", [[]])):
        if not golden.exists():
            print(f"skipped: no {golden.name} in {data}; set EPSFLOW_TEST_DATA")
            continue
        with open(golden, newline="") as f:
            rows = list(csv.DictReader(f))
        for path in paths:
            for key, group in itertools.groupby(rows, key=lambda r: (r["file"], r["table"], r["columns"])):
                group = list(group)
                total += len(group)
                wrong += wrong_of_file(key, group, folder, path)
    if total == 0:
        return 77
    print(f"{total - wrong} of {total} labellings equal to scikit-learn's")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
