"""Points as pixels: which cluster has the most points in each, counted by NumPy, in about the time that reading the points takes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Project = Callable[[Array], tuple[Array, Array]]
"""Points [m, d] to x and y [m] of the picture."""

NOISE, EMPTY = -1, -2
_CHUNK = 1 << 17  # so many points at a time stay in the cache of a core
_MOST_BESIDE = 3.0  # filled pixels of the eight around one, on average, up to which points are said to stand alone
_MOST_THREADS = 8  # beyond them memory, not cores, is what there is too little of


class Raster(NamedTuple):
    """Row 0 is at the bottom."""

    cluster: NDArray[np.int32]
    """[rows, columns] the cluster with the most points in each pixel, of equal ones the first; NOISE where there is noise alone, EMPTY
    where there is nothing."""
    points: NDArray[np.int64]
    """[rows, columns] those of clusters in each pixel; of noise where there is noise alone."""


class Extent(NamedTuple):
    left: float
    right: float
    bottom: float
    top: float


def bounds(points: Array, project: Project) -> Extent:
    """The smallest and largest x and y. [n, d], not empty; linear time."""

    def of(part: slice) -> tuple[Any, ...]:
        x, y = project(points[part])
        return x.min(), x.max(), y.min(), y.max()

    found = np.array(_each_chunk(len(points), of), dtype=np.float64)
    low, high = found.min(axis=0), found.max(axis=0)
    return Extent(float(low[0]), float(high[1]), float(low[2]), float(high[3]))


def all_finite(points: Array) -> bool:
    return all(_each_chunk(len(points), lambda part: bool(np.isfinite(points[part]).all())))


def rasterise(points: Array, labels: NDArray[np.int32], project: Project, extent: Extent, shape: tuple[int, int]) -> Raster:
    """[n, d] points and their [n] labels, all within the extent, on pixels of shape (rows, columns).

    Time is linear in the points but for those in pixels that several clusters share, which are sorted.
    """
    n_pixels = shape[0] * shape[1]
    pixel, clusters, noise = _pixels(points, labels, project, extent, shape)
    counts, of_noise = np.bincount(pixel, minlength=n_pixels), np.bincount(noise, minlength=n_pixels)
    cluster = np.where(of_noise > 0, NOISE, EMPTY).astype(np.int32)
    cluster[pixel] = clusters  # any of those that the pixel has: right where it has one
    _settle(cluster, pixel, clusters)
    return Raster(cluster.reshape(shape), np.where(counts > 0, counts, of_noise).reshape(shape))


def spread(raster: Raster) -> Raster:
    """Each point as a dot of 3 × 3 pixels, where most stand alone and would hardly be seen; a raster that is dense stays as it is.

    Dots of clusters lie above noise. Of several dots that meet in a pixel the one of most points is seen.
    """
    filled = raster.cluster != EMPTY
    if not filled.any() or _beside(filled).sum(axis=0)[filled].mean() > _MOST_BESIDE:
        return raster
    clustered = raster.cluster >= 0
    rank = np.where(clustered, raster.points + raster.points.max(), np.where(filled, raster.points, 0))
    best = _beside(rank).argmax(axis=0)[None]
    cluster, points = (np.take_along_axis(_beside(values, fill), best, axis=0)[0] for values, fill in ((raster.cluster, EMPTY), (raster.points, 0)))
    stays = clustered | filled & (cluster < 0)
    return Raster(np.where(stays, raster.cluster, cluster), np.where(stays, raster.points, points))


def sizes_of(labels: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The clusters, ascending, with their points."""
    most = int(labels.max(initial=-1))
    if most > 4 * len(labels):  # numbers of clusters need not follow each other
        clusters, counts = np.unique(labels[labels >= 0], return_counts=True)
        return clusters.astype(np.int64), counts.astype(np.int64)
    every = np.bincount(labels[labels >= 0], minlength=most + 1).astype(np.int64)
    there = np.flatnonzero(every)
    return there.astype(np.int64), every[there]


def _pixels(
    points: Array, labels: NDArray[np.int32], project: Project, extent: Extent, shape: tuple[int, int]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """The pixel and the cluster of each point that has one, and the pixels of noise."""
    rows, columns = shape
    across = columns / ((extent.right - extent.left) or 1.0)
    up = rows / ((extent.top - extent.bottom) or 1.0)
    found = _each_chunk(len(points), lambda part: int(np.count_nonzero(labels[part] >= 0)))
    begins = np.concatenate([[0], np.cumsum(found)])
    pixel, clusters = (np.empty(begins[-1], np.int32) for _ in range(2))
    noise = np.empty(len(points) - int(begins[-1]), np.int32)

    def fill(part: slice) -> None:
        x, y = project(points[part])
        column = ((x - extent.left) * across).astype(np.int32)
        row = ((y - extent.bottom) * up).astype(np.int32)
        np.clip(column, 0, columns - 1, out=column)  # what lies on the last edge belongs to the last pixel
        np.clip(row, 0, rows - 1, out=row)
        row *= columns
        row += column
        inside = labels[part] >= 0
        first, last = begins[part.start // _CHUNK], begins[part.start // _CHUNK + 1]
        pixel[first:last], clusters[first:last] = row[inside], labels[part][inside]
        noise[part.start - first : part.stop - last] = row[~inside]

    _each_chunk(len(points), fill)
    return pixel, clusters, noise


def _settle(cluster: NDArray[np.int32], pixel: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
    """Gives pixels of several clusters the one with the most points."""
    shared = np.zeros(len(cluster), np.bool_)

    def differ(part: slice) -> Array:
        return np.asarray(pixel[part][labels[part] != cluster[pixel[part]]])

    for found in _each_chunk(len(pixel), differ):
        shared[found] = True
    if not shared.any():
        return

    def keys(part: slice) -> Array:
        chosen = shared[pixel[part]]
        return np.asarray(pixel[part][chosen].astype(np.int64) << 32 | labels[part][chosen])

    key = np.concatenate(_each_chunk(len(pixel), keys))
    key.sort()
    begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    length = np.diff(begins, append=len(key))
    where, which = key[begins] >> 32, (key[begins] & 0xFFFFFFFF).astype(np.int32)
    order = np.lexsort((which, -length, where))
    first = order[np.concatenate([[True], np.diff(where[order]) > 0])]
    cluster[where[first]] = which[first]


def _beside(values: Array, fill: Any = 0) -> Array:
    """[8, rows, columns] what the eight pixels around each have."""
    padded = np.pad(values, 1, constant_values=fill)
    rows, columns = values.shape
    places = [(dy, dx) for dy in (0, 1, 2) for dx in (0, 1, 2) if (dy, dx) != (1, 1)]
    return np.stack([padded[dy : dy + rows, dx : dx + columns] for dy, dx in places])


def _each_chunk(n: int, work: Callable[[slice], Any]) -> list[Any]:
    """What work makes of each stretch of n, in order, by several threads: NumPy's loops let go of the interpreter."""
    parts = list(_chunks(n))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if len(parts) < 4 or cores == 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(min(cores, _MOST_THREADS)) as pool:
        return list(pool.map(work, parts))


def _chunks(n: int) -> Iterator[slice]:
    for begin in range(0, n, _CHUNK):
        yield slice(begin, min(begin + _CHUNK, n))
