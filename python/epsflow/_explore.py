"""From points to a recommendation: which eps and min_samples show clusters, without being told either."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_weights
from ._engine import Dataset, Engine, engine_for
from ._lineage import Lineage
from ._parameters import as_eps, as_variants
from ._precomputed import made_dense
from ._tasks import ProgressOption, python_errors, python_words, wait_for
from ._units import as_given, warn_of_unit

_STEP_ERROR = 0.1
"""How much a step between logarithms of eps may differ from the mean one, in parts of it: those of rounded eps do."""


@dataclass(frozen=True)
class Flag:
    """What is to be doubted of an exploration.

    Attributes
    ----------
    name : str
        A word: "no-clusters", "weak", "little-core", "all-core", "one-cluster", "no-plateau", "much-noise", "two-scales", "edge",
        "few-points", "duplicates", "quantised", "one-axis-rules", "coarse" or "unfinished".
    text : str
        A sentence, with what may be done; `str` gives it.
    """

    name: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False, repr=False)
class Offer:
    """An (eps, min_samples) with its labels, as it is offered.

    Attributes
    ----------
    eps : float
    min_samples : int
    labels : ndarray of shape (n_samples,)
        The cluster of each point, -1 for noise, of int32.
    n_clusters, n_noise : int
    score : float
        How much longer its clusters live along eps than chance explains, weighted by their parts of the points.
    noise : float
        The part of the points that are in no big cluster, from 0 to 1. A big cluster has at least 1 % of the points, and five.
    confidence : float
        The adjusted Rand index to be expected with what is true, from 0.1 to 0.97, by how such recommendations fared.
    reason : str
        A sentence.
    plateau : tuple of float
        From which eps to which its min_samples shows the same big clusters.
    min_samples_range : tuple of int
        From which min_samples to which its eps shows big clusters that lie in each other one to one.
    """

    eps: float
    min_samples: int
    labels: NDArray[np.int32]
    n_clusters: int
    n_noise: int
    score: float
    noise: float
    confidence: float
    reason: str
    plateau: tuple[float, float]
    min_samples_range: tuple[int, int]

    def __repr__(self) -> str:
        return f"<epsflow.Offer {self._words()}>"

    def _words(self) -> str:
        return f"eps={self.eps:.4g}, min_samples={self.min_samples}: {self.reason}; confidence {self.confidence:.2f}"


@dataclass(frozen=True, eq=False, repr=False)
class Exploration:
    """What `epsflow.explore` finds.

    Attributes
    ----------
    recommended : Offer or None
        None where nothing shows more clusters than chance explains; the flags say so.
    alternatives : list of Offer
        At other scales, at most two, the better first.
    flags : list of Flag
        What is to be doubted.
    eps, min_samples : ndarray
        The grid, ascending. Empty for fewer than 10 points, and where all are equal.
    scores : ndarray of shape (eps, min_samples)
        Of each cell of the grid; NaN where fewer than two big clusters, or too much noise, leave nothing to score.
    map : Lineage
        Of the grid.
    """

    recommended: Offer | None
    alternatives: list[Offer]
    flags: list[Flag]
    eps: NDArray[np.float64]
    min_samples: NDArray[np.int64]
    scores: NDArray[np.float64]
    map: Lineage

    def __repr__(self) -> str:
        recommended = "nothing" if self.recommended is None else self.recommended._words()
        lines = [f"<epsflow.Exploration of {len(self.eps)} eps with {len(self.min_samples)} min_samples", f"  recommended: {recommended}"]
        lines += [f"  alternative: {offer._words()}" for offer in self.alternatives]
        lines += [f"  {flag.name}: {flag.text}" for flag in self.flags]
        return "\n".join(lines) + ">"


def explore(
    X: Any,
    eps: Iterable[float] | None = None,
    min_samples: int | Iterable[int] | None = None,
    *,
    seconds: float | None = None,
    metric: str = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample_weight: Any = None,
    progress: ProgressOption = None,
    backend: str = "auto",
    memory: int | str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
) -> Exploration:
    """Find eps and min_samples that show the clusters of X, if it has some.

    It sweeps a grid of eps and min_samples and scores each cell by how long its clusters live along eps, in units of what chance
    explains. The answer depends on the points and the metric alone: the order of the points, the machine and the backend change nothing.

    Parameters
    ----------
    X, metric, metric_params, backend, memory, threads, engine
        As `epsflow.sweep` takes them. metric="precomputed" is none of the metrics here.
    eps : iterable of float, optional
        The grid's, at least two in even ratios, as `numpy.geomspace` gives them. As `epsflow.suggest` has them where they are left out.
    min_samples : int or iterable of int, optional
        The grid's. As `epsflow.suggest` has them where they are left out.
    seconds : float, optional
        A bound on the time, once the points are loaded and the grid is known where one of eps and min_samples is given. Every fourth eps
        or so is swept first, and those between them while there is time; what is found is that of the eps swept, and the same as without
        a bound if there is time for all. The flags "coarse" and "unfinished" tell what was left out.
    sample_weight : float or array of shape (n_samples,), optional
        A point is core where the weights of the points within eps sum to min_samples, as `epsflow.sweep` has it; none below 0. It is
        no number of copies: clusters and noise are measured by how many points they have.
    progress : bool or callable, optional
        As `epsflow.sweep` takes it, of the run that is under way: there are about twenty, and the sweep of the grid is the longest.

    Returns
    -------
    Exploration

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As `epsflow.sweep` does; ValueError also for eps in uneven ratios, for weights below 0, where min_samples is left out and
        the mean weight is below one half, and where `seconds` are over before the first eps are swept.

    Examples
    --------
    >>> found = epsflow.explore(X)
    >>> found
    >>> labels = found.recommended.labels
    """
    given = as_given(made_dense(X, memory, engine), metric, metric_params)
    data = Dataset(engine_for(engine, given, backend, memory, threads), given)
    return explore_loaded(data, eps, min_samples, seconds=seconds, sample_weight=sample_weight, progress=progress)


def explore_loaded(
    data: Dataset,
    eps: Any = None,
    min_samples: Any = None,
    *,
    seconds: float | None = None,
    sample_weight: Any = None,
    progress: ProgressOption = None,
) -> Exploration:
    bound = None if seconds is None else as_eps(seconds, name="seconds")
    weights = None if sample_weight is None else as_weights(sample_weight, len(data))
    asked: list[tuple[float, int]] | None = None
    if eps is not None or min_samples is not None:
        asked = _grid(data, eps, min_samples, weights, progress)
    with python_errors():
        task = _core.start_explore(data._data, asked, {}, weights, bound)
    wait_for(task, progress)
    made = _core.take_exploration(task)
    grid = np.array(made.eps, dtype=np.float64), np.array(made.min_samples, dtype=np.int64)
    scores = np.asarray(made.scores).reshape(len(grid[0]), len(grid[1]))
    return Exploration(
        None if made.recommended is None else _as_offer(made.recommended),
        [_as_offer(offer) for offer in made.alternatives],
        [Flag(name, python_words(text)) for name, text in made.doubts],
        *grid,
        np.where(scores < 0, np.nan, scores),
        Lineage(made.map, data._given.unit),
    )


explore_loaded.__qualname__ = "Dataset.explore"  # which errors of arguments name


def _grid(data: Dataset, eps: Any, min_samples: Any, weights: Any, progress: ProgressOption) -> list[tuple[float, int]]:
    """Every eps with every min_samples, ascending, where one of them may be left out. Empty where none can be suggested."""
    unit = data._given.unit
    # Both are checked before anything is run.
    all_eps = sorted({e for e, _ in as_variants(eps, 1, None, unit)}) if eps is not None else None
    all_min_samples = sorted({m for _, m in as_variants(1, min_samples, None)}) if min_samples is not None else None
    if all_eps is not None:
        _require_even(all_eps)
        warn_of_unit(data._given, all_eps[0])
    if all_eps is None or all_min_samples is None:
        suggested = suggest_loaded(data, sample_weight=weights, progress=progress)
        all_eps, all_min_samples = all_eps or suggested[0], all_min_samples or suggested[1]
    return as_variants(all_eps, all_min_samples, None) if all_eps and all_min_samples else []


def _require_even(eps: list[float]) -> None:
    """Raises ValueError for fewer than two eps, and where their ratios differ."""
    steps = np.diff(np.log(eps))
    if len(steps) == 0 or (abs(steps - steps.mean()) > _STEP_ERROR * steps.mean()).any():
        raise ValueError(
            f"eps has {len(eps)} values from {eps[0]:g} to {eps[-1]:g}: explore() needs at least two in even ratios, as numpy.geomspace(from, "
            "to, 40) gives them"
        )


def _as_offer(offer: Any) -> Offer:
    labels = np.asarray(memoryview(offer.labels).toreadonly())
    return Offer(
        offer.eps,
        offer.min_samples,
        labels,
        offer.clusters,
        offer.noise_count,
        offer.score,
        offer.noise,
        offer.confidence,
        python_words(offer.reason),
        offer.plateau,
        offer.min_samples_range,
    )


def suggest(
    X: Any,
    *,
    metric: str = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample_weight: Any = None,
    progress: ProgressOption = None,
    backend: str = "auto",
    memory: int | str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
) -> tuple[list[float], list[int]]:
    """The grid of eps and min_samples that `epsflow.explore` sweeps, for sweeps of one's own.

    Parameters
    ----------
    X, metric, metric_params, backend, memory, threads, engine
        As `epsflow.sweep` takes them. metric="precomputed" is none of the metrics here.
    sample_weight, progress
        As `epsflow.explore` takes them.

    Returns
    -------
    eps : list of float
        40, ascending, in even ratios: from where hardly any point is core to where almost all are one cluster.
    min_samples : list of int
        Up to 10, ascending, from 3 to a twentieth of the points, at most 200; of points with weights, this times their mean weight.
        Both are empty for fewer than 10 points, and where all points are equal.

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As `epsflow.sweep` does; ValueError also for weights below 0, and where their mean is below one half.

    Examples
    --------
    >>> eps, min_samples = epsflow.suggest(X)
    >>> result = epsflow.sweep(X, eps, min_samples)
    """
    given = as_given(made_dense(X, memory, engine), metric, metric_params)
    data = Dataset(engine_for(engine, given, backend, memory, threads), given)
    return suggest_loaded(data, sample_weight=sample_weight, progress=progress)


def suggest_loaded(data: Dataset, *, sample_weight: Any = None, progress: ProgressOption = None) -> tuple[list[float], list[int]]:
    weights = None if sample_weight is None else as_weights(sample_weight, len(data))
    with python_errors():
        task = _core.start_suggest(data._data, {}, weights)
    wait_for(task, progress)
    variants = _core.take_suggested(task)
    return sorted({e for e, _ in variants}), sorted({m for _, m in variants})


suggest_loaded.__qualname__ = "Dataset.suggest"  # which errors of arguments name
