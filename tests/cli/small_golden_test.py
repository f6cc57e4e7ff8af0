"""Compares the program on the small golden set with scikit-learn's labels, on every path. Argument: tests/golden."""
import csv
import itertools
import sys
from pathlib import Path

from golden_test import wrong_variants
from support import npy

FOLDER = Path(sys.argv[1])


def paths(dims):
    for strategy in ("auto", "table", "direct"):
        yield ["--strategy", strategy]
    for kernel, form, method in itertools.product(("rows", "global", "shared"), ("auto", "csr", "packed"),
                                                  ("nested", "each")):
        if form == "packed" and (kernel != "rows" or dims > 3):
            continue
        yield ["--kernel", kernel, "--table-format", form, "--method", method]


def main():
    wrong = total = 0
    with open(FOLDER / "golden.csv", newline="") as f:
        sets = [(name, list(group)) for name, group in itertools.groupby(csv.DictReader(f), key=lambda r: r["set"])]
    for name, group in sets:
        expected = npy(FOLDER / f"{name}.labels.npy", "|i1")
        n = len(expected) // len(group)
        for v, row in enumerate(group):
            row["labels"] = expected[v * n:(v + 1) * n]
        for path in paths(int(group[0]["dims"])):
            total += len(group)
            wrong += wrong_variants(group, ("clusters", "noise", "core"), lambda row, labels: labels == row["labels"],
                                    FOLDER / f"{name}.npy", *path, "--backend", "cpu")
    print(f"{total - wrong} of {total} labellings equal to scikit-learn's")
    return 1 if wrong or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
