"""Runs the program and reads its files, for its tests. It uses only the standard library."""
import ast
import csv
import os
import struct
import subprocess
import tempfile
import unittest
import zipfile
from pathlib import Path

BINARY = os.environ["EPSFLOW_BINARY"]


def run(*words, **kwargs):
    """Returns the finished program, with .returncode, .stdout and .stderr."""
    return subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=120, **kwargs)


def npy_labels(path):
    """Returns the labels of an NPY file as a tuple. Fails if they are not one-dimensional little-endian int32."""
    raw = Path(path).read_bytes()
    assert raw[:8] == b"\x93NUMPY\x01\x00", raw[:8]
    size = struct.unpack("<H", raw[8:10])[0]
    header = raw[10 : 10 + size].decode()
    assert "'descr': '<i4'" in header and (10 + size) % 64 == 0, header
    data = raw[10 + size :]
    n = int(header.split("(")[1].split(",")[0])
    assert len(data) == 4 * n, (len(data), n)
    return struct.unpack(f"<{n}i", data)


def fits_table(columns):
    """Returns a FITS file of float64 columns, each as (name, unit or None, values)."""

    def block(cards):
        text = "".join(f"{key:8}= {value:>20}".ljust(80) for key, value in cards) + "END".ljust(80)
        return text.encode() + b" " * (-len(text) % 2880)

    rows = list(zip(*(values for _, _, values in columns)))
    cards = [("XTENSION", "'BINTABLE'"), ("BITPIX", 8), ("NAXIS", 2), ("NAXIS1", 8 * len(columns)),
             ("NAXIS2", len(rows)), ("PCOUNT", 0), ("GCOUNT", 1), ("TFIELDS", len(columns))]
    for i, (name, unit, _) in enumerate(columns, 1):
        cards += [(f"TTYPE{i}", f"'{name:8}'"), (f"TFORM{i}", "'D       '")]
        cards += [(f"TUNIT{i}", f"'{unit:8}'")] if unit else []
    data = b"".join(struct.pack(f">{len(columns)}d", *row) for row in rows)
    return block([("SIMPLE", "T"), ("BITPIX", 8), ("NAXIS", 0)]) + block(cards) + data + b"\0" * (-len(data) % 2880)


def npz(path):
    """Returns the one-dimensional arrays of an NPZ file by name, as tuples. Fails if a header differs from NumPy's."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        for name in archive.namelist():
            raw = archive.read(name)
            assert name.endswith(".npy") and raw[:8] == b"\x93NUMPY\x01\x00", (name, raw[:8])
            size = struct.unpack("<H", raw[8:10])[0]
            header = ast.literal_eval(raw[10 : 10 + size].decode())
            assert (10 + size) % 64 == 0 and not header["fortran_order"] and len(header["shape"]) == 1, header
            kind = {"<f8": "d", "<u4": "I", "<i4": "i", "<i8": "q"}[header["descr"]]
            arrays[name[:-4]] = struct.unpack(f"<{header['shape'][0]}{kind}", raw[10 + size :])
    return arrays


def summary(folder):
    """Returns the rows of summary.csv by (eps, minpts)."""
    with open(Path(folder) / "summary.csv", newline="") as f:
        return {(float(r["eps"]), int(r["minpts"])): r for r in csv.DictReader(f)}


class ProgramTest(unittest.TestCase):
    """A test with its own folder, and checks of how the program ends."""

    def setUp(self):
        self.folder = Path(self.enterContext_(tempfile.TemporaryDirectory()))

    def enterContext_(self, context):  # unittest has enterContext() since Python 3.11
        value = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return value

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def succeeds(self, *words, **kwargs):
        p = run(*words, **kwargs)
        self.assertEqual(p.returncode, 0, p.stderr)
        return p

    def fails(self, code, parts, *words, **kwargs):
        """Checks that the program ends with `code` and that standard error contains all `parts`."""
        p = run(*words, **kwargs)
        self.assertEqual(p.returncode, code, (p.stdout, p.stderr))
        for part in parts:
            self.assertIn(part, p.stderr)
        self.assertTrue(p.stderr.startswith("epsflow: "), p.stderr)
        return p
