"""Runs the program and reads its files, for its tests. It uses only the standard library."""
import ast
import csv
import io
import json
import os
import resource
import struct
import subprocess
import tempfile
import unittest
import zipfile
from pathlib import Path

BINARY = os.environ["EPSFLOW_BINARY"]
# Two squares with sides of 0.1 have four points each. One point is far away.
SQUARES = "x,y\n0,0\n0.1,0\n0,0.1\n0.1,0.1\n5,5\n5.1,5\n5,5.1\n5.1,5.1\n9,9\n"
# The types of an NPY file that the program writes, with their letters in the module struct.
KINDS = {"<f8": "d", "<u4": "I", "<i4": "i", "<i8": "q", "|b1": "?", "|i1": "b"}


def run(*words, **kwargs):
    """Returns the finished program, with .returncode, .stdout and .stderr."""
    return subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, **{"timeout": 120, **kwargs})


def start(*words, **kwargs):
    """Starts the program and returns the process, with standard error as a pipe and without standard output."""
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([BINARY, *map(str, words)], **{**streams, **kwargs})


def printed_seed():
    """Returns the seed for tests that stop programs at random times, and prints it."""
    seed = int(os.environ.get("EPSFLOW_TEST_SEED", 7))
    print(f"seed {seed} (EPSFLOW_TEST_SEED)")
    return seed


def limit_files(size):
    """Returns a preexec_fn that limits files to `size` bytes, so that writing fails half way, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def array_of(raw, kinds):
    """Returns the values of an NPY file. Fails if they are not one-dimensional and of a given type, or if the header
    differs from NumPy's."""
    assert raw[:8] == b"\x93NUMPY\x01\x00", raw[:8]
    size = struct.unpack_from("<H", raw, 8)[0]
    header = ast.literal_eval(raw[10 : 10 + size].decode())
    assert header["descr"] in kinds and (10 + size) % 64 == 0, header
    assert not header["fortran_order"] and len(header["shape"]) == 1, header
    return struct.unpack(f"<{header['shape'][0]}{KINDS[header['descr']]}", raw[10 + size :])


def npy(path, kind):
    """Returns the values of an NPY file, which must be one-dimensional and of this type, as a tuple."""
    return array_of(Path(path).read_bytes(), [kind])


def npy_labels(path):
    return npy(path, "<i4")


def npz(path):
    """Returns the one-dimensional arrays of an NPZ file by name, as tuples. Fails if a header differs from NumPy's."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None and all(name.endswith(".npy") for name in archive.namelist())
        return {name[:-4]: array_of(archive.read(name), ["<f8", "<u4", "<i4", "<i8"]) for name in archive.namelist()}


def fits_table(columns):
    """Returns a FITS file of columns, each as (name, unit or None, values): float64, or texts of up to 8 characters."""

    def block(cards):
        text = "".join(f"{key:8}= {value:>20}".ljust(80) for key, value in cards) + "END".ljust(80)
        return text.encode() + b" " * (-len(text) % 2880)

    rows = list(zip(*(values for _, _, values in columns)))
    cards = [("XTENSION", "'BINTABLE'"), ("BITPIX", 8), ("NAXIS", 2), ("NAXIS1", 8 * len(columns)),
             ("NAXIS2", len(rows)), ("PCOUNT", 0), ("GCOUNT", 1), ("TFIELDS", len(columns))]
    for i, (name, unit, values) in enumerate(columns, 1):
        cards += [(f"TTYPE{i}", f"'{name:8}'"), (f"TFORM{i}", f"'{'8A' if isinstance(values[0], str) else 'D':8}'")]
        cards += [(f"TUNIT{i}", f"'{unit:8}'")] if unit else []
    data = b"".join(x.ljust(8).encode() if isinstance(x, str) else struct.pack(">d", x) for row in rows for x in row)
    return block([("SIMPLE", "T"), ("BITPIX", 8), ("NAXIS", 0)]) + block(cards) + data + b"\0" * (-len(data) % 2880)


def table(text):
    """Returns the rows of a CSV text by the names of its header."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


def summary(folder):
    """Returns the rows of summary.csv by (eps, minpts)."""
    return {(float(r["eps"]), int(r["minpts"])): r for r in table((Path(folder) / "summary.csv").read_text())}


def manifest(folder):
    """Returns the contents of sweep.json."""
    return json.loads((Path(folder) / "sweep.json").read_text())


def tree(folder):
    """Returns every file below a folder, with its bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


class ProgramTest(unittest.TestCase):
    """A test with its own folder and a path for results there, and checks of how the program ends."""

    PARENT = None  # the folder of temporary files

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=self.PARENT)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "results"

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def write_rows(self, name, header, rows):
        """Writes a table as CSV. header: one text, or None."""
        lines = [header] if header else []
        return self.write(name, "".join(f"{line}\n" for line in [*lines, *(",".join(map(str, row)) for row in rows)]))

    def generated(self, kind, n, *words, name="p.npy"):
        """Returns a file of n generated points."""
        path = self.folder / name
        self.succeeds("generate", kind, "--n", n, *words, "--out", path)
        return path

    def succeeds(self, *words, **kwargs):
        p = run(*words, **kwargs)
        self.assertEqual(p.returncode, 0, p.stderr)
        return p

    def json(self, *words, **kwargs):
        """Returns the result that the program prints as JSON."""
        return json.loads(self.succeeds(*words, "--json", **kwargs).stdout)

    def labels_of(self, command, *words):
        """Returns the labels that cluster, fof or predict writes. It replaces labels.npy."""
        out = self.folder / "labels.npy"
        self.succeeds(command, *words, "--out", out, "--overwrite")
        return npy_labels(out)

    def fails(self, code, parts, *words, **kwargs):
        """Checks that the program ends with `code` and that standard error contains all `parts`."""
        p = run(*words, **kwargs)
        self.assertEqual(p.returncode, code, (p.stdout, p.stderr))
        for part in parts:
            self.assertIn(part, p.stderr)
        self.assertTrue(p.stderr.startswith("epsflow: "), p.stderr)
        return p
