"""Names of the files of a results folder, and the numbers in them."""

from __future__ import annotations

import os
import re
from decimal import Decimal
from pathlib import Path
from typing import Union

Folder = Union[str, "os.PathLike[str]"]

SUMMARY = "summary.csv"
MANIFEST = "sweep.json"
ROWS = "rows.npy"
VARIANT_FOLDERS = ("labels", "core", "labelled")

_FIXED = (SUMMARY, MANIFEST, "trace.json", "sweep.h5", ROWS)
_VARIANT_FILE = re.compile(r"(?:labels|core)/(eps_[^/]*)\.npy|labelled/(eps_[^/]*)\.(?:csv|fits|h5)")
_STEM = re.compile(r"eps_([0-9.e+-]+)_minpts_([1-9][0-9]*)")


def as_folder(folder: Folder) -> Path:
    text = os.fspath(folder)
    if not text:
        raise ValueError("the name of the results folder is empty")
    return Path(text)


def is_results_name(name: str) -> bool:
    if name in _FIXED:
        return True
    found = _VARIANT_FILE.fullmatch(name)
    stem = _STEM.fullmatch(found[1] or found[2]) if found else None
    try:
        return stem is not None and format_number(float(stem[1])) == stem[1]
    except ValueError:
        return False


def variant_name(folder: str, eps: float, min_samples: int) -> str:
    return f"{folder}/eps_{format_number(eps)}_minpts_{min_samples}.npy"


def format_number(value: float) -> str:
    """As std::to_chars() writes a double: with the fewest characters that give it back, and no exponent where both are as long."""
    _, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    power = len(text) - 1 + exponent
    scientific = text[0] + ("." + text[1:] if len(text) > 1 else "") + f"e{power:+03d}"
    fixed = str(int(value)) if exponent >= 0 else format(Decimal(repr(value)).normalize(), "f")
    return fixed if len(fixed) <= len(scientific) else scientific
