"""What a sweep would do, and why, before it is done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ._arrays import as_weights
from ._engine import Dataset, Engine, engine_for
from ._parameters import as_options, as_variants
from ._precomputed import made_dense
from ._tasks import python_errors, python_words, wait_for
from ._units import as_given


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


def plan(
    X: Any,
    eps: float | Iterable[float] | None = None,
    min_samples: int | Iterable[int] | None = None,
    *,
    variants: Iterable[tuple[float, int]] | None = None,
    metric: str = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample_weight: Any = None,
    backend: str = "auto",
    memory: int | str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    strategy: str = "auto",
    index: str = "auto",
    decide: str = "auto",
) -> list[EpsPlan]:
    """What `epsflow.sweep` would do, and why. Each index is built, and on the CPU a sample of the points clustered, to tell the time.

    Parameters
    ----------
    X, eps, min_samples, variants, metric, metric_params, sample_weight, backend, memory, threads, engine, strategy, index, decide
        As `epsflow.sweep` takes them.

    Returns
    -------
    list of EpsPlan
        One for each eps, the largest first, as the sweep would take them. `pandas.DataFrame` makes a table of it.

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As `epsflow.sweep` does, but not for a table that does not fit.

    Examples
    --------
    >>> for p in epsflow.plan(X, eps=[0.1, 0.2], min_samples=[5, 10]):
    ...     print(p.eps, p.strategy, p.because, p.bytes, p.seconds)
    """
    given = as_given(made_dense(X, memory, engine), metric, metric_params)
    asked = as_variants(eps, min_samples, variants, given.unit)
    run = as_options(strategy=strategy, index=index, decide=decide)
    data = Dataset(engine_for(engine, given, backend, memory, threads, run=run), given)
    return plan_loaded(data, variants=asked, sample_weight=sample_weight, strategy=strategy, index=index, decide=decide)


def plan_loaded(
    data: Dataset,
    eps: Any = None,
    min_samples: Any = None,
    *,
    variants: Iterable[tuple[float, int]] | None = None,
    sample_weight: Any = None,
    strategy: str = "auto",
    index: str = "auto",
    decide: str = "auto",
) -> list[EpsPlan]:
    weights = None if sample_weight is None else as_weights(sample_weight, len(data))
    asked = as_variants(eps, min_samples, variants, data._given.unit)
    run = as_options(strategy=strategy, index=index, decide=decide)
    with python_errors():
        task = data._data.start_plan(asked, run, weights)
    wait_for(task)
    plans: list[Any] = task.take_plans()
    return [EpsPlan(e, tuple(m), way, python_words(because), *rest) for e, m, way, because, *rest in plans]


plan_loaded.__qualname__ = "Dataset.plan"  # which errors of arguments name
