"""Puts functions of epsflow in place of the originals, now or when their modules are imported."""

from __future__ import annotations

import functools
import os
import sys
import threading
from contextlib import AbstractContextManager, ExitStack
from importlib import import_module
from typing import Any, Callable, Optional

# The modules that hold the originals, and those here that replace them.
_REPLACED_BY = {
    "sklearn.cluster._dbscan": "_dbscan",
    "sklearn.cluster._hdbscan.hdbscan": "_sklearn_hdbscan",
    "hdbscan.hdbscan_": "_hdbscan",
    "hdbscan.prediction": "_predictions",
}
# A process that is started with this variable is accelerated (epsflow_accel_start.py).
_VARIABLE = "EPSFLOW_ACCEL"

_MIN_ROWS = 50

_lock = threading.RLock()
_undo: list[Callable[[], None]] = []
_is_enabled = False
_min_rows: Optional[int] = None


def enable(*, min_rows: Optional[int] = None) -> AbstractContextManager[object]:
    """Let epsflow do the work of scikit-learn's and hdbscan's clustering in this process and those that it starts.

    Parameters
    ----------
    min_rows : int, default=50
        Leave fits of fewer rows to the original, which is as fast there, unless X is on a GPU.

    Returns
    -------
    context manager
        At its end the former state returns, once: `with epsflow.accel.enable(): …`.

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
        former = ExitStack()  # restores the former state at the end of a `with` statement
        former.callback(functools.partial(enable, min_rows=_min_rows) if _is_enabled else disable)
        _min_rows = min_rows
        os.environ[_VARIABLE] = "1" if min_rows is None else f"min_rows={min_rows}"
        if _finder not in sys.meta_path:
            sys.meta_path.insert(0, _finder)
        if not _is_enabled:
            _is_enabled = True
            for name in _REPLACED_BY:
                if name in sys.modules:
                    _replace_in(sys.modules[name])
    return former


def disable() -> None:
    """Put the originals back. Calls that run go on, and models that were fitted stay as they are."""
    global _is_enabled
    with _lock:
        os.environ.pop(_VARIABLE, None)
        _is_enabled = False
        _undo_down_to(0)
        if _finder in sys.meta_path:
            sys.meta_path.remove(_finder)


def least_rows() -> int:
    """Returns the number of rows from which a fit is done by epsflow: min_rows of enable(), or its default."""
    return _MIN_ROWS if _min_rows is None else _min_rows


def put(owner: Any, name: str, value: Any) -> None:
    """Sets an attribute of a module, class or function until `disable`. Raises AttributeError if it does not exist."""
    original = getattr(owner, name)
    setattr(owner, name, value)
    _undo.append(lambda: setattr(owner, name, original))


def _undo_down_to(count: int) -> None:
    """Restores attributes that put() has set, the last first, until `count` of them are left."""
    while len(_undo) > count:
        _undo.pop()()


def _replace_in(module: Any) -> None:
    """Puts the replacements into a module. A version of it that they do not fit stays as it is. Raises nothing."""
    before = len(_undo)
    try:
        replacements = import_module(f".{_REPLACED_BY[module.__name__]}", __package__)
        if all(hasattr(module, name) for name in replacements.NEEDS):
            replacements.put_into(module)
    except Exception:  # an import by the program must not fail for it
        _undo_down_to(before)


class _Finder:
    """Finds the modules of the originals by the other finders, and puts the replacements in when they are executed."""

    def __init__(self) -> None:
        self._local = threading.local()

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        # Another finder, which searches all others, may call this one again.
        if name not in _REPLACED_BY or getattr(self._local, "is_searching", False):
            return None
        self._local.is_searching = True
        try:
            for finder in sys.meta_path:
                find = getattr(finder, "find_spec", None)
                spec = None if finder is self or find is None else find(name, path, target)
                if spec is not None:
                    if hasattr(spec.loader, "exec_module"):
                        spec.loader = _Loader(spec.loader)
                    return spec
        finally:
            self._local.is_searching = False
        return None


class _Loader:
    """Loads a module as another loader does, and then puts the replacements into it."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec) if hasattr(self._loader, "create_module") else None

    def exec_module(self, module: Any) -> None:
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        with _lock:
            if _is_enabled:
                _replace_in(module)


_finder: Any = _Finder()
