"""Results folders. io/results/ reads and writes them for the program and for this package."""

from __future__ import annotations

import csv
import errno
import json
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._lineage import Lineage, stored_lineage
from ._parameters import as_folder
from ._tasks import wait_for

Folder = Union[str, "os.PathLike[str]"]
Array = NDArray[Any]
T = TypeVar("T")


class Unchanging:
    """A result that is never changed, or an engine. Copies are the object itself, so they keep data that a pickle
    leaves out, and copies of an estimator share the engine."""

    def __copy__(self: T) -> T:
        return self

    def __deepcopy__(self: T, memo: Any) -> T:
        return self


_WORDS = {
    "FolderMode::resume": "`epsflow sweep … --resume`",
    "FolderMode::overwrite": "result.save(…, overwrite=True)",
    "Overwrite::replace": "save(…, overwrite=True)",
}


@dataclass(frozen=True)
class Origin:
    """The points of a result, their metric and weights. Unknown fields keep their defaults."""

    points: Any = None
    """The array of points or distances itself. Its checksum is computed when results are saved."""
    table: Any = None
    """The table that the points were given as, if they were: the object itself and no copy."""
    input: dict[str, Any] | None = None
    """The description of the points in a results folder, as `SweepResult.input` returns it."""
    rows: NDArray[np.int64] | None = None
    """[n] the input row of each point; None if they are 0 to n - 1."""
    under: str = ""
    """The metric and "weighted", on which labels depend besides eps and min_samples, in the program's words."""
    weights: str = ""
    """The checksum of the weights. The weights may change once the points are clustered."""
    metric: Any = None
    """The metric of the search, as the library takes it."""
    offers: tuple[tuple[float, int], ...] = ()
    """The eps and min_samples that a folder of `epsflow explore` offers, the best pair first."""
    share: bool = False
    """Whether the points are this process's share of the swept points. Labels are of the share, counts of all."""

    def require_whole(self, what: str) -> None:
        """Raises ValueError if several processes swept the points, and this one has only a share of them.

        what: the name in the error of the thing that needs all points, such as "a catalogue".
        """
        if self.share:
            raise ValueError(
                f"{what} takes all points, and this process has a share of them: `mpirun epsflow sweep … --out FOLDER` "
                "writes what epsflow.load reads"
            )

    def described(self, n: int) -> dict[str, Any]:
        """Returns the description of n points for a results folder: `input` itself if they come from a folder."""
        if self.input is not None:
            return self.input
        d, precision, checksum = 0, "float64", "unknown"
        if isinstance(self.points, np.ndarray):
            d, precision, checksum = self.points.shape[1], str(self.points.dtype), _core.checksum_of(self.points)
        if self.weights:
            checksum += " weights " + self.weights
        return {
            "files": [],
            "checksum": checksum + (", " + self.under if self.under else ""),
            "points": n,
            "dims": d,
            "precision": precision,
            "columns": [],
            "column_numbers": list(range(d)),
            "dropped_rows": 0,
        }


class FromPoints(Unchanging):
    """The base class of results that store the Origin of their points: Origin() if `origin` is None."""

    def __init__(self, origin: Origin | None) -> None:
        self._origin = origin or Origin()

    @property
    def input(self) -> dict[str, Any] | None:
        return self._origin.input

    @property
    def rows(self) -> NDArray[np.int64] | None:
        return self._origin.rows


class StoredVariant(_core.Figures):
    """A variant that was read from a folder or a pickle. It replaces epsflow._core.Result with arrays on the host.

    words: a sequence of eight numbers: eps, min_samples, the numbers of clusters, of noise, core and border points, the
    size of the largest cluster, and the seconds. labels, core: arrays [n], or functions that return them. A function is
    called at the first use and may raise. core is empty if it is not known. slices: [5 · slices] the third to the
    seventh of these numbers for the first slice, then for the next, and so on; empty without slices.
    """

    def __init__(
        self, words: Any, labels: Array | Callable[[], Array], core: Array | Callable[[], Array], slices: Any = ()
    ) -> None:
        super().__init__(words)
        self._labels = labels
        self._core = core
        self.slices = slices

    def __reduce__(self) -> Any:
        return StoredVariant, (self.words, self._labels, self._core, self.slices)

    @property
    def labels(self) -> Array:
        found = self._labels  # read once: another thread may replace it
        if callable(found):
            found = self._labels = found()
        return found

    @property
    def core(self) -> Array:
        """The core mask, empty if it is not known."""
        found = self._core
        if callable(found):
            found = self._core = found()
        return found.view(np.uint8)


def stored(result: Any) -> StoredVariant:
    """Returns a result of a run or of a folder with its own copies of the arrays."""
    absent = getattr(result, "_labels", None)
    labels = absent if isinstance(absent, _NoLabels) else np.array(result.labels)
    return StoredVariant(result.words, labels, np.array(result.core), np.array(result.slices))


@contextmanager
def _folder_errors() -> Iterator[None]:
    try:
        yield
    except (ValueError, FileExistsError, BlockingIOError, MemoryError) as error:
        text = str(error)
        for word, ours in _WORDS.items():
            text = text.replace(word, ours)
        raise (OSError if isinstance(error, MemoryError) else type(error))(text) from None


def save_folder(folder: Folder, variants: list[Any], origin: Origin, overwrite: bool) -> None:
    """Writes a results folder. Files are written aside, and moved to the folder when complete. variants: each as
    epsflow._core.Result, on the host. Raises as `SweepResult.save`."""
    from importlib.metadata import version

    held = [(v, np.ascontiguousarray(v.labels, np.int32), np.ascontiguousarray(v.core, np.uint8)) for v in variants]
    rows = np.ascontiguousarray([] if origin.rows is None else origin.rows, np.int64)
    described = json.dumps(origin.described(len(held[0][1]) if held else 0))
    options = [
        ("eps", ",".join(dict.fromkeys(_core.format_number(float(v.eps)) for v in variants))),
        ("minpts", ",".join(dict.fromkeys(str(v.min_samples) for v in variants))),
        ("interface", "Python"),
    ]
    with _folder_errors():
        wait_for(_core.start_save(as_folder(folder), held, rows, (described, version("epsflow"), options), overwrite))


class StoredSlices(NamedTuple):
    """The slices of a folder with results of many data sets."""

    keys: Array
    """[slices] whole numbers, numbers, or the names of files."""
    sizes: Array
    """[slices] the number of points of each."""
    in_order: bool
    """Whether rows are stored slice by slice. Otherwise the folder does not record which rows are in which slice."""


def load_folder(
    folder: Folder, unfinished: bool
) -> tuple[list[StoredVariant], Origin, Lineage | None, StoredSlices | None]:
    """Returns the variants, the description of their points, and the lineage and the slices if the folder has any.
    folder: a results folder, or its sweep.h5, which gives neither lineage nor slices. unfinished: whether a folder is
    accepted if its run has not ended. Raises as `epsflow.load`."""
    path = Path(as_folder(folder))
    if path.is_file():
        variants, origin = _load_hdf5(path)
        if origin.input and "slices" in origin.input:
            slices = origin.input["slices"]
            raise ValueError(
                f"{path} has results of {slices}, and does not say what they are: load the folder that it lies in, "
                f"{str(path.parent)!r}"
            )
        return variants, origin, None, None
    if not path.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no folder of results", str(path))
    with _folder_errors():
        manifest = _core.Manifest(path)
        if not manifest.runs:
            _refuse_without_manifest(path)
        if not unfinished:
            _refuse_unfinished(path, json.loads(manifest.runs[-1]))
        described = json.loads(manifest.input)
        n = described.get("points") if isinstance(described, dict) else None
        if type(n) is not int or not 0 <= n < 2**63:
            raise _damaged(path / "sweep.json", "it does not say how many points there are")

        def array(name: str, dtype: str) -> Callable[[], Array]:
            return _mapped(manifest, path, name, dtype, n)

        variants = []
        for figures in manifest.variants:
            name = f"eps_{_core.format_number(figures.eps)}_minpts_{figures.min_samples}.npy"
            labels: Any = _NoLabels(str(path), figures.eps, figures.min_samples)
            if manifest.owns(f"labels/{name}"):
                labels = array(f"labels/{name}", "<i4")
            core = array(f"core/{name}", "|b1") if manifest.owns(f"core/{name}") else np.empty(0, np.bool_)
            variants.append(StoredVariant(figures.words, labels, core))
        rows = array("rows.npy", "<i8")() if manifest.owns("rows.npy") else None
        lineage = None
        if manifest.owns("lineage.npz"):
            manifest.verify(path, "lineage.npz")
            lineage = stored_lineage(path / "lineage.npz", n)
        slices = (
            _stored_slices(manifest, path, variants, str(described["slices"]), n) if "slices" in described else None
        )
        offers = _stored_offers(manifest, path) if manifest.owns("explore.json") else ()
    return variants, Origin(input=described, rows=rows, offers=offers), lineage, slices


def _damaged(file: Path, why: object) -> ValueError:
    return ValueError(f"{file} was not written by epsflow, or is damaged: {why}")


def _stored_offers(manifest: Any, folder: Path) -> tuple[tuple[float, int], ...]:
    manifest.verify(folder, "explore.json")
    try:
        found = json.loads((folder / "explore.json").read_text(encoding="utf-8"))
        cells = [offer for offer in found["alternatives"] if "eps_of_clusters" not in offer]
        offers = ([] if found["recommended"] is None else [found["one_eps"]]) + cells
        if any(type(offer["minpts"]) is not int for offer in offers):
            raise TypeError("a minpts of what it offers is no whole number")
        return tuple((float(offer["eps"]), offer["minpts"]) for offer in offers)
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise _damaged(folder / "explore.json", error) from None


def _stored_slices(manifest: Any, folder: Path, variants: list[StoredVariant], described: str, n: int) -> StoredSlices:
    """Returns slices.csv, and adds the counts to the variants. described: the slices in words, with their checksum. n:
    the number of points. Raises ValueError if the file is missing, damaged or does not fit the variants."""
    if not manifest.owns("slices.csv"):
        raise ValueError(
            f"{folder} has results of {described}, and no slices.csv yet, which says what they are: `epsflow sweep … "
            "--resume` writes it"
        )
    manifest.verify(folder, "slices.csv")
    with open(folder / "slices.csv", newline="", encoding="utf-8", errors="surrogateescape") as file:
        rows = list(csv.reader(file))[1:]
    try:
        # Rows are sorted by slice, then in the order of the variants.
        figures = np.array([row[1:] for row in rows], np.float64).reshape(-1, len(variants), 8)
        counts = np.delete(figures, 1, axis=2)  # all columns except eps
        if not ((counts >= 0) & (counts <= 2**53)).all() or (counts % 1 != 0).any():
            raise ValueError("it has counts that are no whole numbers")
        keys, sizes = _as_keys([row[0] for row in rows[:: len(variants)]]), figures[:, 0, 0].astype(np.int64)
        asked = [(v.eps, v.min_samples) for v in variants]
        if sizes.sum() != n or not all((figures[:, i, 1:3] == variant).all() for i, variant in enumerate(asked)):
            raise ValueError("its rows are not those of the variants")
    except (ValueError, IndexError) as error:
        raise _damaged(folder / "slices.csv", error) from None
    for i, variant in enumerate(variants):
        variant.slices = figures[:, i, 3:].astype(np.int64).reshape(-1)
    offsets = np.append(0, np.cumsum(sizes)).astype(np.uint64)
    # The checksum covers keys, offsets and the order of the rows. The order is empty if rows are stored slice by slice.
    numbers = [np.arange(len(keys)), *([] if keys.dtype.kind == "U" else [keys])]
    sums = [f"crc32:{zlib.crc32(of.astype(np.float64).tobytes() + offsets.tobytes()):08x}" for of in numbers]
    return StoredSlices(keys, sizes, any(f"({checksum})" in described for checksum in sums))


def _as_keys(texts: list[str]) -> Array:
    """Returns keys as int64 if all are whole numbers, else as float64 if all are numbers, else as texts: file names."""
    for kind in (np.int64, np.float64):
        try:
            return np.array(texts, np.str_).astype(kind)
        except ValueError:
            pass
    return np.array(texts, np.str_)


def _mapped(manifest: Any, folder: Path, name: str, dtype: str, n: int) -> Callable[[], Array]:
    """Returns a function that maps an array [n] of a file, read-only. Checks the header and the size of the file now,
    its checksum when the function is called. Both raise ValueError for another or a damaged file."""
    begin = _core.require_vector(folder / name, dtype, n)

    def array() -> Array:
        with _folder_errors():
            manifest.verify(folder, name)
        end = begin + n * np.dtype(dtype).itemsize
        return np.asarray(_core.map_file(folder / name, end)[begin:].view(dtype))

    return array


@dataclass(frozen=True)
class _NoLabels:
    """A placeholder for labels of a variant, if the folder has only its counts."""

    folder: str
    eps: float
    min_samples: int

    def __call__(self) -> Array:
        raise ValueError(
            f"{self.folder} has no labels of eps={self.eps:g}, min_samples={self.min_samples}, as its sweep kept the "
            "counts alone: `epsflow sweep … --resume` without --keep summary adds them"
        )


def _refuse_without_manifest(folder: Path) -> None:
    if (folder / "sweep.h5").is_file():
        raise ValueError(
            f"{folder} has no sweep.json, but a sweep.h5: load that, epsflow.load({str(folder / 'sweep.h5')!r})"
        )
    if (folder / ".epsflow").is_dir():
        raise ValueError(
            f"{folder} holds no finished results yet: a run is writing there, or was killed; "
            "`epsflow sweep … --resume` goes on"
        )
    raise ValueError(f"{folder} is no folder of results: it has no sweep.json, which `epsflow sweep` and save() write")


def _refuse_unfinished(folder: Path, run: dict[str, Any]) -> None:
    ways = (
        f"epsflow.load({str(folder)!r}, unfinished=True) takes what is finished, and `epsflow sweep … "
        "--resume` makes the rest"
    )
    if (folder / ".epsflow" / "journal").exists():
        raise ValueError(f"{folder} is not finished, a run is writing there or was killed: {ways}")
    if run["status"] != "complete":
        because = f" ({run['reason']})" if "reason" in run else ""
        raise ValueError(f"{folder} is not finished, sweep.json says {run['status']!r}{because}: {ways}")


_FIGURES = {
    "eps": np.float64,
    **dict.fromkeys(("minpts", "clusters", "noise", "core", "border", "largest"), np.uint64),
    "seconds": np.float64,
}
"""The columns of the summary. A file may have smaller types than these."""


def _load_hdf5(file: Path) -> tuple[list[StoredVariant], Origin]:
    """Loads the sweep.h5 that `epsflow sweep --hdf5` writes. Raises ValueError if the file is another one or damaged,
    or if h5py is missing; OSError if it cannot be opened."""
    with open(file, "rb") as opened:
        if opened.read(8) != b"\x89HDF\r\n\x1a\n":
            raise ValueError(
                f"{file} is no folder of results, and no sweep.h5: load the folder that `epsflow sweep --out` named"
            )
    try:
        import h5py
    except ImportError:
        raise ValueError(
            f"{file} is HDF5, which needs h5py: install h5py, or load the folder that it lies in, {str(file.parent)!r}"
        ) from None
    try:
        with h5py.File(file, "r") as opened:
            description = opened.attrs["description"]
            described = json.loads(
                description.decode() if isinstance(description, bytes) else str(description)
            )["input"]
            summary = opened["summary"][()]
            if type(described["points"]) is not int or any(
                not np.can_cast(summary.dtype[name], kind) for name, kind in _FIGURES.items()
            ):
                raise TypeError("its summary or its number of points is of another type")
            shape = (len(summary), described["points"])
            labels = _read(opened, "labels", shape, np.int32)
            core = _read(opened, "core", shape, np.int8)
            rows = _read(opened, "rows", shape[1:], np.int64)
        if labels is None:
            labels = np.empty((len(summary), 0), np.int32)
            if shape[1] > 0:
                raise KeyError("it has no labels")
        variants = []
        for i, row in enumerate(summary):
            counts = [int(row[name]) for name in list(_FIGURES)[1:-1]]
            known = core is not None and not (core[i] < 0).any()
            mask = core[i] if core is not None and known else np.empty(0, np.int8)
            variants.append(StoredVariant((float(row["eps"]), *counts, float(row["seconds"])), labels[i], mask))
        return variants, Origin(input=described, rows=rows)
    except (LookupError, TypeError, ValueError, OverflowError, OSError) as error:
        raise ValueError(f"{file} is no sweep.h5 of epsflow, or is damaged: {error}") from None


def _read(file: Any, name: str, shape: tuple[int, ...], dtype: Any) -> Array | None:
    """Returns a data set of an HDF5 file as a read-only array, or None if the file has none of this name. Raises
    TypeError if its type does not convert to dtype without loss, KeyError if it has another shape."""
    if name not in file:
        return None
    values = np.asarray(file[name][()])
    if not np.can_cast(values.dtype, dtype):
        raise TypeError(f"{name} are of type {values.dtype}, not {np.dtype(dtype)}")
    values = values.astype(dtype, copy=False)
    if values.shape != shape:
        raise KeyError(f"{name} are of shape {values.shape}, not {shape}")
    values.setflags(write=False)
    return values
