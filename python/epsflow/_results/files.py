"""Files of a results folder: on the disk when they are written, and compared with their checksums when they are read."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

REMEDY = "make it again with `epsflow sweep … --resume`, or with result.save(…, overwrite=True)"

_BLOCK = 1 << 20


@dataclass
class StoredArray:
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
            raise ValueError(f"{self.path} is missing, and the folder says that it is there: {REMEDY}") from None
        except ValueError as error:
            raise ValueError(f"{self.path} is damaged, its head is not as epsflow writes it ({error}): {REMEDY}") from None
        if shape != (n,) or fortran or found != np.dtype(dtype):
            raise ValueError(f"{self.path} is damaged: it holds {found} of shape {shape}, not {dtype} of shape ({n},): {REMEDY}")
        wanted = begin + n * found.itemsize
        if bytes_there != wanted:
            raise ValueError(f"{self.path} is damaged: it has {bytes_there} bytes, not {wanted}: {REMEDY}")
        return begin

    def map(self, dtype: str, n: int) -> NDArray[Any]:
        begin = self.require(dtype, n)
        found = crc32_of(self.path)
        if self.crc32 is not None and found != self.crc32:
            raise ValueError(f"{self.path} has changed since it was written: its checksum is {found}, not {self.crc32}: {REMEDY}")
        if n == 0:
            return np.empty(0, dtype)
        return np.memmap(self.path, dtype=dtype, mode="r", offset=begin, shape=(n,)).view(np.ndarray)


def checksum_of(points: NDArray[Any]) -> str:
    """As the program's, of the points that it reads."""
    n, d = points.shape
    crc32 = zlib.crc32(f"{n}x{d}:{points.itemsize}".encode())
    return f"crc32:{zlib.crc32(_bytes_of(points), crc32):08x}"


def _bytes_of(values: NDArray[Any]) -> Any:
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8)


def crc32_of(file: Path) -> str:
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


def write_npy(file: Path, values: NDArray[Any]) -> tuple[int, str]:
    """Bytes and checksum."""
    with open(file, "xb") as opened:
        summed = _Summed(opened)
        np.lib.format.write_array_header_1_0(summed, np.lib.format.header_data_from_array_1_0(values))
        summed.write(_bytes_of(values))
        opened.flush()
        os.fsync(opened.fileno())
    return summed.bytes, f"{summed.crc32:08x}"


def write_text(file: Path, text: str) -> None:
    with open(file, "w", encoding="utf-8", newline="") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())


def sync_folder(folder: Path) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(file: Path) -> None:
    try:
        file.unlink()
    except (FileNotFoundError, NotADirectoryError):
        pass
