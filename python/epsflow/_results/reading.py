"""Reading results folders."""

from __future__ import annotations

import errno
import json
import re
from pathlib import Path

from .content import SUMMARY_HEADER, Origin, State, StoredVariant, variant_of_row
from .files import REMEDY, StoredArray
from .hdf5 import load_hdf5
from .names import MANIFEST, ROWS, SUMMARY, Folder, as_folder, is_results_name, variant_name

# Before label files had checksums.
_OLD_HEADER = SUMMARY_HEADER.rsplit(",", 1)[0]


def load_folder(folder: Folder, unfinished: bool) -> tuple[list[StoredVariant], Origin]:
    path = as_folder(folder)
    if path.is_file():
        return load_hdf5(path)
    if not path.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no folder of results", str(path))
    state = read_state(path)
    if state is None:
        _refuse_without_manifest(path)
        raise AssertionError
    if not state.variants and not (path / SUMMARY).exists():
        raise ValueError(f"{path / SUMMARY} is missing, and {MANIFEST} is there: {REMEDY}")
    if not unfinished:
        _refuse_unfinished(path, state)
    n = int(state.manifest["input"]["points"])
    for name, variant, crc32 in state.variants:
        variant.n = n
        variant.labels_file = StoredArray(path / name, crc32)
        variant.labels_file.require("<i4", n)
        core = "core/" + name.split("/")[1]
        if core in state.files:
            variant.core_file = StoredArray(path / core, state.files[core][1])
            variant.core_file.require("|b1", n)
    rows = StoredArray(path / ROWS, state.files[ROWS][1]).map("<i8", n) if ROWS in state.files else None
    return [variant for _, variant, _ in state.variants], Origin(input=state.manifest["input"], rows=rows)


def _refuse_without_manifest(folder: Path) -> None:
    if (folder / "sweep.h5").is_file():
        raise ValueError(f"{folder} has no {MANIFEST}, but a sweep.h5: load that, epsflow.load({str(folder / 'sweep.h5')!r})")
    if (folder / ".epsflow").is_dir():
        raise ValueError(
            f"{folder} holds no finished results yet: a run is writing there, or was killed; `epsflow sweep … --resume` goes on"
        )
    raise ValueError(f"{folder} is no folder of results: it has no {MANIFEST}, which `epsflow sweep` and save() write")


def _refuse_unfinished(folder: Path, state: State) -> None:
    ways = f"epsflow.load({str(folder)!r}, unfinished=True) takes what is finished, and `epsflow sweep … --resume` makes the rest"
    if (folder / ".epsflow" / "journal").exists():
        raise ValueError(f"{folder} is not finished, a run is writing there or was killed: {ways}")
    if state.status != "complete":
        reason = state.manifest.get("reason")
        because = f" ({reason})" if reason else ""
        raise ValueError(f"{folder} is not finished, {MANIFEST} says {state.status!r}{because}: {ways}")


def read_state(folder: Path) -> State | None:
    """Nothing where there is no sweep.json. Raises ValueError for one that epsflow did not write."""
    file = folder / MANIFEST
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
        if not is_results_name(name):
            raise ValueError(f"{file} names {name!r}, which epsflow never writes")
    state = State(manifest, dict(files))
    if "files" not in manifest:  # as version 0.1.0 wrote it
        state.files["trace.json"] = (0, None)
    state.variants = _read_summary(folder / SUMMARY)
    return state


def _read_summary(file: Path) -> list[tuple[str, StoredVariant, str | None]]:
    """Nothing where there is none: the removal of results ends with it and then sweep.json, and may be cut off between the two."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except UnicodeDecodeError:
        raise ValueError(f"{file} was not written by epsflow, or is damaged") from None
    if not lines or lines[0] not in (SUMMARY_HEADER, _OLD_HEADER):
        raise ValueError(f"{file} was not written by epsflow, or is damaged: its first line is {lines[:1]!r}")
    return [_parse_row(file, number, line) for number, line in enumerate(lines[1:], start=2)]


def _parse_row(file: Path, number: int, line: str) -> tuple[str, StoredVariant, str | None]:
    fields = line.split(",")
    try:
        counts = [int(value) for value in fields[1:7]]
        variant = variant_of_row(float(fields[0]), counts, float(fields[7]))
        name = fields[8]
        crc32 = fields[9] if len(fields) > 9 and fields[9] else None
        whole = len(fields) <= 10 and (crc32 is None or re.fullmatch("[0-9a-f]{8}", crc32))
        if not whole or name != variant_name("labels", variant.eps, variant.min_samples):
            raise ValueError
    except (ValueError, IndexError, TypeError):
        raise ValueError(f"{file}, line {number}, is damaged: {line!r} is no variant; move the folder away, and make it again") from None
    return name, variant, crc32
