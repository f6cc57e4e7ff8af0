"""How new results take the place of old ones: under a lock, by a journal that survives whoever wrote it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .content import State
from .files import remove, sync_folder, write_text
from .names import MANIFEST, SUMMARY, VARIANT_FOLDERS
from .reading import read_state


@contextmanager
def locked(folder: Path) -> Iterator[Path]:
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


def write_journal(file: Path, manifest: dict[str, Any]) -> None:
    """Says that the replacement is complete: whoever comes next, this package or the program, lets it take its place."""
    begin = json.dumps({"replaces": True, "input": manifest["input"], "run": manifest["runs"][-1]})
    text = "".join(f"{event} {zlib.crc32(event.encode()):08x}\n" for event in (f"begin {begin}", "commit"))
    following = file.with_name("journal.next")
    write_text(following, text)
    os.replace(following, file)
    sync_folder(file.parent)


def finish_replacement(folder: Path, hidden: Path) -> None:
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
    if not (replacement / MANIFEST).exists():
        return
    # What has moved is not in `replacement` any more, but in summary.csv, which may have moved as well.
    following = _read_state_of_replacement(replacement, folder)
    # The old results go first: while their sweep.json is there none of the new ones has moved.
    old = read_state(folder)
    if old is not None:
        for name in old.names:
            remove(folder / name)
        for name in VARIANT_FOLDERS:
            try:
                (folder / name).rmdir()  # those that hold files of others stay
            except OSError:
                pass
        sync_folder(folder)
        remove(folder / MANIFEST)
    for name in VARIANT_FOLDERS:
        if (replacement / name).is_dir():
            (folder / name).mkdir(exist_ok=True)
    for name in following.names:
        try:
            os.rename(replacement / name, folder / name)
        except FileNotFoundError:
            if not (folder / name).exists():
                raise
    for sub in (*(folder / name for name in VARIANT_FOLDERS), folder):
        sync_folder(sub)
    os.rename(replacement / MANIFEST, folder / MANIFEST)
    sync_folder(folder)


def _read_state_of_replacement(replacement: Path, folder: Path) -> State:
    if not (replacement / SUMMARY).exists():
        # It moves last but for sweep.json, so everything else is in its place.
        return State()
    state = read_state(replacement)
    assert state is not None
    return state
