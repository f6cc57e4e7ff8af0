"""Everything in one file: the sweep.h5 that `epsflow sweep --hdf5` writes."""

from __future__ import annotations

import json
from pathlib import Path

from .content import Origin, StoredVariant, variant_of_row


def load_hdf5(file: Path) -> tuple[list[StoredVariant], Origin]:
    """The sweep.h5 that `epsflow sweep --hdf5` writes."""
    with open(file, "rb") as opened:
        if opened.read(8) != b"\x89HDF\r\n\x1a\n":
            raise ValueError(f"{file} is no folder of results, and no sweep.h5: load the folder that `epsflow sweep --out` named")
    try:
        import h5py
    except ImportError:
        raise ValueError(
            f"{file} is HDF5, which needs h5py: install h5py, or load the folder that it lies in, {str(file.parent)!r}"
        ) from None
    try:
        with h5py.File(file, "r") as opened:
            description = opened.attrs["description"]
            manifest = json.loads(description.decode() if isinstance(description, bytes) else str(description))
            summary = opened["summary"][()]
            labels = opened["labels"][()]
        if len(labels) != len(summary):
            raise KeyError(f"{len(labels)} rows of labels for {len(summary)} variants")
        variants = []
        for row, its_labels in zip(summary, labels):
            counts = [int(row[name]) for name in ("minpts", "clusters", "noise", "core", "border", "largest")]
            variants.append(variant_of_row(float(row["eps"]), counts, float(row["seconds"])))
            variants[-1].n = len(its_labels)
            variants[-1]._labels = its_labels
        return variants, Origin(input=manifest["input"])
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"{file} is no sweep.h5 of epsflow, or is damaged: {error}") from None
