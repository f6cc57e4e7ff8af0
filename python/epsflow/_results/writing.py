"""Writing results folders: everything aside, and into its place when it is complete."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np

from .content import SUMMARY_HEADER, Origin, State
from .files import sync_folder, write_npy, write_text
from .names import MANIFEST, ROWS, SUMMARY, VARIANT_FOLDERS, Folder, as_folder, format_number, variant_name
from .reading import read_state
from .replacing import finish_replacement, locked, write_journal


def save_folder(folder: Folder, variants: list[Any], origin: Origin, version: str, overwrite: bool) -> None:
    """variants: each as epsflow._core.Result. Everything is written aside, and takes its place when it is complete."""
    if not variants:
        raise ValueError("there are no variants to save")
    path = as_folder(folder)
    if path.exists() and not path.is_dir():
        raise FileExistsError(errno.EEXIST, "is no folder; move it away, or choose another folder", str(path))
    for name in (".epsflow", *VARIANT_FOLDERS):
        inside = path / name
        if inside.is_symlink() or inside.exists() and not inside.is_dir():
            raise FileExistsError(errno.EEXIST, "is no folder of its own; move it away, or choose another folder", str(inside))
    with locked(path) as hidden:
        finish_replacement(path, hidden)
        old = read_state(path)
        if old is not None and not overwrite:
            raise FileExistsError(
                errno.EEXIST, "holds results already; save(…, overwrite=True) replaces them, or choose another folder", str(path)
            )
        replacement = hidden / "replacement"
        shutil.rmtree(replacement, ignore_errors=True)  # of a run that was killed before it was complete
        try:
            state = _write_all(replacement, path, old, variants, origin, version)
            write_journal(hidden / "journal", state.manifest)
        except BaseException:
            shutil.rmtree(replacement, ignore_errors=True)
            raise
        finish_replacement(path, hidden)


def _write_all(
    replacement: Path, folder: Path, old: State | None, variants: list[Any], origin: Origin, version: str
) -> State:
    owned = {*old.names, MANIFEST} if old is not None else set()
    state = State()
    with_core = all(len(v.core) == len(v.labels) for v in variants)
    names = [variant_name("labels", v.eps, v.min_samples) for v in variants]
    files = [SUMMARY, MANIFEST, *names]
    files += ["core/" + name.split("/")[1] for name in names] if with_core else []
    files += [ROWS] if origin.rows is not None else []
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
        crc32 = write_npy(replacement / name, v.labels)[1]
        counts = f"{v.clusters},{v.noise},{v.core_count},{v.border},{v.largest}"
        rows.append(f"{format_number(v.eps)},{v.min_samples},{counts},{v.seconds:.6f},{name},{crc32}\n")
        if with_core:
            core = "core/" + name.split("/")[1]
            state.files[core] = write_npy(replacement / core, v.core.view(np.bool_))
    if origin.rows is not None:
        state.files[ROWS] = write_npy(replacement / ROWS, origin.rows)
    state.manifest = _manifest_of(variants, origin, version, state.files)
    write_text(replacement / MANIFEST, json.dumps(state.manifest, indent=2, ensure_ascii=False) + "\n")
    write_text(replacement / SUMMARY, SUMMARY_HEADER + "\n" + "".join(rows))
    for sub in (replacement / "labels", replacement / "core", replacement):
        sync_folder(sub)
    return state


def _manifest_of(
    variants: list[Any], origin: Origin, version: str, files: dict[str, tuple[int, str | None]]
) -> dict[str, Any]:
    options = {
        "eps": ",".join(dict.fromkeys(format_number(v.eps) for v in variants)),
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
