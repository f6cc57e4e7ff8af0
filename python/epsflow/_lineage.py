"""Lineages: the clusters of every variant of a sweep, and how they are nested."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_weights
from ._labelled import as_frame
from ._loaded import Loaded, method
from ._parameters import SAME_EPS, as_choice, as_count, as_eps, as_options, as_variants, find_variant
from ._tasks import ProgressOption, made_by, python_errors
from ._units import warn_of_unit

KEPT = ("summary", "core")
_BORDER_COUNTS = ("n_noise", "n_border", "largest", "size")  # absent with keep="core"
_CELL_COUNTS = ("min_samples", "n_clusters", "n_noise", "n_core", "n_border", "largest")
_CLUSTER_COUNTS = ("first_core", "n_core", "size", "parent_eps", "parent_min_samples")
_BAR_COUNTS = ("birth_place", "death_place", "cluster", "n_core", "size", "first_core")


class Lineage:
    """The map of a sweep: the clusters of every variant, and how they are nested. It has no labels.

    A core point stays core if eps grows or min_samples falls, and connected points stay connected. So the core points
    of a cluster are in one cluster of each variant with no smaller eps and no larger min_samples. (Border points may
    change their cluster.)

    `epsflow.lineage` returns it, and `epsflow.sweep` with lineage=True. `len` is the number of variants.
    """

    def __init__(self, made: Any, unit: Any = None) -> None:
        self._made = made
        self._unit = unit
        self._eps, self._figures = made.cells()
        self._positions = {variant: i for i, variant in enumerate(self.variants)}

    @property
    def variants(self) -> list[tuple[float, int]]:
        """(eps, min_samples) of each variant, in the order of the sweep."""
        return list(zip(self._eps.tolist(), self._figures[:, 0].tolist()))

    @property
    def summary(self) -> Any:
        """One row per variant, in the order of the sweep: a pandas.DataFrame, or a structured array without pandas.

        The columns are eps, min_samples, n_clusters, n_noise, n_core, n_border and largest, as in
        `SweepResult.summary`. With keep="core" they are eps, min_samples, n_clusters and n_core.
        """
        return as_frame({"eps": self._eps, **self._told(_CELL_COUNTS, self._figures)})

    @property
    def clusters(self) -> Any:
        """One row per cluster of each variant, in the order of the sweep, as a table like `summary`.

        eps, min_samples, cluster
            The variant, and the label of the cluster.
        first_core
            The smallest index of its core points. It identifies the cluster if variants number clusters differently.
        n_core, size
            The number of its core points and of all its points. There is no size with keep="core".
        parent_eps, parent_min_samples
            Its parent at the next larger eps with the same min_samples, and at the next smaller min_samples with the
            same eps. -1 if the sweep has no such variant.
        """
        n_clusters = self._figures[:, 1]
        begins = np.cumsum(n_clusters) - n_clusters
        table = self._made.clusters()
        return as_frame(
            {
                "eps": np.repeat(self._eps, n_clusters),
                "min_samples": np.repeat(self._figures[:, 0], n_clusters),
                "cluster": np.arange(len(table)) - np.repeat(begins, n_clusters),
                **self._told(_CLUSTER_COUNTS, table),
            }
        )

    def bars(
        self, *, min_samples: int | None = None, eps: Any = None, path: Iterable[tuple[float, int]] | None = None
    ) -> Any:
        """Return the persistence of clusters along a path of variants: one row per bar, from birth to death.

        A cluster dies when it merges with an older one (elder rule). If both have the same age, the one with more core
        points goes on, and then the one with the smaller first core point. Give one of min_samples, eps and path.

        Parameters
        ----------
        min_samples : int
            The path goes through all variants of this min_samples, by ascending eps.
        eps : float or quantity of astropy
            The path goes through all variants of this eps, by descending min_samples.
        path : iterable of (eps, min_samples)
            Variants of the sweep. Each has no smaller eps and no larger min_samples than the one before.

        Returns
        -------
        table
            One row per bar, sorted by birth, then by first core point, as a table like `summary`:

            birth, death
                The eps at which the cluster appears and at which it merges into an older one; infinity if it persists
                to the end of the path. If eps is given, both are min_samples, and death is NaN at the end of the path.
            birth_place, death_place
                The same as positions on the path, from 0. death_place is the length of the path if the cluster persists
                to its end.
            cluster, n_core, size
                The label of the cluster in the last variant before its death, and the numbers of its core points and of
                all its points there. There is no size with keep="core".
            first_core
                The smallest index of its core points at its birth.

        Raises
        ------
        KeyError
            If the sweep does not have a variant.
        ValueError
            If the path goes back to smaller eps or larger min_samples, or if the sweep does not connect two variants.
        TypeError
            If not exactly one of min_samples, eps and path is given.
        """
        if sum(given is not None for given in (min_samples, eps, path)) != 1:
            raise TypeError("bars() takes one of min_samples, eps and path: along which variants clusters live")
        along = self._figures[:, 0] if eps is not None else self._eps
        if min_samples is not None:
            value: Any = as_count(min_samples, "min_samples")
            positions = np.flatnonzero(self._figures[:, 0] == value)
            positions = positions[np.argsort(self._eps[positions])]
        elif eps is not None:
            value = as_eps(eps, self._unit)
            positions = np.flatnonzero(np.isclose(self._eps, value, rtol=SAME_EPS, atol=0))
            positions = positions[np.argsort(-self._figures[positions, 0])]
        else:
            positions = np.array([self._position(*variant) for variant in as_variants(None, None, path, self._unit)])
        if len(positions) == 0:
            raise KeyError(f"{'min_samples' if eps is None else 'eps'}={value!r} is in none of the variants")
        with python_errors():
            bars = self._made.bars(positions.tolist())
        end = np.nan if eps is not None else np.inf
        values = np.append(along[positions].astype(np.float64), end)
        counts = self._told(_BAR_COUNTS, bars)
        return as_frame({"birth": values[counts["birth_place"]], "death": values[counts["death_place"]], **counts})

    def ancestors(self, inner: tuple[float, int], outer: tuple[float, int]) -> NDArray[np.intp]:
        """Return the ancestors of the clusters of one variant in another variant.

        Parameters
        ----------
        inner, outer : (eps, min_samples)
            Variants of the sweep. outer has no smaller eps and no larger min_samples than inner.

        Returns
        -------
        ndarray of shape (n_clusters of inner,)
            For each cluster of `inner`, the label of the cluster of `outer` that contains its core points.

        Raises
        ------
        KeyError
            If the sweep does not have a variant.
        ValueError
            If eps is smaller or min_samples larger in outer, or if the sweep has no path between the two on which each
            step changes only eps or only min_samples.
        """
        with python_errors():
            return np.asarray(self._made.ancestors(self._position(*inner), self._position(*outer))).astype(np.intp)

    def rank(self, inner: tuple[float, int], outer: tuple[float, int]) -> int:
        """Return how many clusters of `outer` contain one of `inner`. For parameters and errors see `ancestors`."""
        with python_errors():
            return int(self._made.rank(self._position(*inner), self._position(*outer)))

    def relative_validity(self) -> NDArray[np.float64]:
        """Return how well the clusters of each variant are separated, a cheap estimate of `epsflow.validity`.

        For each cluster it compares the eps at which its core points become connected with the eps up to which it stays
        apart from other clusters, as `relative_validity_` of hdbscan compares edges of a minimum spanning tree. Both
        are eps of the map, so the result is a lower bound. If eps are in even ratios of exp(s), it is too low by less
        than 2 s, except for clusters that stay apart to the end of the map.

        Returns
        -------
        ndarray of shape (n_variants,)
            From 0 to 1, in the order of the sweep: the mean of 1 - joined / apart over all points; noise counts as 0.
            NaN if there is exactly one cluster.

        Raises
        ------
        ValueError
            If the lineage was made with keep="core" and has no sizes of clusters.
        """
        if not self._made.has_sizes:
            raise ValueError(
                "relative validity weighs clusters by their points, and keep='core' counts core points alone: "
                "keep='summary'"
            )
        return np.asarray(self._made.relative_validity())

    def _told(self, names: tuple[str, ...], table: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """Returns columns by name. Columns that depend on border points are left out if these were not computed."""
        columns = dict(zip(names, table.T))
        if self._made.has_sizes:
            return columns
        return {name: column for name, column in columns.items() if name not in _BORDER_COUNTS}

    def _position(self, eps: Any, min_samples: Any) -> int:
        return find_variant(self._positions, eps, min_samples, self._unit)

    def __reduce__(self) -> Any:
        return _made_of, (self._eps, self._figures, self._made.clusters(), self._unit)

    def __len__(self) -> int:
        return len(self._eps)

    def __repr__(self) -> str:
        return f"<epsflow.Lineage of {len(self)} variants, {int(self._figures[:, 1].sum())} clusters>"


def _made_of(eps: Any, figures: Any, clusters: Any, unit: Any) -> Lineage:
    return Lineage(_core.lineage_of(*(np.ascontiguousarray(table) for table in (eps, figures, clusters))), unit)


def stored_lineage(file: Any, n_samples: int) -> Lineage:
    """Loads a lineage.npz that `epsflow sweep --lineage` wrote. n_samples: the number of points, which it does not
    contain. Raises ValueError if the file is missing, damaged or another one."""
    try:
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        if fractions := [name for name, array in arrays.items() if name != "eps" and array.dtype.kind not in "iu"]:
            raise TypeError(f"{fractions[0]} are no whole numbers")
        offsets, size = arrays["offsets"], arrays["size"]
        counts = [arrays[name].astype(np.int64) for name in ("minpts", "clusters", "noise", "core")]
        n_clusters = np.diff(offsets)
        border = n_samples - counts[2] - counts[3]
        largest = np.zeros(len(n_clusters), np.int64)
        np.maximum.at(largest, np.repeat(np.arange(len(n_clusters)), n_clusters), size)
        figures = np.stack([*counts, border, largest, arrays["wider"], arrays["looser"]], axis=1)
        names = ("first_core", "core_points", "size", "parent_eps", "parent_minpts")
        clusters = np.stack([arrays[name].astype(np.int64) for name in names], axis=1)
        made = _core.lineage_of(arrays["eps"], np.ascontiguousarray(figures, np.int64), clusters)
    except (LookupError, TypeError, ValueError, OverflowError, OSError, BadZipFile) as error:
        raise ValueError(f"{file} is no lineage.npz of epsflow, or is damaged: {error}") from None
    return Lineage(made)


@method
def lineage_loaded(
    data: Loaded, eps: Any = None, min_samples: Any = None, *,
    variants: Iterable[tuple[float, int]] | None = None, sample_weight: Any = None, keep: str = "summary",
    progress: ProgressOption = None,
    strategy: str = "auto", index: str = "auto", decide: str = "auto",
) -> Lineage:
    weights = None if sample_weight is None else as_weights(sample_weight, len(data))
    asked = as_variants(eps, min_samples, variants, data._given.unit)
    run = as_options(keep=as_choice(keep, "keep", "summary", KEPT), strategy=strategy, index=index, decide=decide)
    warn_of_unit(data._given, min(e for e, _ in asked))
    return Lineage(made_by(_core.start_lineage, data._data, asked, run, weights, progress=progress), data._given.unit)
