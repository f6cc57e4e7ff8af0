"""Results that were written, read again."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._parameters import as_flag
from ._results import Folder, load_folder
from ._slices import Places, SlicedResult
from ._sweep import SweepResult, VariantResult


def load(folder: Folder, *, unfinished: bool = False) -> Any:
    """The results in a folder that `epsflow sweep` or `SweepResult.save` wrote, or in its sweep.h5 where h5py is there.

    Labels are mapped from their files when they are asked for, and compared with their checksums then; the files must not be changed
    while they are in use.

    Parameters
    ----------
    folder : str or path
    unfinished : bool
        Also of a run that was interrupted or still goes on, what is finished of it.

    Returns
    -------
    SweepResult, or SlicedResult of a sweep with --by or --by-file
        A folder has no points. It says which of them are in which slice if the rows of its input were in the order of the slices, as they
        are with --by-file; else the labels of a single slice are refused.

    Raises
    ------
    FileNotFoundError
        Where there is no folder.
    ValueError
        Where it holds no results, damaged ones, or a part of them, and for the sweep.h5 of many data sets.
    """
    variants, origin, lineage, slices = load_folder(folder, as_flag(unfinished, "unfinished"))
    if slices is None:
        return SweepResult([VariantResult(v) for v in variants], origin, lineage=lineage)
    places = Places(slices.keys, np.append(0, np.cumsum(slices.sizes)), known=slices.in_order)
    return SlicedResult(places, {(v.eps, v.min_samples): v for v in variants}, "labels", origin=origin)
