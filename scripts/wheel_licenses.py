#!/usr/bin/env python3
"""Checks that each wheel contains the project's licence and THIRD_PARTY_LICENSES.txt, and that the latter names every
library that auditwheel has put into the wheel: wheel_licenses.py WHEEL ..."""
import pathlib
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUNDLED = "THIRD_PARTY_LICENSES.txt"


def findings(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        for name in ("LICENSE", BUNDLED):
            there = [entry for entry in names if entry.endswith(f".dist-info/licenses/{name}")]
            if not there:
                yield f"{name} is not in it"
            elif archive.read(there[0]) != (ROOT / name).read_bytes():
                yield f"its {name} is another than that of the project"
    known = (ROOT / BUNDLED).read_text(encoding="utf-8").replace(",", " ").split()
    for entry in names:
        folder, _, name = entry.rpartition("/")
        library = name.split(".so")[0].rsplit("-", 1)[0]  # example: libtbb-4d79fbbd.so.12.8
        if folder.endswith(".libs") and library and library not in known:
            yield f"it has {name}, and {BUNDLED} does not name {library}: add its licence"


def main():
    wheels = sys.argv[1:]
    if not wheels:
        sys.exit("usage: wheel_licenses.py WHEEL ...")
    found = [f"{wheel}: {text}" for wheel in wheels for text in findings(wheel)]
    for text in found:
        print(text, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
