"""The colours of clusters, and pixels in these colours."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._raster import EMPTY, Raster, sizes_of
from ._style import NOISE_COLOR, PALETTE

_MOST_BY_DISTANCE = 1000  # clusters that are coloured by their distances, which takes quadratic time
_FULLNESS = {True: (0.55, 1.0), False: (0.25, 0.75)}
"""The opacity of clusters (True) and noise (False): for one point in a pixel, and for many."""


class Found(NamedTuple):
    """The labels of points, and the clusters among them. Noise (labels below 0) does not count as a cluster."""

    labels: NDArray[np.int32]
    """[n]"""
    clusters: NDArray[np.int64]
    """The labels of the clusters, ascending."""
    sizes: NDArray[np.int64]
    """The number of points of each cluster, in the order of `clusters`."""
    order: NDArray[np.intp]
    """Indices into `clusters`, by descending size."""

    @property
    def n_noise(self) -> int:
        return len(self.labels) - int(self.sizes.sum())

    def index_of(self, labels: NDArray[Any]) -> NDArray[np.intp]:
        """Returns for each label its index in `clusters`. Each label must be in `clusters`, so noise is not allowed."""
        if len(self.clusters) and self.clusters[-1] == len(self.clusters) - 1:
            return labels.astype(np.intp)  # clusters are numbered without gaps
        return np.searchsorted(self.clusters, labels)


def found_in(labels: NDArray[np.int32]) -> Found:
    """Returns the clusters of labels [n]. Clusters of equal size are ordered by label."""
    clusters, sizes = sizes_of(labels)
    return Found(labels, clusters, sizes, np.argsort(-sizes, kind="stable"))


def codes_of(
    found: Found, cluster: NDArray[Any], x: NDArray[Any], y: NDArray[Any], count: NDArray[Any]
) -> NDArray[np.int64]:
    """Returns each cluster's colour as an index into PALETTE, in the order of `found.clusters`.

    As long as there are colours, the largest clusters have different ones. Each further cluster, up to
    _MOST_BY_DISTANCE, takes the colour whose nearest cluster is farthest away. Clusters beyond that, or without points
    in the picture, take the colours in turn. cluster, x, y, count: [m] the cluster (not noise), position (0 to 1) and
    number of points of each pixel, or of each point.
    """
    codes = np.empty(len(found.clusters), np.int64)
    codes[found.order] = np.arange(len(found.order)) % len(PALETTE)
    at = found.index_of(cluster)
    weight = np.bincount(at, count, minlength=len(codes)).astype(np.float64)
    weight[weight == 0] = np.nan  # the cluster is in no pixel and invisible
    middle = np.stack([np.bincount(at, count * values, minlength=len(codes)) / weight for values in (x, y)])
    largest = [i for i in found.order[:_MOST_BY_DISTANCE].tolist() if np.isfinite(middle[0, i])]
    nearest = np.full((len(largest), len(PALETTE)), np.inf)  # the distance to the nearest cluster of each colour
    where = middle[:, largest]
    for k, i in enumerate(largest):
        codes[i] = code = int(nearest[k].argmax())
        nearest[:, code] = np.minimum(nearest[:, code], np.hypot(*(where - where[:, k : k + 1])))
    return codes


def rgb_of(found: Found, codes: NDArray[np.int64], cluster: NDArray[Any]) -> NDArray[np.float64]:
    """Returns colours [..., 3], from 0 to 1, of clusters and noise. codes: from codes_of(). cluster: labels [...]."""
    from matplotlib.colors import to_rgb

    table = np.array([to_rgb(color) for color in (*PALETTE, NOISE_COLOR)])
    which = np.full(cluster.shape, len(PALETTE))
    inside = cluster >= 0
    which[inside] = codes[found.index_of(cluster[inside])]
    return np.asarray(table[which])


def image_of(raster: Raster, found: Found, codes: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Returns colours [rows, columns, 4] from 0 to 255: lighter if a pixel has fewer points, transparent if it has
    none. codes: from codes_of()."""
    image = np.full((*raster.cluster.shape, 4), 255, np.uint8)
    filled = raster.cluster != EMPTY
    part = np.zeros(raster.cluster.shape)
    for clustered, (least, most) in _FULLNESS.items():
        chosen = filled & ((raster.cluster >= 0) == clustered)
        if chosen.any():
            counts = raster.points[chosen]
            many = np.log(np.quantile(counts, 0.99)) or 1.0  # a few very full pixels do not affect the others
            part[chosen] = least + (most - least) * np.minimum(np.log(counts) / many, 1) if counts.max() > 1 else most
    mixed = 1 - part[filled][:, None] * (1 - rgb_of(found, codes, raster.cluster[filled]))
    image[filled, :3] = np.rint(255 * mixed)
    image[~filled, 3] = 0
    return image
