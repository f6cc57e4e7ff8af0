"""Which compiled module epsflow runs on: its own, for the CPU, or that of a package epsflow-cuda12 or epsflow-cuda13 beside it.

Those hold the same module built with CUDA, which searches on the CPU, too, and are of use with epsflow of the same version alone.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import sys
import warnings

_NEWEST_FIRST = (13, 12)  # the versions of CUDA that there are packages for


def driver_version() -> int:
    """The newest version of CUDA that the driver here knows, such as 13; 0 without a driver."""
    try:
        version = ctypes.c_int(0)
        failed = ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
    except (OSError, AttributeError):
        return 0
    return 0 if failed else version.value // 1000


def _is_of_use(cuda: int) -> bool:
    """Whether the package for this version of CUDA is there, and of epsflow's version. Warns where it is of another."""
    if importlib.util.find_spec(f"epsflow_cuda{cuda}") is None:
        return False
    from importlib.metadata import PackageNotFoundError, version

    name = f"epsflow-cuda{cuda}"
    try:
        there, wanted = version(name), version("epsflow")
    except PackageNotFoundError:  # a folder that happens to have this name
        return False
    if there != wanted:
        warnings.warn(
            f"{name} {there} is not used, as epsflow is {wanted}; without it there is no GPU: pip install {name}=={wanted}",
            RuntimeWarning,
            stacklevel=2,
        )
    return there == wanted


def choose() -> str | None:
    """The package that has the module with CUDA; None for epsflow's own.

    Of several, the newest that the driver knows; where it knows none, the oldest, whose list of backends says what is wrong.
    """
    found = [cuda for cuda in _NEWEST_FIRST if _is_of_use(cuda)]
    if not found:
        return None
    known = driver_version()
    return f"epsflow_cuda{next((cuda for cuda in found if cuda <= known), found[-1])}"


def put_in_place() -> None:
    """Makes `from . import _core` give what choose() chose. Called once, before anything imports it."""
    chosen = choose()
    if chosen is not None:
        try:
            core = importlib.import_module(f"{chosen}._core")
        except ImportError as error:
            name = chosen.replace("_", "-")
            warnings.warn(f"{name} cannot be loaded, so there is no GPU: {error}; install it again, or leave it out", RuntimeWarning, stacklevel=2)
            return
        sys.modules[f"{__package__}._core"] = core
        setattr(sys.modules[str(__package__)], "_core", core)
