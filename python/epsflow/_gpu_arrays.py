"""Arrays that are on a GPU already: points come in and labels go out without a way through the host."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from . import _core
from ._tasks import python_errors

OUTPUTS = ("numpy", "cupy", "torch", "jax", "dlpack")
_FROM_DLPACK = {"cupy": "cupy", "torch": "torch", "jax": "jax.dlpack"}
_CUDA_DEVICES = (2, 13)  # in DLPack's numbers: its memory, and memory that it manages
_DEFAULT_STREAM = 1  # in those of DLPack and of CUDA arrays


def is_on_gpu(X: Any) -> bool:
    """Whether X is an array of CuPy, PyTorch, JAX, Numba, … in the memory of a CUDA device."""
    if hasattr(X, "__dlpack_device__"):
        return int(X.__dlpack_device__()[0]) in _CUDA_DEVICES
    return hasattr(X, "__cuda_array_interface__")


def refuse_on_gpu(X: Any, name: str = "X") -> None:
    """Raises TypeError that says which functions take arrays on a GPU."""
    if is_on_gpu(X):
        raise TypeError(f"{name} is on a GPU, where epsflow.sweep() and Engine.load() take it: call them, or copy it to the host")


def as_gpu_points(X: Any, name: str = "X") -> _core.GpuPoints:
    """X where it is, as the library takes it: [n, d], float32 or float64, C-contiguous. What makes it, on whatever stream, comes first.

    Raises TypeError, ValueError for others, which are not converted: that would take memory of the GPU unasked.
    """
    with python_errors():
        if hasattr(X, "__dlpack__"):
            # Its producer lets that stream wait for the one that makes X.
            return _core.gpu_points(X.__dlpack__(stream=_DEFAULT_STREAM), X, name)
        described = X.__cuda_array_interface__
        if described.get("mask") is not None:
            raise TypeError(f"{name} is a masked array on a GPU: leave the masked rows out")
        return _core.gpu_points_at(
            described["data"][0],
            tuple(described["shape"]),
            described["typestr"],
            described.get("strides") or (),
            described.get("stream") or 0,
            X,
            name,
        )


class GpuArray:
    """An array in the memory of a GPU, complete, for whoever takes DLPack or __cuda_array_interface__."""

    def __init__(self, described: Callable[[], Any], dtype: str) -> None:
        self._described = described  # each capsule is taken once
        _, address, size, self._device = described()
        self._size = int(size)
        self.__cuda_array_interface__ = {"shape": (self._size,), "typestr": dtype, "data": (address, False), "version": 3, "stream": None}

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA_DEVICES[0], self._device

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any:
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("labels on a GPU are handed over where they are, without a copy")
        return self._described()[0]

    def __len__(self) -> int:
        return self._size


def as_output(described: Callable[[], Any], dtype: str, output: str) -> Any:
    """What a result describes on a GPU, as an array of another library, without a copy."""
    array = GpuArray(described, dtype)
    return array if output == "dlpack" else importlib.import_module(_FROM_DLPACK[output]).from_dlpack(array)
