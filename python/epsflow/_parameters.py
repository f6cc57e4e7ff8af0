"""Parameters as the library takes them. Errors contain the name, the value and the accepted values."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _core

_MOST_BYTES = 2**63 - 1
SAME_EPS = 1e-9  # relative: sums of steps differ by rounding


class Option(NamedTuple):
    """The library's description of an option (core/option.hpp)."""

    kind: str
    """"flag", "choice", "count", "bytes", "factor" or "text"."""
    words: list[str]
    """The accepted words of a choice."""
    most: int
    """The largest count."""
    default: str
    """The default word of a choice; "" for other kinds."""


_NO_NUMBERS = (bool, np.bool_, np.timedelta64)
"""Types that Python or NumPy treat as whole numbers, but that are not accepted as numbers."""

OPTIONS = {name: Option(kind, words, most, default) for _, name, kind, words, most, default in _core.options()}
"""The options, by the names of the parameters."""


def as_eps(eps: Any, unit: Any = None, name: str = "eps") -> float:
    """Returns eps as a finite number > 0, converted to `unit` if it is a quantity with a unit. Raises TypeError for
    other types, ValueError for other numbers, and as without_unit(). name: the parameter in errors."""
    eps = without_unit(eps, unit, name)
    if isinstance(eps, _NO_NUMBERS) or not isinstance(eps, (int, float, np.integer, np.floating)):
        raise _wrong_type(name, eps, "a number > 0")
    try:
        value = float(eps)
    except OverflowError:
        value = math.inf
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"{name} == {eps!r}, must be > 0 and finite")
    return value


def without_unit(value: Any, unit: Any, name: str = "eps") -> Any:
    """Returns the number, or the array of numbers, of a quantity of astropy, converted to `unit`. The numbers of a
    quantity without a unit are not converted. (Percent is a unit.) Other values are returned unchanged. Raises
    ValueError for a quantity with a unit, if it does not convert to `unit` or `unit` is None. name: the name of the
    value in errors."""
    if not (hasattr(value, "to_value") and hasattr(value, "unit")):
        return value
    if not str(value.unit):
        return value.to_value()
    if unit is None:
        raise ValueError(
            f"{name} is {value}, and the coordinates have no unit: give a number, as "
            f"{name}.to_value('{value.unit}') is one"
        )
    if not value.unit.is_equivalent(unit):
        raise ValueError(f"{name} is {value}, and is taken in {unit}, which is another kind of unit")
    return value.to_value(unit)


def as_count(value: Any, name: str, least: int = 1) -> int:
    """Returns a whole number from `least` to 2**32 - 1. Raises TypeError, ValueError."""
    return _as_whole(value, name, least, 2**32 - 1, f"a whole number >= {least}")


def as_counts(values: Any, name: str) -> list[int]:
    """Returns a number or several as a list of whole numbers >= 1. Raises TypeError, ValueError (also for none)."""
    counts = [as_count(value, name) for value in _listed(values)]
    if not counts:
        raise ValueError(f"{name} has no values: give at least one, or a whole number")
    return counts


def as_variants(eps: Any, min_samples: Any, variants: Any, unit: Any = None) -> list[tuple[float, int]]:
    """Returns the pairs (eps, min_samples) without repeats: the variants, or every eps with every min_samples.

    eps, min_samples: one number or several; both are None if variants are given. Quantities of astropy are converted to
    `unit`. Raises TypeError if a parameter is missing, has a wrong type or is given together with variants. Raises
    ValueError if a value is invalid, if there is no pair, or if eps and min_samples make more than MOST_VARIANTS pairs.
    """
    if getattr(eps, "unit", None) is not None and hasattr(eps, "quantity"):
        eps = eps.quantity  # values of a column have no unit
    if variants is not None:
        if eps is not None or min_samples is not None:
            raise TypeError("variants lists pairs (eps, min_samples); eps and min_samples are left out then")
        pairs = [(as_eps(e, unit), as_count(m, "min_samples")) for e, m in map(_as_pair, _listed(variants))]
    elif eps is None or min_samples is None:
        raise TypeError("a sweep needs eps and min_samples, numbers or lists of numbers, or variants")
    else:
        all_eps = [as_eps(e, unit) for e in _listed(eps)]
        all_min_samples = [as_count(m, "min_samples") for m in _listed(min_samples)]
        if len(all_eps) * len(all_min_samples) > _core.MOST_VARIANTS:
            raise ValueError(
                f"{len(all_eps)} eps with {len(all_min_samples)} min_samples each are more than the "
                f"{_core.MOST_VARIANTS} variants that a sweep may have: take fewer of either"
            )
        pairs = [(e, m) for e in all_eps for m in all_min_samples]
    if not pairs:
        raise ValueError("there is no variant to run: eps, min_samples or variants is empty")
    return list(dict.fromkeys(pairs))


def find_variant(positions: dict[tuple[float, int], int], eps: Any, min_samples: Any, unit: Any = None) -> int:
    """Returns the position of a variant. positions: the position by variant. eps may be a quantity, and differ by
    rounding (SAME_EPS): the nearest is taken. Raises KeyError for other variants, ValueError for a unit that does not
    fit."""
    eps = float(without_unit(eps, unit))
    if (eps, min_samples) in positions:
        return positions[eps, min_samples]
    near = [(e, i) for (e, m), i in positions.items() if m == min_samples and math.isclose(e, eps, rel_tol=SAME_EPS)]
    if near:
        return min(near, key=lambda found: abs(found[0] - eps))[1]
    asked = ", ".join(f"({e!r}, {m})" for e, m in list(positions)[:4])
    more = ", …" if len(positions) > 4 else ""
    raise KeyError(f"(eps={eps!r}, min_samples={min_samples!r}) is none of the variants {asked}{more}")


def as_threads(threads: Any, name: str = "threads") -> int:
    """Returns a number of threads, at least 1, or 0 for None and -1, which means one per core. Raises TypeError for
    other types, and ValueError for other numbers, 0 included. name: the parameter in errors."""
    if threads is None or isinstance(threads, (int, np.integer)) and threads == -1:
        return 0
    return _as_whole(threads, name, 1, OPTIONS["threads"].most, "a whole number >= 1, or None for one per core")


def as_options(**given: Any) -> dict[str, Any]:
    """Returns checked options, by name, with the types that _core requires. given: by the names in OPTIONS. None means
    the default, except for flags and choices, which must have a value. Raises TypeError, ValueError."""
    options: dict[str, Any] = {}
    for name, value in given.items():
        option = OPTIONS[name]
        if option.kind == "flag":
            options[name] = as_flag(value, name)
        elif option.kind == "choice":
            options[name] = as_choice(value, name, option.default)
        elif option.kind == "bytes":
            options[name] = as_bytes(value, name)
        elif name == "threads":
            options[name] = as_threads(value)
        elif value is not None:
            options[name] = _as_whole(value, name, 0, option.most, "a whole number >= 0, or None for any")
    return options


def as_flag(value: Any, name: str) -> bool:
    """Returns True or False. Raises TypeError for values that Python only treats as true or false, such as 'no'."""
    if not isinstance(value, (bool, np.bool_)):
        raise _wrong_type(name, value, "True or False")
    return bool(value)


def as_folder(folder: Any, name: str = "folder") -> str:
    """Returns the path of a folder or file as a text. name: the parameter in errors. Raises TypeError, ValueError."""
    path = os.fspath(folder) if isinstance(folder, os.PathLike) else folder
    if not isinstance(path, str):
        raise _wrong_type(name, folder, "a path, a text or a pathlib.Path")
    try:
        if path and b"\0" not in os.fsencode(path):
            return path
    except UnicodeEncodeError:
        pass
    raise ValueError(f"{name} is {path!r}, which is no name that a {name} can have")


def as_choice(word: Any, name: str, standard: str = "auto", words: Sequence[str] | None = None) -> str:
    """Returns as_utf8(word). words: the accepted words; if None, the library checks the word later. name, standard: the
    parameter and its default, for errors. Raises TypeError if word is not a text, ValueError if it is not one of
    `words`."""
    if not isinstance(word, str):
        raise _wrong_type(name, word, f"a text, {standard!r} where it is left open")
    if words is not None:
        require_one_of(word, name, words)
    return as_utf8(word)


def require_one_of(word: Any, name: str, words: Sequence[str]) -> None:
    """Raises ValueError if the word is not one of the words. name: the parameter in errors."""
    if word not in words:
        raise ValueError(f"{name}={word!r} is none of {', '.join(map(repr, words))}")


def as_utf8(text: str) -> str:
    """Returns a text that UTF-8 can encode: each surrogate is written as an escape."""
    return text.encode(errors="backslashreplace").decode()


def as_bytes(memory: Any, name: str = "memory") -> int:
    """Returns a number of bytes from a text such as '8G' or '500MB', or from a whole number. None becomes 0, which
    stands for the library's default. K, M, G, T and KiB, MiB, GiB, TiB are powers of 1024; KB, MB, GB, TB are powers of
    1000; units may be in upper or lower case. Raises TypeError for another type, ValueError for an invalid size."""
    if memory is None:
        return 0
    accepted = "a number of bytes or a text such as '8GiB'"
    if not isinstance(memory, str):
        return _as_whole(memory, name, 1, _MOST_BYTES, accepted)
    size = _core.parse_bytes(as_utf8(memory.strip()))
    if size is None:
        raise ValueError(f"{name} == {memory!r} is no size; it is {accepted}, from 1 byte to 4 EiB")
    return int(size)


def _as_whole(value: Any, name: str, least: int, most: int, accepted: str) -> int:
    """Returns a whole number from least to most, else raises TypeError or ValueError. accepted: the values in words."""
    if isinstance(value, _NO_NUMBERS) or not isinstance(value, (int, np.integer)):
        raise _wrong_type(name, value, accepted)
    if not least <= value <= most:
        raise ValueError(f"{name} == {value!r}, must be >= {least} and at most {most}")
    return int(value)


def _wrong_type(name: str, value: Any, accepted: str) -> TypeError:
    return TypeError(f"{name} is {value!r}, of type {type(value).__name__}; it is {accepted}")


def _as_pair(variant: Any) -> tuple[Any, Any]:
    """Returns the two elements of a variant. Raises TypeError if it does not have two."""
    try:
        eps, min_samples = variant
    except (TypeError, ValueError):
        raise TypeError(f"variants has {variant!r}; it lists pairs (eps, min_samples)") from None
    return eps, min_samples


def _listed(values: Any) -> Iterable[Any]:
    """Returns values, or a list of the one value. A text is one value."""
    return values if np.iterable(values) and not isinstance(values, (str, bytes)) else [values]
