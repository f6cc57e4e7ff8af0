"""Compares the program on real data with stored labels of scikit-learn, on every path; data of many dimensions run on
the default path only. Skips (77) if the data are missing."""
import csv
import hashlib
import itertools
import os
import struct
import sys
import tempfile
from pathlib import Path

from support import npy_labels, run, summary

PATHS = [[], ["--strategy", "table"], ["--method", "each", "--threads", "4"],
         ["--table-format", "csr", "--batch-pairs", "5000"], ["--kernel", "global"]]


def has_digest(row, labels):
    return hashlib.sha256(struct.pack(f"<{len(labels)}i", *labels)).hexdigest() == row["labels_sha256"]


def wrong_variants(group, columns, has_labels, *words):
    """Returns how many variants of a sweep differ from the rows of `group`: in a column, or in labels that
    has_labels(row, labels) refuses."""
    with tempfile.TemporaryDirectory() as out:
        p = run("sweep", *words, "--out", out, "--variants", ",".join(f"{r['eps']}:{r['minpts']}" for r in group))
        if p.returncode != 0:
            print(f"{words}: {p.stderr}")
        found = summary(out) if p.returncode == 0 else {}
        wrong = 0
        for expected in group:
            row = found.get((float(expected["eps"]), int(expected["minpts"])))
            if (row is None or any(int(row[c]) != int(expected[c]) for c in columns)
                    or not has_labels(expected, npy_labels(Path(out) / row["labels"]))):
                wrong += 1
                print(f"{words} eps {expected['eps']} minpts {expected['minpts']}: differs")
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
                file, table, columns = key
                words = [folder / file, "--on-nan", "drop", *path]
                words += ["--columns", columns.replace("+", ",")] if columns else []
                words += ["--table", table] if table else []
                group = list(group)
                total += len(group)
                wrong += wrong_variants(group, ("clusters", "noise", "core", "largest"), has_digest, *words)
    if total == 0:
        return 77
    print(f"{total - wrong} of {total} labellings equal to scikit-learn's")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
