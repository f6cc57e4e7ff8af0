"""What a sweep would do, and why, before it is done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ._arrays import as_weights
from ._loaded import Loaded, method
from ._parameters import as_options, as_variants
from ._tasks import filled, made_by, python_words


@dataclass(frozen=True)
class EpsPlan:
    """What a sweep would do with the variants of one eps.

    Attributes
    ----------
    eps : float
    min_samples : tuple of int
        Descending.
    strategy : {"direct", "csr table", "packed table"}
    because : str
        Why this strategy.
    index : {"grid", "tree", "all"}
        Where candidates come from.
    decide : {"scalar", "tensor64", "tensor16"}
        How they are decided.
    cells : int
        Of the index that are not empty; 0 where the device finds them only as it clusters.
    candidates : int
        Distances that a search of all points tests; 0 where any two points of a cell are neighbours.
    passes : int
        Times that a point's candidates are looked through, at most.
    pairs : int
        Of a csr table: counted, or estimated from a sample.
    bytes : int
        Of host memory while it runs alone, points included; labels, which are handed over, are not.
    fits : bool
        Whether the memory has room for it.
    seconds : float or None
        How long it takes, within a factor of two mostly: from a run on a sample of the points. None on a GPU, and where it does not fit.
    """

    eps: float
    min_samples: tuple[int, ...]
    strategy: str
    because: str
    index: str
    decide: str
    cells: int
    candidates: int
    passes: int
    pairs: int
    bytes: int
    fits: bool
    seconds: float | None


@method
def plan_loaded(
    data: Loaded, eps: Any = None, min_samples: Any = None, *,
    variants: Iterable[tuple[float, int]] | None = None, sample_weight: Any = None,
    strategy: str = "auto", index: str = "auto", decide: str = "auto",
) -> list[EpsPlan]:
    weights = None if sample_weight is None else as_weights(sample_weight, len(data))
    asked = as_variants(eps, min_samples, variants, data._given.unit)
    run = as_options(strategy=strategy, index=index, decide=decide)
    plans = made_by(data._data.start_plan, asked, run, weights)
    return [filled(EpsPlan, p, min_samples=tuple(p.min_samples), because=python_words(p.because)) for p in plans]
