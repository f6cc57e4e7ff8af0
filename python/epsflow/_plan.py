"""Plans: the steps of a sweep and the reasons for them, before the sweep."""

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
    """The plan of a sweep for the variants of one eps.

    Attributes
    ----------
    eps : float
    min_samples : tuple of int
        Descending.
    strategy : {"direct", "csr table", "packed table"}
    because : str
        The reason for the strategy.
    index : {"grid", "tree", "all"}
        The index that returns candidates.
    decide : {"scalar", "tensor64", "tensor16"}
        How the distances of candidates are tested.
    cells : int
        The number of non-empty cells of the grid; 0 without a grid, or if a GPU makes it only during clustering.
    candidates : int
        The number of distances that a search of all points tests; 0, which means not counted, if any two points of a
        cell are neighbours.
    passes : int
        An upper bound on the number of passes over a point's candidates.
    pairs : int
        The number of pairs of a csr table, counted or estimated from a sample; 0 for other strategies.
    bytes : int
        Bytes of host memory that these variants need if no other eps runs beside them, including the points. Labels
        belong to the caller and are not included.
    fits : bool
        Whether these bytes fit into the memory limit of the host. The memory of a GPU is not counted.
    seconds : float or None
        The estimated time, mostly within a factor of two, from a run on a sample of the points. None on a GPU, and if
        the sweep or the sample does not fit into the memory.
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
