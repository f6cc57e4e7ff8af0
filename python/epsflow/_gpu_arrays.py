"""Arrays on a GPU: points are read and labels are returned without copies through the host."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._tasks import python_errors

# By the package of an array's type. Numba's arrays have no operations, so their results are returned on the host.
_LIBRARIES = {"cupy": "cupy", "torch": "torch", "jax": "jax", "jaxlib": "jax", "numba": "numpy"}
OUTPUTS = ("numpy", "cupy", "torch", "jax", "dlpack")
_FROM_DLPACK = {"cupy": "cupy", "torch": "torch", "jax": "jax.dlpack"}
_CUDA_DEVICES = (2, 13)  # DLPack's numbers of device memory and managed memory
_DEFAULT_STREAM = 1  # its number in DLPack and in the CUDA array interface


def is_on_gpu(X: Any) -> bool:
    """Returns whether X is an array of CuPy, PyTorch, JAX, Numba, … in the memory of a CUDA device."""
    if hasattr(X, "__dlpack_device__"):
        return int(X.__dlpack_device__()[0]) in _CUDA_DEVICES
    return hasattr(X, "__cuda_array_interface__")


def refuse_on_gpu(X: Any, name: str = "X") -> None:
    """Raises TypeError, which names the functions that take arrays on a GPU, if X is on a GPU."""
    if is_on_gpu(X):
        raise TypeError(
            f"{name} is on a GPU, where epsflow.sweep(), Engine.load(), DBSCAN.fit() and HDBSCAN.fit() take it: call"
            " them, or copy it to the host"
        )


def output_of(X: Any) -> str:
    """Returns the library of X, an array on a GPU, as an output for results: "cupy", "torch" or "jax", but "numpy" (on
    the host) for Numba. Raises TypeError for other libraries."""
    packages = [base.__module__.partition(".")[0] for base in type(X).__mro__]
    found = next((_LIBRARIES[package] for package in packages if package in _LIBRARIES), None)
    if found is None:
        raise TypeError(
            f"X is on a GPU as {type(X).__name__}, and fit() takes arrays of CuPy, PyTorch, JAX and Numba there: make"
            " it one of them, call epsflow.sweep(), or copy it to the host"
        )
    return found


def indices_of(mask: Any) -> Any:
    """Returns the indices at which a mask of CuPy, PyTorch or JAX is true, ascending, as an array of that library."""
    found = mask.nonzero()
    return found[0] if isinstance(found, tuple) else found[:, 0]


def to_host(array: Any) -> Any:
    """Returns an array of CuPy, PyTorch, JAX, Numba or NumPy as an array of NumPy. Waits for its values."""
    for way in ("get", "cpu", "copy_to_host"):
        array = getattr(array, way)() if hasattr(array, way) else array
    return np.asarray(array)


def moved_to(X: Any, values: NDArray[Any]) -> Any:
    """Returns values [n] of the host as an array of the library and GPU of X; values themselves if X is an array of
    Numba. Raises TypeError as output_of()."""
    library = output_of(X)
    if library == "torch":
        return importlib.import_module("torch").as_tensor(values, device=X.device)
    if library == "jax":
        return importlib.import_module("jax").device_put(values, next(iter(X.devices())))
    if library == "cupy":
        with X.device:
            return importlib.import_module("cupy").asarray(values)
    return values


def on_host(X: Any) -> Any:
    """Returns X, or a copy of it on the host if it is on a GPU."""
    return to_host(X) if is_on_gpu(X) else X


def as_gpu_points(X: Any, name: str = "X") -> _core.GpuPoints:
    """Returns X on its GPU as the library takes it. X must be [n, d], float32 or float64 and C-contiguous. The library
    waits for the stream that computes X. Raises TypeError, ValueError for other arrays, because their conversion would
    use memory of the GPU that the caller does not expect."""
    with python_errors():
        if hasattr(X, "__dlpack__"):
            # The producer makes this stream wait for the stream that computes X.
            return _core.gpu_points(X.__dlpack__(stream=_DEFAULT_STREAM), X, name)
        described = X.__cuda_array_interface__
        if described.get("mask") is not None:
            raise TypeError(f"{name} is a masked array on a GPU: leave the masked rows out")
        return _core.gpu_points_at(described, X, name)


def as_gpu_values(values: Any, kind: str) -> _core.Values | None:
    """Returns values [n] on a GPU, without a copy, if they are of this kind: "int32", "float64" or "mask" (any type of
    one byte). Returns None for other values, for values on the host, and for arrays that are strided or have only the
    CUDA array interface: the caller must copy them to the host."""
    if not is_on_gpu(values) or not hasattr(values, "__dlpack__"):
        return None
    found = _core.values(values.__dlpack__(stream=_DEFAULT_STREAM), values)
    return found if found.kind == kind else None


class GpuArray:
    """An array [n] in the memory of a GPU, with DLPack and __cuda_array_interface__. Its values are already computed.

    described: returns a new DLPack capsule, the address, the size and the number of the GPU. The capsule keeps the
    memory. dtype: NumPy's text, such as "<i4".
    """

    def __init__(self, described: Callable[[], Any], dtype: str) -> None:
        self._described = described  # each capsule may be used only once
        _, address, size, self._device = described()
        self._size = int(size)
        self.__cuda_array_interface__ = {
            "shape": (self._size,), "typestr": dtype, "data": (address, False), "version": 3, "stream": None,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA_DEVICES[0], self._device

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
    ) -> Any:
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("labels on a GPU are handed over where they are, without a copy")
        return self._described()[0]

    def __len__(self) -> int:
        return self._size


def require_gpu(output: str, backend: str) -> None:
    """Raises ValueError if output leaves labels on a GPU, and the backend of the engine is not a GPU."""
    if output != "numpy" and backend != "gpu":
        raise ValueError(f"output={output!r} leaves labels on a GPU, and the engine works on the CPU: leave output out")


def as_output(described: Callable[[], Any], dtype: str, output: str) -> Any:
    """Returns an array on a GPU as an array of another library, without a copy. described, dtype: as GpuArray takes
    them. output: "cupy", "torch", "jax", or "dlpack" for a GpuArray. Raises ImportError without the library."""
    array = GpuArray(described, dtype)
    return array if output == "dlpack" else importlib.import_module(_FROM_DLPACK[output]).from_dlpack(array)
