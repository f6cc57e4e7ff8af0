"""Puts functions of epsflow in place of the originals, now or when their modules are imported."""

from __future__ import annotations

import os
import sys
import threading
from importlib import import_module
from typing import Any, Callable, Optional

# The modules that hold the originals, and those here that replace them.
_REPLACED_BY = {
    "sklearn.cluster._dbscan": "_dbscan",
    "sklearn.cluster._hdbscan.hdbscan": "_sklearn_hdbscan",
    "hdbscan.hdbscan_": "_hdbscan",
    "hdbscan.prediction": "_predictions",
}
# A process that is started with this variable is accelerated (epsflow_accel.pth). Its value is min_rows, or empty.
_VARIABLE = "EPSFLOW_ACCEL"

_MIN_ROWS = 50

_lock = threading.RLock()
_undo: list[Callable[[], None]] = []
_is_enabled = False
_min_rows: Optional[int] = None


class _Enabled:
    """Restores the former state at the end of a `with` statement."""

    def __init__(self, was_enabled: bool, min_rows: Optional[int]) -> None:
        self._before = was_enabled, min_rows

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: Any) -> None:
        was_enabled, min_rows = self._before
        if was_enabled:
            enable(min_rows=min_rows)
        else:
            disable()


def enable(*, min_rows: Optional[int] = None) -> _Enabled:
    """Let epsflow do the work of scikit-learn's and hdbscan's clustering in this process and those that it starts.

    Parameters
    ----------
    min_rows : int, default=50
        Leave fits of fewer rows to the original, which is as fast there.

    Returns
    -------
    context manager
        At its end the former state returns: `with epsflow.accel.enable(): …`.

    Raises
    ------
    ValueError, TypeError
        If min_rows is not a whole number from 0 on.
    """
    global _is_enabled, _min_rows
    from .._parameters import as_count

    if min_rows is not None and min_rows != 0:
        as_count(min_rows, "min_rows")
    with _lock:
        state = _Enabled(_is_enabled, _min_rows)
        _min_rows = min_rows
        os.environ[_VARIABLE] = "" if min_rows is None else str(min_rows)
        if not _is_enabled:
            _is_enabled = True
            sys.meta_path.insert(0, _finder)
            for name in _REPLACED_BY:
                if name in sys.modules:
                    _replace_in(sys.modules[name])
    return state


def disable() -> None:
    """Put the originals back. Calls that run go on, and models that were fitted stay as they are."""
    global _is_enabled
    with _lock:
        os.environ.pop(_VARIABLE, None)
        if not _is_enabled:
            return
        _is_enabled = False
        sys.meta_path.remove(_finder)
        while _undo:
            _undo.pop()()


def least_rows() -> int:
    """Returns the number of rows from which a fit is replaced."""
    return _MIN_ROWS if _min_rows is None else _min_rows


def put(owner: Any, name: str, value: Any) -> None:
    """Sets an attribute until `disable`."""
    original = getattr(owner, name)
    setattr(owner, name, value)
    _undo.append(lambda: setattr(owner, name, original))


def _replace_in(module: Any) -> None:
    """Puts the replacements into a module. A version of it that lacks a name of theirs stays as it is."""
    replacements = import_module(f".{_REPLACED_BY[module.__name__]}", __package__)
    if all(hasattr(module, name) for name in replacements.NEEDS):
        replacements.put_into(module)


class _Finder:
    """Finds the modules of the originals by the other finders, and has them replaced as soon as they are executed."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name not in _REPLACED_BY:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                _replace_after_execution(spec.loader)
            if spec is not None:
                return spec
        return None


def _replace_after_execution(loader: Any) -> None:
    execute = loader.exec_module

    def exec_module(module: Any) -> None:
        execute(module)
        with _lock:
            if _is_enabled:
                _replace_in(module)

    loader.exec_module = exec_module  # of this loader alone: each module has its own


_finder: Any = _Finder()
