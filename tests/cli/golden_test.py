#!/usr/bin/env python3
"""The program over real data against stored labels of scikit-learn, on every path. Skips (77) without the data."""
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


def main():
    folder = Path(os.environ.get("EPSFLOW_TEST_DATA", sys.argv[1]))
    if not (folder / "golden.csv").exists():
        print(f"skipped: no golden.csv in {folder}; set EPSFLOW_TEST_DATA")
        return 77
    rows = list(csv.DictReader(open(folder / "golden.csv")))
    wrong = total = 0
    for path in PATHS:
        for key, group in itertools.groupby(rows, key=lambda r: (r["file"], r["table"], r["columns"])):
            group = list(group)
            file, table, columns = key
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
                    total += 1
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
    print(f"{total - wrong} of {total} labellings equal to scikit-learn's")
    return 1 if wrong or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
