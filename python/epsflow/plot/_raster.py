"""Points as pixels with the cluster of most points. NumPy counts them in about the time that reading them takes."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Project = Callable[[Array], tuple[Array, Array]]
"""A function from points [m, d] to x and y [m] in the picture."""

NOISE, EMPTY = -1, -2
_CHUNK = 1 << 17  # points that fit into the cache of a core
# Points are sparse if a filled pixel has on average at most this number of filled neighbours (of eight).
_MOST_BESIDE = 3.0
_MOST_THREADS = 8  # more threads are limited by the memory bandwidth


class Raster(NamedTuple):
    """Pixels. Row 0 is at the bottom."""

    cluster: NDArray[np.int32]
    """[rows, columns] the cluster with the most points in each pixel, the first of equal ones. NOISE if a pixel has
    only noise, EMPTY if it has no points."""
    points: NDArray[np.int64]
    """[rows, columns] the number of points of clusters in each pixel; of noise if there is only noise."""


class Extent(NamedTuple):
    left: float
    right: float
    bottom: float
    top: float


def bounds(points: Array, project: Project) -> Extent:
    """Returns the smallest and largest x and y of points [n, d], not empty. Linear time."""

    def of(part: slice) -> tuple[Any, ...]:
        x, y = project(points[part])
        return x.min(), x.max(), y.min(), y.max()

    found = np.array(_each_chunk(len(points), of), dtype=np.float64)
    low, high = found.min(axis=0), found.max(axis=0)
    return Extent(float(low[0]), float(high[1]), float(low[2]), float(high[3]))


def all_finite(points: Array) -> bool:
    return all(_each_chunk(len(points), lambda part: bool(np.isfinite(points[part]).all())))


def rasterise(
    points: Array, labels: NDArray[np.int32], project: Project, extent: Extent, shape: tuple[int, int]
) -> Raster:
    """Counts points [n, d] with labels [n], all within the extent, on pixels of shape (rows, columns).

    Time is linear in the points. Only points in pixels that several clusters share are sorted.
    """
    n_pixels = shape[0] * shape[1]
    pixel = _pixels(points, labels, project, extent, shape)
    of_clusters, of_noise = np.bincount(pixel, minlength=2 * n_pixels).reshape(2, n_pixels)
    cluster = np.full(2 * n_pixels, EMPTY, np.int32)
    cluster[pixel] = labels  # any cluster of the pixel: correct if it has only one
    _resolve_shared(cluster, pixel, labels)
    there = of_clusters > 0
    first = np.where(there, cluster[:n_pixels], cluster[n_pixels:])
    return Raster(first.reshape(shape), np.where(there, of_clusters, of_noise).reshape(shape))


def is_sparse(raster: Raster) -> bool:
    """Returns whether pixels with points have on average at most three such neighbours (of eight). Then spread() makes
    them easier to see. False if there are no points."""
    filled = raster.cluster != EMPTY
    return bool(filled.any() and _beside(filled).sum(axis=0)[filled].mean() <= _MOST_BESIDE)


def spread(raster: Raster) -> Raster:
    """Enlarges each point to 3 × 3 pixels. An empty pixel, or noise beside a cluster, shows the neighbour with the most
    points, clusters before noise."""
    filled = raster.cluster != EMPTY
    clustered = raster.cluster >= 0
    rank = np.where(clustered, raster.points + raster.points.max(), np.where(filled, raster.points, 0))
    best = _beside(rank).argmax(axis=0)[None]
    cluster, points = (
        np.take_along_axis(_beside(values, fill), best, axis=0)[0]
        for values, fill in ((raster.cluster, EMPTY), (raster.points, 0))
    )
    stays = clustered | filled & (cluster < 0)
    return Raster(np.where(stays, raster.cluster, cluster), np.where(stays, raster.points, points))


def sizes_of(labels: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the clusters of labels [n], ascending, and their numbers of points. Noise is left out."""
    most = int(labels.max(initial=-1))
    if most > 4 * len(labels):  # numbers of clusters may have gaps
        clusters, counts = np.unique(labels[labels >= 0], return_counts=True)
        return clusters.astype(np.int64), counts.astype(np.int64)
    every = np.zeros(most + 2, np.int64)
    for counts in _each_chunk(len(labels), lambda part: np.bincount(labels[part] + 1), 1 << 20):
        every[: len(counts)] += counts
    every = every[1:]
    there = np.flatnonzero(every)
    return there.astype(np.int64), every[there]


def _pixels(
    points: Array, labels: NDArray[np.int32], project: Project, extent: Extent, shape: tuple[int, int]
) -> NDArray[np.int32]:
    """Returns [n] the pixel of each point: row · columns + column. Noise has the pixels of a second image, which
    follow the pixels of the first. points: [n, d] within the extent. shape: (rows, columns)."""
    rows, columns = shape
    across = columns / ((extent.right - extent.left) or 1.0)
    up = rows / ((extent.top - extent.bottom) or 1.0)
    pixel = np.empty(len(points), np.int32)

    def fill(part: slice) -> None:
        x, y = project(points[part])
        column = ((x - extent.left) * across).astype(np.int32)
        row = ((y - extent.bottom) * up).astype(np.int32)
        np.minimum(column, columns - 1, out=column)  # the last edge belongs to the last pixel
        np.minimum(row, rows - 1, out=row)
        row *= columns
        row += column
        # The sign bit is set for noise (-1) only.
        np.add(row, (labels[part] >> 31) & (rows * columns), out=pixel[part])

    _each_chunk(len(points), fill)
    return pixel


def _resolve_shared(cluster: NDArray[np.int32], pixel: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
    """Sets pixels of several clusters to the cluster with the most points."""
    shared = np.zeros(len(cluster), np.bool_)

    def differ(part: slice) -> Array:
        return np.asarray(pixel[part][labels[part] != cluster.take(pixel[part], mode="clip")])  # the fastest mode

    for found in _each_chunk(len(pixel), differ):
        shared[found] = True
    if not shared.any():
        return

    def keys(part: slice) -> Array:
        chosen = np.flatnonzero(shared.take(pixel[part], mode="clip"))
        return np.asarray(pixel[part].take(chosen).astype(np.int64) << 32 | labels[part].take(chosen))

    key = np.concatenate(_each_chunk(len(pixel), keys))
    key.sort()
    begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    length = np.diff(begins, append=len(key))
    where, which = key[begins] >> 32, (key[begins] & 0xFFFFFFFF).astype(np.int32)
    order = np.lexsort((which, -length, where))
    first = order[np.concatenate([[True], np.diff(where[order]) > 0])]
    cluster[where[first]] = which[first]


def _beside(values: Array, fill: Any = 0) -> Array:
    """Returns [8, rows, columns] the values of the eight neighbours of each pixel."""
    padded = np.pad(values, 1, constant_values=fill)
    rows, columns = values.shape
    offsets = [(dy, dx) for dy in (0, 1, 2) for dx in (0, 1, 2) if (dy, dx) != (1, 1)]
    return np.stack([padded[dy : dy + rows, dx : dx + columns] for dy, dx in offsets])


def _each_chunk(n: int, work: Callable[[slice], Any], chunk: int = _CHUNK) -> list[Any]:
    """Returns work(part) for each part of n, in order. Threads run in parallel: NumPy's loops release the GIL."""
    parts = [slice(begin, min(begin + chunk, n)) for begin in range(0, n, chunk)]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if len(parts) < 4 or cores == 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(min(cores, _MOST_THREADS)) as pool:
        return list(pool.map(work, parts))
