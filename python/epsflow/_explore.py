"""Exploration: recommends eps and min_samples that show clusters, from the points alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_weights
from ._docs import documented
from ._lineage import Lineage
from ._loaded import Loaded, method
from ._metrics import arguments_of
from ._parameters import as_eps, as_variants
from ._report import Reported, catalog_hint, write_report
from ._results import Folder, Unchanging
from ._tasks import ProgressOption, filled, made_by, python_words
from ._units import warn_of_unit

_STEP_ERROR = 0.1
"""The largest relative deviation of a step in log(eps) from the mean step. Rounded eps deviate a little."""


@dataclass(frozen=True)
class Flag:
    """A doubt about an exploration.

    Attributes
    ----------
    name : str
        One of "no-clusters", "weak", "little-core", "all-core", "one-cluster", "no-plateau", "much-noise",
        "two-scales", "edge", "few-points", "duplicates", "quantised", "one-axis-rules", "coarse" or "unfinished".
    text : str
        A sentence that explains the doubt and the remedy. `str` returns it.
    """

    name: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False, repr=False)
class Offer:
    """A recommended or alternative clustering: DBSCAN at one (eps, min_samples), or clusters that have an eps each.

    Clusters that have an eps each are *grown* (the clusters of one run, each at the same or a larger eps before it
    merges) or *split* (clusters that divide no further, each at the eps before it merges). The recommended offer has
    such clusters, if time permits.

    Attributes
    ----------
    eps : float or None
        None if the clusters have several eps. Then no single run of DBSCAN has these labels.
    eps_of_clusters : ndarray of shape (n_clusters,)
        The eps of each cluster: its core points are connected at this eps, and its border points lie within it. A
        border point of several clusters belongs to the cluster of the nearest core point if clusters are grown or
        split, and to the lowest of these clusters in a run of DBSCAN.
    min_samples : int
    labels : ndarray of shape (n_samples,)
        The cluster of each point, -1 for noise, of int32.
    core : ndarray of shape (n_samples,)
        Whether each point is core, at the eps of its cluster.
    n_clusters, n_noise : int
        The number of clusters, and of points with label -1.
    score : float
        Each big cluster has a credit from 0 to 1: how clearly it persists longer along eps than chance explains. The
        score sums credit · share · (1 - share), with the cluster's share of the points; noise lowers it, and a larger
        min_samples raises it a little. Of a run of DBSCAN, this is the largest score over the eps of its plateau; of
        grown clusters, the score of that run.
    noise : float
        The share of the points that are in no big cluster, from 0 to 1, estimated. A big cluster has at least 1 % of
        the points, and at least five. If clusters are split, this is the share of the points with label -1.
    confidence : float
        The expected adjusted Rand index with the true clusters, from 0.45 to 0.97. It is estimated from data sets whose
        clusters are known.
    reason : str
        The reason, as a sentence.
    plateau : tuple of float
        The first and last eps of the grid between which runs with this min_samples show the same big clusters. If
        clusters are grown or split, the smallest and the largest of eps_of_clusters.
    min_samples_range : tuple of int
        The first and last min_samples of the grid between which the big clusters of runs with this eps correspond one
        to one. If clusters are grown or split, min_samples twice.
    """

    eps: float | None
    eps_of_clusters: NDArray[np.float64]
    min_samples: int
    labels: NDArray[np.int32]
    core: NDArray[np.bool_]
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
        eps = "{:.4g} to {:.4g}".format(*self.plateau) if self.eps is None else f"{self.eps:.4g}"
        return f"eps={eps}, min_samples={self.min_samples}: {self.reason}; confidence {self.confidence:.2f}"


@dataclass(frozen=True, eq=False, repr=False)
class Exploration(Unchanging):
    """The result of `epsflow.explore`.

    Attributes
    ----------
    recommended : Offer or None
        None if no cell of the grid shows clusters that persist longer along eps than chance explains. The flags report
        this.
    one_eps : Offer or None
        The best (eps, min_samples) of the grid, with the labels of DBSCAN. The recommended clusters are made from it.
    alternatives : list of Offer
        At most two offers with other clusters: first clusters that have an eps each, then runs of DBSCAN with the
        better score first.
    flags : list of Flag
        Doubts about the result.
    eps, min_samples : ndarray
        The grid that was swept: both ascending, every eps with every min_samples. Both are empty if eps or min_samples
        was left out and no grid can be derived from the points: if there are fewer than 10, or if every point is at
        distance 0 from at least two others.
    scores : ndarray of shape (n_eps, n_min_samples)
        The score of each cell of the grid itself (see `Offer.score`, which is the largest of a plateau). NaN if a cell
        has fewer than two big clusters, or if these have less than half of the points.
    map : Lineage
        The lineage of the grid.
    """

    recommended: Offer | None
    one_eps: Offer | None
    alternatives: list[Offer]
    flags: list[Flag]
    eps: NDArray[np.float64]
    min_samples: NDArray[np.int64]
    scores: NDArray[np.float64]
    map: Lineage
    _made: tuple[Loaded | None, NDArray[np.float64] | None, str, bool] = field(
        default=(None, None, "", False), repr=False
    )
    """The data set (None if unpickled); its weights or None; the recommendation as in explore.json; whether a grid or a
    bound on the time was given."""

    @documented
    def report(self, file: Folder, *, overwrite: bool = False, progress: ProgressOption = None) -> None:
        """Write a page for a browser: the recommendation, its reasons, the doubts, and the map of each variant.

        The page is one file of at most 8 MiB. It needs no network and no server. The labels of all variants of the grid
        are computed for it, which takes about as long as the exploration.

        Parameters
        ----------
        {page} {progress}

        {file_errors}
        ValueError
            If the name does not end in .html or .htm, if points are on a GPU, or if the exploration was unpickled: then
            it has no points.
        """
        data, weights, advice, is_given = self._made
        if data is None:
            raise ValueError("an exploration that was unpickled has no points: explore again, and report that")
        given, offer = data._given, self.recommended
        by = arguments_of(given.metric)
        how = by + ("" if weights is None else ", sample_weight=weights")
        grid = f", eps={self.eps.tolist()}, min_samples={self.min_samples.tolist()}" if is_given else ""
        scores = [
            (float(eps), int(count), float(self.scores[i, k]))
            for i, eps in enumerate(self.eps)
            for k, count in enumerate(self.min_samples)
            if not np.isnan(self.scores[i, k])
        ]
        of = Reported(
            given.points,
            given.metric,
            str(data._data.metric),
            f"epsflow.explore(X{grid}{how}).report({str(file)!r})",
            ("", catalog_hint(by, how)),
            given.table,
            lineage=self.map._made,
            data=data._data if len(self.eps) else None,
            weights=weights,
            scores=scores,
            advice=advice,
            recommended=None if offer is None else offer.labels,
        )
        write_report(file, of, overwrite, progress)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": (None, None, *self._made[2:])}

    def __repr__(self) -> str:
        recommended = "nothing" if self.recommended is None else self.recommended._words()
        lines = [
            f"<epsflow.Exploration of {len(self.eps)} eps with {len(self.min_samples)} min_samples",
            f"  recommended: {recommended}",
        ]
        if self.one_eps is not None:
            lines.append(f"  at one eps: {self.one_eps._words()}")
        lines += [f"  alternative: {offer._words()}" for offer in self.alternatives]
        lines += [f"  {flag.name}: {flag.text}" for flag in self.flags]
        return "\n".join(lines) + ">"


@method
def explore_loaded(
    data: Loaded, eps: Any = None, min_samples: Any = None, *, seconds: float | None = None, sample_weight: Any = None,
    progress: ProgressOption = None,
) -> Exploration:
    bound = None if seconds is None else as_eps(seconds, name="seconds")
    weights = None if sample_weight is None else as_weights(sample_weight, len(data))
    asked: list[tuple[float, int]] | None = None
    if eps is not None or min_samples is not None:
        asked = _grid(data, eps, min_samples, weights, progress)
    made = made_by(_core.start_explore, data._data, asked, {}, weights, bound, progress=progress)
    grid = np.array(made.eps, dtype=np.float64), np.array(made.min_samples, dtype=np.int64)
    scores = np.asarray(made.scores).reshape(len(grid[0]), len(grid[1]))
    return Exploration(
        None if made.recommended is None else _as_offer(made.recommended),
        None if made.one_eps is None else _as_offer(made.one_eps),
        [_as_offer(offer) for offer in made.alternatives],
        [Flag(name, python_words(text)) for name, text in made.doubts],
        *grid,
        np.where(scores < 0, np.nan, scores),
        Lineage(made.map, data._given.unit),
        (data, weights, _core.advice_of(made), asked is not None or bound is not None),
    )


def _grid(data: Loaded, eps: Any, min_samples: Any, weights: Any, progress: ProgressOption) -> list[tuple[float, int]]:
    """Returns all pairs of eps and min_samples, sorted by eps, then by min_samples.

    If eps or min_samples is None, its values are suggested from the data. Returns an empty list if the data permit no
    suggestion. Raises ValueError if eps has a single value or uneven ratios; TypeError, ValueError for invalid values.
    """
    unit = data._given.unit
    # Both are checked before a run starts.
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
    """Raises ValueError if there are fewer than two eps, or if the ratios of successive eps differ. The
    logarithm of a ratio may deviate from the mean logarithm by a share of _STEP_ERROR. eps: ascending."""
    steps = np.diff(np.log(eps))
    if len(steps) == 0 or (abs(steps - steps.mean()) > _STEP_ERROR * steps.mean()).any():
        raise ValueError(
            f"eps has {len(eps)} values from {eps[0]:g} to {eps[-1]:g}: explore() needs at least two in even ratios, "
            "as numpy.geomspace(from, to, 40) gives them"
        )


def _as_offer(offer: Any) -> Offer:
    labels = np.asarray(memoryview(offer.labels).toreadonly())
    core = np.asarray(memoryview(offer.core).toreadonly()).view(np.bool_)
    eps_of_clusters = np.asarray(offer.eps_of_clusters)
    if len(eps_of_clusters) != offer.n_clusters:
        eps_of_clusters = np.full(offer.n_clusters, offer.eps)
    return filled(
        Offer, offer, labels=labels, core=core, eps_of_clusters=eps_of_clusters, reason=python_words(offer.reason)
    )


@method
def suggest_loaded(
    data: Loaded, *, sample_weight: Any = None, progress: ProgressOption = None
) -> tuple[list[float], list[int]]:
    weights = None if sample_weight is None else as_weights(sample_weight, len(data))
    variants = made_by(_core.start_suggest, data._data, {}, weights, progress=progress)
    return sorted({e for e, _ in variants}), sorted({m for _, m in variants})
