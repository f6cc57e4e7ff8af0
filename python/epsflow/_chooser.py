"""Chooses the compiled module: epsflow's own, for the CPU, or the one of a package epsflow-cuda12 or epsflow-cuda13.

These packages contain the same module built with CUDA, which also searches on the CPU. Versions must be equal.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import sys
import warnings

_NEWEST_FIRST = (13, 12)  # the versions of CUDA with a package


def driver_version() -> int:
    """Returns the newest version of CUDA that the driver supports, such as 13; 0 without a driver."""
    try:
        version = ctypes.c_int(0)
        failed = ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
    except (OSError, AttributeError):
        return 0
    return 0 if failed else version.value // 1000


def _is_of_use(cuda: int) -> bool:
    """Returns whether the package for this version of CUDA is installed and has the same version as epsflow.
    Warns if it has another version, and returns False. cuda: 12 or 13."""
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
            f"{name} {there} is not used, as epsflow is {wanted}; "
            f"without it there is no GPU: pip install {name}=={wanted}",
            RuntimeWarning,
            stacklevel=2,
        )
    return there == wanted


def choose() -> str | None:
    """Returns the package whose module with CUDA is used, or None for epsflow's own module.

    If there are several, it is the newest that the driver supports. If the driver supports none, it is the oldest: its
    list of backends describes the problem.
    """
    found = [cuda for cuda in _NEWEST_FIRST if _is_of_use(cuda)]
    if not found:
        return None
    known = driver_version()
    return f"epsflow_cuda{next((cuda for cuda in found if cuda <= known), found[-1])}"


def put_in_place() -> None:
    """Makes `from . import _core` import the module of choose(). It must be called before the first such import.

    If that module cannot be loaded, it warns, and epsflow's own module is imported.
    """
    chosen = choose()
    if chosen is not None:
        try:
            core = importlib.import_module(f"{chosen}._core")
        except ImportError as error:
            name = chosen.replace("_", "-")
            warnings.warn(
                f"{name} cannot be loaded, so there is no GPU: {error}; install it again, or leave it out",
                RuntimeWarning, stacklevel=2,
            )
            return
        sys.modules[f"{__package__}._core"] = core
        setattr(sys.modules[str(__package__)], "_core", core)
