"""Results folders, those that the program writes: reading them, and writing ones that it goes on with.

The rules are those of io/results_folder.hpp: sweep.json and summary.csv name every file with its checksum, and only what they name
is ever replaced or removed; what is not complete lies in FOLDER/.epsflow, with a lock that dies with its process.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, Union

import numpy as np
from numpy.typing import NDArray

Folder = Union[str, "os.PathLike[str]"]

_SUMMARY = "summary.csv"
_MANIFEST = "sweep.json"
_ROWS = "rows.npy"
_FIXED = (_SUMMARY, _MANIFEST, "trace.json", "sweep.h5", _ROWS)
_VARIANT_FOLDERS = ("labels", "core", "labelled")
_VARIANT_FILE = re.compile(r"(?:labels|core)/(eps_[^/]*)\.npy|labelled/(eps_[^/]*)\.(?:csv|fits|h5)")
_STEM = re.compile(r"eps_([0-9.e+-]+)_minpts_([1-9][0-9]*)")
_HEADER = "eps,minpts,clusters,noise,core,border,largest,seconds,labels,crc32"
# Before label files had checksums.
_OLD_HEADER = _HEADER.rsplit(",", 1)[0]
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Origin:
    """Of which points results are, as far as it is known."""

    points: Any = None
    """The array itself; it is looked at when results are saved, for its checksum."""
    input: dict[str, Any] | None = None
    """As a folder describes it."""
    rows: NDArray[np.int64] | None = None
    under: str = ""
    """What labels depend on besides points, eps and min_samples, in the program's words: a metric, weights."""

    def described(self, n: int) -> dict[str, Any]:
        if self.input is not None:
            return self.input
        d, precision, checksum = 0, "float64", "unknown"
        if isinstance(self.points, np.ndarray):
            d, precision, checksum = self.points.shape[1], str(self.points.dtype), _checksum_of(self.points)
        if self.under:
            checksum += ", " + self.under
        return {
            "files": [],
            "checksum": checksum,
            "points": n,
            "dims": d,
            "precision": precision,
            "columns": [],
            "column_numbers": list(range(d)),
            "dropped_rows": 0,
        }


@dataclass
class StoredVariant:
    """A variant in a folder. Its arrays are mapped when they are asked for, and compared with their checksums then, once."""

    eps: float
    min_samples: int
    clusters: int
    noise: int
    core_count: int
    border: int
    largest: int
    seconds: float
    n: int = 0
    labels_file: _File | None = None
    core_file: _File | None = None
    _labels: NDArray[np.int32] | None = None
    _core: NDArray[np.uint8] | None = None

    @property
    def labels(self) -> NDArray[np.int32]:
        if self._labels is None:
            assert self.labels_file is not None
            self._labels = self.labels_file.map("<i4", self.n)
        return self._labels

    @property
    def core(self) -> NDArray[np.uint8]:
        """Empty where the folder does not hold it."""
        if self._core is None:
            self._core = np.empty(0, np.uint8) if self.core_file is None else self.core_file.map("|b1", self.n).view(np.uint8)
        return self._core


@dataclass
class _File:
    path: Path
    crc32: str | None
    """None for files of a version that had no checksums."""

    def require(self, dtype: str, n: int) -> int:
        """Where its values begin. Raises ValueError where it is not a vector of n of these."""
        try:
            with open(self.path, "rb") as file:
                version = np.lib.format.read_magic(file)
                if version != (1, 0):
                    raise ValueError(f"version {version} of NPY")
                shape, fortran, found = np.lib.format.read_array_header_1_0(file)
                begin = file.tell()
                bytes_there = os.fstat(file.fileno()).st_size
        except FileNotFoundError:
            raise ValueError(f"{self.path} is missing, and the folder says that it is there: {_REMEDY}") from None
        except ValueError as error:
            raise ValueError(f"{self.path} is damaged, its head is not as epsflow writes it ({error}): {_REMEDY}") from None
        if shape != (n,) or fortran or found != np.dtype(dtype):
            raise ValueError(f"{self.path} is damaged: it holds {found} of shape {shape}, not {dtype} of shape ({n},): {_REMEDY}")
        wanted = begin + n * found.itemsize
        if bytes_there != wanted:
            raise ValueError(f"{self.path} is damaged: it has {bytes_there} bytes, not {wanted}: {_REMEDY}")
        return begin

    def map(self, dtype: str, n: int) -> NDArray[Any]:
        begin = self.require(dtype, n)
        found = _crc32_of(self.path)
        if self.crc32 is not None and found != self.crc32:
            raise ValueError(f"{self.path} has changed since it was written: its checksum is {found}, not {self.crc32}: {_REMEDY}")
        if n == 0:
            return np.empty(0, dtype)
        return np.memmap(self.path, dtype=dtype, mode="r", offset=begin, shape=(n,)).view(np.ndarray)


_REMEDY = "make it again with `epsflow sweep … --resume`, or with result.save(…, overwrite=True)"


@dataclass
class _State:
    """What a folder says of itself."""

    manifest: dict[str, Any] = field(default_factory=dict)
    files: dict[str, tuple[int, str | None]] = field(default_factory=dict)
    """Bytes and checksum of every file but those below, by name."""
    variants: list[tuple[str, StoredVariant, str | None]] = field(default_factory=list)
    """Name of the label file, what summary.csv says, and its checksum."""

    @property
    def names(self) -> list[str]:
        """Every file of the folder but sweep.json, which stands for the whole."""
        return [name for name, _, _ in self.variants] + list(self.files) + [_SUMMARY]

    @property
    def status(self) -> str:
        return str(self.manifest.get("status", ""))


# ---------------------------------------------------------------- reading


def stored(result: Any) -> StoredVariant:
    """A result of a run with arrays of its own."""
    return StoredVariant(
        eps=float(result.eps),
        min_samples=int(result.min_samples),
        clusters=int(result.clusters),
        noise=int(result.noise),
        core_count=int(result.core_count),
        border=int(result.border),
        largest=int(result.largest),
        seconds=float(result.seconds),
        n=len(result.labels),
        _labels=np.array(result.labels),
        _core=np.array(result.core),
    )


def load_folder(folder: Folder, unfinished: bool) -> tuple[list[StoredVariant], Origin]:
    path = _as_folder(folder)
    if path.is_file():
        return _load_hdf5(path)
    if not path.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no folder of results", str(path))
    state = _read_state(path)
    if state is None:
        _refuse_without_manifest(path)
        raise AssertionError
    if not state.variants and not (path / _SUMMARY).exists():
        raise ValueError(f"{path / _SUMMARY} is missing, and {_MANIFEST} is there: {_REMEDY}")
    if not unfinished:
        _refuse_unfinished(path, state)
    n = int(state.manifest["input"]["points"])
    for name, variant, crc32 in state.variants:
        variant.n = n
        variant.labels_file = _File(path / name, crc32)
        variant.labels_file.require("<i4", n)
        core = "core/" + name.split("/")[1]
        if core in state.files:
            variant.core_file = _File(path / core, state.files[core][1])
            variant.core_file.require("|b1", n)
    rows = _File(path / _ROWS, state.files[_ROWS][1]).map("<i8", n) if _ROWS in state.files else None
    return [variant for _, variant, _ in state.variants], Origin(input=state.manifest["input"], rows=rows)


def _refuse_without_manifest(folder: Path) -> None:
    if (folder / "sweep.h5").is_file():
        raise ValueError(f"{folder} has no {_MANIFEST}, but a sweep.h5: load that, epsflow.load({str(folder / 'sweep.h5')!r})")
    if (folder / ".epsflow").is_dir():
        raise ValueError(f"{folder} holds no finished results yet: a run is writing there, or was killed; `epsflow sweep … --resume` goes on")
    raise ValueError(f"{folder} is no folder of results: it has no {_MANIFEST}, which `epsflow sweep` and save() write")


def _refuse_unfinished(folder: Path, state: _State) -> None:
    ways = f"epsflow.load({str(folder)!r}, unfinished=True) takes what is finished, and `epsflow sweep … --resume` makes the rest"
    if (folder / ".epsflow" / "journal").exists():
        raise ValueError(f"{folder} is not finished, a run is writing there or was killed: {ways}")
    if state.status != "complete":
        reason = state.manifest.get("reason")
        because = f" ({reason})" if reason else ""
        raise ValueError(f"{folder} is not finished, {_MANIFEST} says {state.status!r}{because}: {ways}")


def _read_state(folder: Path) -> _State | None:
    """Nothing where there is no sweep.json. Raises ValueError for one that epsflow did not write."""
    file = folder / _MANIFEST
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise ValueError(f"{file} was not written by epsflow, or is damaged") from None
    try:
        manifest = json.loads(text)
        if manifest["program"] != "epsflow":
            raise KeyError
        int(manifest["input"]["points"]), str(manifest["input"]["checksum"])
        files = {str(entry["name"]): (int(entry["bytes"]), str(entry["crc32"])) for entry in manifest.get("files", [])}
        runs = manifest.get("runs", [])
        if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
            raise KeyError
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{file} was not written by epsflow, or is damaged") from None
    for name in files:
        if not _is_results_name(name):
            raise ValueError(f"{file} names {name!r}, which epsflow never writes")
    state = _State(manifest, dict(files))
    if "files" not in manifest:  # as version 0.1.0 wrote it
        state.files["trace.json"] = (0, None)
    state.variants = _read_summary(folder / _SUMMARY)
    return state


def _read_summary(file: Path) -> list[tuple[str, StoredVariant, str | None]]:
    """Nothing where there is none: the removal of results ends with it and then sweep.json, and may be cut off between the two."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except UnicodeDecodeError:
        raise ValueError(f"{file} was not written by epsflow, or is damaged") from None
    if not lines or lines[0] not in (_HEADER, _OLD_HEADER):
        raise ValueError(f"{file} was not written by epsflow, or is damaged: its first line is {lines[:1]!r}")
    return [_parse_row(file, number, line) for number, line in enumerate(lines[1:], start=2)]


def _parse_row(file: Path, number: int, line: str) -> tuple[str, StoredVariant, str | None]:
    fields = line.split(",")
    try:
        counts = [int(value) for value in fields[1:7]]
        variant = _stored(float(fields[0]), counts, float(fields[7]))
        name = fields[8]
        crc32 = fields[9] if len(fields) > 9 and fields[9] else None
        whole = len(fields) <= 10 and (crc32 is None or re.fullmatch("[0-9a-f]{8}", crc32))
        if not whole or name != _variant_name("labels", variant.eps, variant.min_samples):
            raise ValueError
    except (ValueError, IndexError, TypeError):
        raise ValueError(f"{file}, line {number}, is damaged: {line!r} is no variant; move the folder away, and make it again") from None
    return name, variant, crc32


def _stored(eps: float, counts: list[int], seconds: float) -> StoredVariant:
    min_samples, clusters, noise, core, border, largest = counts
    return StoredVariant(eps, min_samples, clusters, noise, core, border, largest, seconds)


def _load_hdf5(file: Path) -> tuple[list[StoredVariant], Origin]:
    """The sweep.h5 that `epsflow sweep --hdf5` writes."""
    with open(file, "rb") as opened:
        if opened.read(8) != b"\x89HDF\r\n\x1a\n":
            raise ValueError(f"{file} is no folder of results, and no sweep.h5: load the folder that `epsflow sweep --out` named")
    try:
        import h5py
    except ImportError:
        raise ValueError(f"{file} is HDF5, which needs h5py: install h5py, or load the folder that it lies in, {str(file.parent)!r}") from None
    try:
        with h5py.File(file, "r") as opened:
            description = opened.attrs["description"]
            manifest = json.loads(description.decode() if isinstance(description, bytes) else str(description))
            summary = opened["summary"][()]
            labels = opened["labels"][()]
        if len(labels) != len(summary):
            raise KeyError(f"{len(labels)} rows of labels for {len(summary)} variants")
        variants = []
        for row, its_labels in zip(summary, labels):
            counts = [int(row[name]) for name in ("minpts", "clusters", "noise", "core", "border", "largest")]
            variants.append(_stored(float(row["eps"]), counts, float(row["seconds"])))
            variants[-1].n = len(its_labels)
            variants[-1]._labels = its_labels
        return variants, Origin(input=manifest["input"])
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"{file} is no sweep.h5 of epsflow, or is damaged: {error}") from None


# ---------------------------------------------------------------- writing


def save_folder(folder: Folder, variants: list[Any], origin: Origin, version: str, overwrite: bool) -> None:
    """variants: each as epsflow._core.Result. Everything is written aside, and takes its place when it is complete."""
    if not variants:
        raise ValueError("there are no variants to save")
    path = _as_folder(folder)
    if path.exists() and not path.is_dir():
        raise FileExistsError(errno.EEXIST, "is no folder; move it away, or choose another folder", str(path))
    for name in (".epsflow", *_VARIANT_FOLDERS):
        inside = path / name
        if inside.is_symlink() or inside.exists() and not inside.is_dir():
            raise FileExistsError(errno.EEXIST, "is no folder of its own; move it away, or choose another folder", str(inside))
    with _locked(path) as hidden:
        _finish_replacement(path, hidden)
        old = _read_state(path)
        if old is not None and not overwrite:
            raise FileExistsError(
                errno.EEXIST, "holds results already; save(…, overwrite=True) replaces them, or choose another folder", str(path)
            )
        replacement = hidden / "replacement"
        shutil.rmtree(replacement, ignore_errors=True)  # of a run that was killed before it was complete
        try:
            state = _write_all(replacement, path, old, variants, origin, version)
            _write_journal(hidden / "journal", state.manifest)
        except BaseException:
            shutil.rmtree(replacement, ignore_errors=True)
            raise
        _finish_replacement(path, hidden)


def _write_all(
    replacement: Path, folder: Path, old: _State | None, variants: list[Any], origin: Origin, version: str
) -> _State:
    owned = {*old.names, _MANIFEST} if old is not None else set()
    state = _State()
    with_core = all(len(v.core) == len(v.labels) for v in variants)
    names = [_variant_name("labels", v.eps, v.min_samples) for v in variants]
    files = [_SUMMARY, _MANIFEST, *names]
    files += ["core/" + name.split("/")[1] for name in names] if with_core else []
    files += [_ROWS] if origin.rows is not None else []
    for name in files:
        if name not in owned and os.path.lexists(folder / name):
            raise FileExistsError(
                errno.EEXIST, "was not written by epsflow, and is in the way; move it away, or choose another folder", str(folder / name)
            )
    (replacement / "labels").mkdir(parents=True)
    if with_core:
        (replacement / "core").mkdir()
    rows = []
    for v, name in sorted(zip(variants, names), key=lambda pair: (pair[0].eps, pair[0].min_samples)):
        crc32 = _write_npy(replacement / name, v.labels)[1]
        counts = f"{v.clusters},{v.noise},{v.core_count},{v.border},{v.largest}"
        rows.append(f"{_format_number(v.eps)},{v.min_samples},{counts},{v.seconds:.6f},{name},{crc32}\n")
        if with_core:
            core = "core/" + name.split("/")[1]
            state.files[core] = _write_npy(replacement / core, v.core.view(np.bool_))
    if origin.rows is not None:
        state.files[_ROWS] = _write_npy(replacement / _ROWS, origin.rows)
    state.manifest = _manifest_of(variants, origin, version, state.files)
    _write_text(replacement / _MANIFEST, json.dumps(state.manifest, indent=2, ensure_ascii=False) + "\n")
    _write_text(replacement / _SUMMARY, _HEADER + "\n" + "".join(rows))
    for sub in (replacement / "labels", replacement / "core", replacement):
        _sync_folder(sub)
    return state


def _manifest_of(
    variants: list[Any], origin: Origin, version: str, files: dict[str, tuple[int, str | None]]
) -> dict[str, Any]:
    options = {
        "eps": ",".join(dict.fromkeys(_format_number(v.eps) for v in variants)),
        "minpts": ",".join(dict.fromkeys(str(v.min_samples) for v in variants)),
        "interface": "Python",
    }
    run = {
        "status": "complete",
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "seconds": sum(v.seconds for v in variants),
        "version": version,
        "options": options,
        "machine": {},
    }
    head = {name: run[name] for name in ("version", "status", "started", "seconds")}
    return {
        "program": "epsflow",
        **head,
        "variants": len(variants),
        "input": origin.described(len(variants[0].labels)),
        "options": options,
        "machine": {},
        "runs": [run],
        "files": [{"name": name, "bytes": size, "crc32": crc32} for name, (size, crc32) in sorted(files.items())],
    }


@contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    """Makes folder/.epsflow with a lock as the program's, and removes what it made and what is empty."""
    hidden = folder / ".epsflow"
    made = [p for p in (folder, *folder.parents) if not p.exists()]
    hidden.mkdir(parents=True, exist_ok=True)
    file = hidden / "lock"
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever held it before may have removed it between our two steps.
            current = os.path.samestat(os.fstat(descriptor), os.stat(file))
        except FileNotFoundError:
            current = False
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN):
                raise
            current = False
        if not current:
            raise BlockingIOError(
                errno.EWOULDBLOCK, "another process is writing there; wait until it has ended, or choose another folder", str(folder)
            )
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        try:
            yield hidden
        finally:
            file.unlink()
            for empty in (hidden, *made):
                try:
                    empty.rmdir()
                except OSError:
                    break
    finally:
        os.close(descriptor)


def _write_journal(file: Path, manifest: dict[str, Any]) -> None:
    """Says that the replacement is complete: whoever comes next, this package or the program, lets it take its place."""
    begin = json.dumps({"replaces": True, "input": manifest["input"], "run": manifest["runs"][-1]})
    text = "".join(f"{event} {zlib.crc32(event.encode()):08x}\n" for event in (f"begin {begin}", "commit"))
    following = file.with_name("journal.next")
    _write_text(following, text)
    os.replace(following, file)
    _sync_folder(file.parent)


def _finish_replacement(folder: Path, hidden: Path) -> None:
    """Lets a complete replacement take its place. May be repeated after it was killed. Raises ValueError for a run of the
    program that is not complete, whose results save() must not lose."""
    journal = hidden / "journal"
    try:
        lines = journal.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return
    if f"commit {zlib.crc32(b'commit'):08x}" not in lines:
        raise ValueError(f"{folder} holds a run that was killed; `epsflow sweep … --resume` goes on with it, or choose another folder")
    _take_place(hidden / "replacement", folder)
    shutil.rmtree(hidden / "partial", ignore_errors=True)
    shutil.rmtree(hidden / "replacement", ignore_errors=True)
    journal.unlink()


def _take_place(replacement: Path, folder: Path) -> None:
    # Once sweep.json has moved, which is the last step, there is nothing left to do.
    if not (replacement / _MANIFEST).exists():
        return
    # What has moved is not in `replacement` any more, but in summary.csv, which may have moved as well.
    following = _read_state_of_replacement(replacement, folder)
    # The old results go first: while their sweep.json is there none of the new ones has moved.
    old = _read_state(folder)
    if old is not None:
        for name in old.names:
            _remove(folder / name)
        for name in _VARIANT_FOLDERS:
            try:
                (folder / name).rmdir()  # those that hold files of others stay
            except OSError:
                pass
        _sync_folder(folder)
        _remove(folder / _MANIFEST)
    for name in _VARIANT_FOLDERS:
        if (replacement / name).is_dir():
            (folder / name).mkdir(exist_ok=True)
    for name in following.names:
        try:
            os.rename(replacement / name, folder / name)
        except FileNotFoundError:
            if not (folder / name).exists():
                raise
    for sub in (*(folder / name for name in _VARIANT_FOLDERS), folder):
        _sync_folder(sub)
    os.rename(replacement / _MANIFEST, folder / _MANIFEST)
    _sync_folder(folder)


def _read_state_of_replacement(replacement: Path, folder: Path) -> _State:
    if not (replacement / _SUMMARY).exists():
        # It moves last but for sweep.json, so everything else is in its place.
        return _State()
    state = _read_state(replacement)
    assert state is not None
    return state


def _remove(file: Path) -> None:
    try:
        file.unlink()
    except (FileNotFoundError, NotADirectoryError):
        pass


# ---------------------------------------------------------------- names, numbers, bytes


def _as_folder(folder: Folder) -> Path:
    text = os.fspath(folder)
    if not text:
        raise ValueError("the name of the results folder is empty")
    return Path(text)


def _is_results_name(name: str) -> bool:
    if name in _FIXED:
        return True
    found = _VARIANT_FILE.fullmatch(name)
    stem = _STEM.fullmatch(found[1] or found[2]) if found else None
    try:
        return stem is not None and _format_number(float(stem[1])) == stem[1]
    except ValueError:
        return False


def _variant_name(folder: str, eps: float, min_samples: int) -> str:
    return f"{folder}/eps_{_format_number(eps)}_minpts_{min_samples}.npy"


def _format_number(value: float) -> str:
    """As std::to_chars() writes a double: with the fewest characters that give it back, and no exponent where both are as long."""
    _, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    power = len(text) - 1 + exponent
    scientific = text[0] + ("." + text[1:] if len(text) > 1 else "") + f"e{power:+03d}"
    fixed = str(int(value)) if exponent >= 0 else format(Decimal(repr(value)).normalize(), "f")
    return fixed if len(fixed) <= len(scientific) else scientific


def _checksum_of(points: NDArray[Any]) -> str:
    """As the program's, of the points that it reads."""
    n, d = points.shape
    crc32 = zlib.crc32(f"{n}x{d}:{points.itemsize}".encode())
    return f"crc32:{zlib.crc32(_bytes_of(points), crc32):08x}"


def _bytes_of(values: NDArray[Any]) -> Any:
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8)


def _crc32_of(file: Path) -> str:
    crc32 = 0
    with open(file, "rb") as opened:
        while block := opened.read(_BLOCK):
            crc32 = zlib.crc32(block, crc32)
    return f"{crc32:08x}"


class _Summed:
    """Writes to a file, and keeps count."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.bytes = 0
        self.crc32 = 0

    def write(self, data: Any) -> int:
        self.bytes += len(data)
        self.crc32 = zlib.crc32(data, self.crc32)
        return self._file.write(data)


def _write_npy(file: Path, values: NDArray[Any]) -> tuple[int, str]:
    """Bytes and checksum."""
    with open(file, "xb") as opened:
        summed = _Summed(opened)
        np.lib.format.write_array_header_1_0(summed, np.lib.format.header_data_from_array_1_0(values))
        summed.write(_bytes_of(values))
        opened.flush()
        os.fsync(opened.fileno())
    return summed.bytes, f"{summed.crc32:08x}"


def _write_text(file: Path, text: str) -> None:
    with open(file, "w", encoding="utf-8", newline="") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())


def _sync_folder(folder: Path) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
