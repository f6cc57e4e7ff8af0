"""What a results folder holds: variants, and of which points they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .files import StoredArray, checksum_of
from .names import SUMMARY

SUMMARY_HEADER = "eps,minpts,clusters,noise,core,border,largest,seconds,labels,crc32"


@dataclass(frozen=True)
class Origin:
    """Of which points results are, as far as it is known."""

    points: Any = None
    """The array itself; it is looked at when results are saved, for its checksum."""
    input: dict[str, Any] | None = None
    """As a folder describes it."""
    rows: NDArray[np.int64] | None = None
    under: str = ""
    """What labels depend on besides points, eps and min_samples, in the program's words: a metric, weights."""

    def described(self, n: int) -> dict[str, Any]:
        if self.input is not None:
            return self.input
        d, precision, checksum = 0, "float64", "unknown"
        if isinstance(self.points, np.ndarray):
            d, precision, checksum = self.points.shape[1], str(self.points.dtype), checksum_of(self.points)
        if self.under:
            checksum += ", " + self.under
        return {
            "files": [],
            "checksum": checksum,
            "points": n,
            "dims": d,
            "precision": precision,
            "columns": [],
            "column_numbers": list(range(d)),
            "dropped_rows": 0,
        }


@dataclass
class StoredVariant:
    """A variant in a folder. Its arrays are mapped when they are asked for, and compared with their checksums then, once."""

    eps: float
    min_samples: int
    clusters: int
    noise: int
    core_count: int
    border: int
    largest: int
    seconds: float
    n: int = 0
    labels_file: StoredArray | None = None
    core_file: StoredArray | None = None
    _labels: NDArray[np.int32] | None = None
    _core: NDArray[np.uint8] | None = None

    @property
    def labels(self) -> NDArray[np.int32]:
        if self._labels is None:
            assert self.labels_file is not None
            self._labels = self.labels_file.map("<i4", self.n)
        return self._labels

    @property
    def core(self) -> NDArray[np.uint8]:
        """Empty where the folder does not hold it."""
        if self._core is None:
            self._core = np.empty(0, np.uint8) if self.core_file is None else self.core_file.map("|b1", self.n).view(np.uint8)
        return self._core


def stored(result: Any) -> StoredVariant:
    """A result of a run with arrays of its own."""
    return StoredVariant(
        eps=float(result.eps),
        min_samples=int(result.min_samples),
        clusters=int(result.clusters),
        noise=int(result.noise),
        core_count=int(result.core_count),
        border=int(result.border),
        largest=int(result.largest),
        seconds=float(result.seconds),
        n=len(result.labels),
        _labels=np.array(result.labels),
        _core=np.array(result.core),
    )


def variant_of_row(eps: float, counts: list[int], seconds: float) -> StoredVariant:
    min_samples, clusters, noise, core, border, largest = counts
    return StoredVariant(eps, min_samples, clusters, noise, core, border, largest, seconds)


@dataclass
class State:
    """What a folder says of itself."""

    manifest: dict[str, Any] = field(default_factory=dict)
    files: dict[str, tuple[int, str | None]] = field(default_factory=dict)
    """Bytes and checksum of every file but those below, by name."""
    variants: list[tuple[str, StoredVariant, str | None]] = field(default_factory=list)
    """Name of the label file, what summary.csv says, and its checksum."""

    @property
    def names(self) -> list[str]:
        """Every file of the folder but sweep.json, which stands for the whole."""
        return [name for name, _, _ in self.variants] + list(self.files) + [SUMMARY]

    @property
    def status(self) -> str:
        return str(self.manifest.get("status", ""))
