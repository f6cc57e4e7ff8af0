"""Comparison of two labellings of the same points."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._columns import has_masked
from ._docs import documented
from ._gpu_arrays import on_host
from ._labelled import as_columns
from ._parameters import as_options
from ._tasks import filled, python_errors


_NO_GROUP = 2**31 - 1
"""SWIFT's number for points in no group."""


@dataclass(frozen=True)
class Comparison:
    """The agreement of two labellings a and b.

    Attributes
    ----------
    ari : float
        Adjusted Rand index: 1 for equal partitions, about 0 for independent ones. Noise is a class. It equals
        sklearn.metrics.adjusted_rand_score(a, b).
    vi : float
        Variation of information, in nats: 0 for equal partitions, at most the logarithm of n. Noise is a class.
    normalised_vi : float
        vi divided by the logarithm of n, from 0 to 1; 0 for fewer than two points.
    kept : float
        The share of the points in clusters of a that stay together: each cluster of a counts with its points in the one
        cluster of b that has most of them. Noise of b does not count. 1 if a has no clusters.
    kept_back : float
        The same share with a and b exchanged.
    n : int
        The number of points.
    """

    ari: float
    vi: float
    normalised_vi: float
    kept: float
    kept_back: float
    n: int
    _table: dict[str, NDArray[Any]] = field(repr=False, compare=False)

    @property
    def table(self) -> Any:
        """The contingency table: one row per pair of clusters of a and b that have points in common. Noise counts as
        a cluster, -1.

        Rows are sorted by a, then by the number of points, descending. The columns are "a" and "b"; "points", the
        number in both; "of_a" and "of_b", their shares of the cluster of a and of b. A pandas.DataFrame if pandas is
        installed, else a dict of arrays.
        """
        return as_columns(self._table)


@documented
def compare(a: Any, b: Any, *, threads: int | None = None) -> Comparison:
    """Compare two labellings of the same points: how far they agree, and which cluster became which.

    Parameters
    ----------
    a, b : array of shape (n_samples,), or an object with labels
        Labels are whole numbers: clusters from 0, and -1 for noise. Objects with labels are variants of `epsflow.sweep`
        and `epsflow.load`, fitted estimators such as `epsflow.DBSCAN`, and `Groups` of any dialect. In arrays,
        2147483647 (SWIFT) is noise, too. For nbodykit's labels, with 0 for no group, give labels - 1.
    {threads}

    Returns
    -------
    Comparison

    Raises
    ------
    TypeError
        If labels are not whole numbers, or if a whole sweep is given.
    ValueError
        If the numbers of points differ; if labels are masked, not one-dimensional, below -1 or above 2**31 - 1; or if a
        variant was run with keep="summary" and has no labels.

    Examples
    --------
    >>> result = epsflow.sweep(X, eps=[0.1, 0.2], min_samples=10)
    >>> found = epsflow.compare(result.variant(0.1, 10), result.variant(0.2, 10))
    >>> found.ari, found.kept
    >>> found.table
    """
    of_a, of_b = as_labels(a, "a"), as_labels(b, "b")
    if len(of_a) != len(of_b):
        raise ValueError(f"a has {len(of_a)} labels and b has {len(of_b)}: give two labellings of the same points")
    with python_errors():
        found, n, first, second, points = _core.compare_labels(of_a, of_b, as_options(threads=threads))
    order = np.lexsort((-points, first))
    first, second, points = first[order], second[order], points[order]
    table: dict[str, NDArray[Any]] = {"a": first, "b": second, "points": points}
    table.update(of_a=points / _sums(first, points), of_b=points / _sums(second, points))
    return filled(Comparison, found, n=n, _table=table)


def labels_of(labels: Any, name: str) -> Any:
    """Returns the array of labels of an object, or the object itself if it has none. Those of Groups are numbered from
    0 in any dialect. Raises TypeError if the object has labels of several variants. name: the parameter in errors."""
    # _numbers comes first: labels of Groups may have the numbers of another program.
    for attribute in ("_numbers", "labels", "labels_"):
        found = getattr(labels, attribute, None)
        if callable(found):
            one = (
                "one with variant(eps, min_samples)" if hasattr(labels, "variant")
                else f"those of one with labels({', '.join(inspect.signature(found).parameters)})"
            )
            raise TypeError(f"{name} is a {type(labels).__name__}, which has labels of several variants: choose {one}")
        if found is not None:
            return found
    return labels


def as_labels(labels: Any, name: str) -> NDArray[np.int32]:
    """Returns labels [n] as a contiguous array of int32, from an array or an object with labels. SWIFT's number for no
    group, 2**31 - 1, becomes -1, which is noise. name: the parameter, for the errors.

    Raises TypeError if the labels are not of an integer type, or if the object has labels of several variants. Raises
    ValueError if some labels are masked or outside -1 to 2**31 - 1, or if the array is not one-dimensional.
    """
    labels = labels_of(labels, name)
    if has_masked(labels):
        raise ValueError(f"{name} has masked values, and each point has a label: -1 for noise")
    array = np.asarray(on_host(labels))
    if array.dtype.kind not in "iu" and array.size > 0:
        gaps = array.dtype.kind == "f" and np.isnan(array).any()
        remedy = (
            f"; rows that were dropped have none, and are left out as {name}[numpy.isfinite({name})].astype(int)"
            if gaps else ""
        )
        raise TypeError(
            f"{name} has dtype {array.dtype}, and labels are whole numbers: clusters from 0 on, "
            f"and -1 for noise{remedy}"
        )
    if array.ndim != 1:
        raise ValueError(
            f"{name} has shape {array.shape}, and labels are a label for each point: of shape (n_samples,)"
        )
    if array.size > 0:
        for extreme in (int(array.min()), int(array.max())):
            if not -1 <= extreme < 2**31:
                raise ValueError(
                    f"{name} has the label {extreme}, and labels are clusters from 0 to {2**31 - 1}, or -1 for noise"
                )
        if extreme == _NO_GROUP:
            array = np.where(array == _NO_GROUP, -1, array)
    return np.ascontiguousarray(array, dtype=np.int32)


def _sums(labels: NDArray[np.int32], points: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns for each row the sum of points over the rows with the same label."""
    _, which = np.unique(labels, return_inverse=True)
    sums = np.zeros(len(labels), dtype=np.int64)
    np.add.at(sums, which, points)
    return sums[which]
