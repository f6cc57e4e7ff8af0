"""Views: how points of any dimension are projected to the plane (planes, maps of a sphere, principal components)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Optional

import numpy as np
from numpy.typing import NDArray

from ._raster import Array, Extent, Project, bounds

KINDS = ("auto", "plane", "geographic", "sky", "mollweide", "aitoff", "planes", "principal")
_MOST_STRETCHED = 5  # if the ratio of the sides is larger, axes have different scales
_MARGIN = 0.02


@dataclass
class View:
    """One projection of the points."""

    project: Project
    extent: Extent
    labels: tuple[str, str]
    equal: float = 1.0
    """The length of a unit of y relative to a unit of x. 0 if units are unrelated: then the picture is a square."""
    leftwards: bool = False
    sky: Optional[str] = None
    """The projection of the whole sky. x and y are coordinates of this projection."""
    middle: float = 0.0
    """The longitude in the middle of the sky, in degrees."""
    degrees: bool = False
    signed: bool = False
    """Whether longitudes west of Greenwich are negative, as in the points."""

    @property
    def ratio(self) -> float:
        """Height divided by width."""
        wide, high = self.extent.right - self.extent.left, self.extent.top - self.extent.bottom
        return self.equal * high / wide if self.equal else 1.0


def plane(points: Array, names: Sequence[str], x: int, y: int) -> View:
    def project(part: Array) -> tuple[Array, Array]:
        return part[:, x], part[:, y]

    extent = bounds(points, project)
    width, height = extent.right - extent.left, extent.top - extent.bottom
    alike = width > 0 and height > 0 and 1 / _MOST_STRETCHED <= width / height <= _MOST_STRETCHED
    return View(project, widened(extent), (names[x], names[y]), equal=1.0 if alike else 0.0)


def principal(points: Array, chunk: int = 1 << 17) -> View:
    """Returns the view of the plane of the first two principal components. The labels of its axes show the share of the
    variance of each, in percent. points: [n, d] with d of at least 2. chunk: how many rows are processed at once."""
    middle = points.mean(axis=0, dtype=np.float64)
    covariance = np.zeros((points.shape[1],) * 2)
    for begin in range(0, len(points), chunk):
        part = points[begin : begin + chunk] - middle
        covariance += part.T @ part
    variance, axes = np.linalg.eigh(covariance)
    variance, axes = np.maximum(variance[::-1], 0), axes[:, ::-1][:, :2]
    axes = axes * np.where(axes[abs(axes).argmax(axis=0), [0, 1]] < 0, -1, 1)  # the largest component is positive

    def project(part: Array) -> tuple[Array, Array]:
        moved = (part - middle) @ axes
        return moved[:, 0], moved[:, 1]

    extent = bounds(points, project)
    parts = 100 * variance / (variance.sum() or 1.0)
    labels = [f"principal component {i + 1} ({parts[i]:.0f} %)" for i in (0, 1)]
    return View(project, widened(extent), (labels[0], labels[1]))


def map_of(points: Array, lon: int, lat: int, names: tuple[str, str], scale: float, leftwards: bool) -> View:
    """Returns longitude and latitude as a plane that is true to scale in the middle latitude. It begins at the
    longitude that _cut() returns. scale: the factor to degrees."""
    start = _cut(points, lon, scale)

    def project(part: Array) -> tuple[Array, Array]:
        return _turned(part[:, lon], scale, start), part[:, lat] * scale

    extent = bounds(points, project)
    require_latitudes(extent)
    middle = np.radians(np.clip((extent.bottom + extent.top) / 2, -80, 80))
    signed = bool(points[:, lon].min() < 0)
    left, right, bottom, top = widened(extent)
    if right - left >= 350:
        left, right = start, start + 360.0
    shown = Extent(left, right, max(bottom, -90.0), min(top, 90.0))
    return View(
        project, shown, names, equal=float(1 / np.cos(middle)), leftwards=leftwards, degrees=True, signed=signed
    )


def sky_of(points: Array, lon: int, lat: int, names: tuple[str, str], scale: float, kind: str, middle: float) -> View:
    """Returns the whole sky with longitudes that grow to the left. middle: the longitude in its middle, in degrees."""

    def plain(part: Array) -> tuple[Array, Array]:
        return part[:, lon], part[:, lat] * scale

    require_latitudes(bounds(points, plain))
    flat = flattener(kind)

    def project(part: Array) -> tuple[Array, Array]:
        return flat(np.radians(middle - _turned(part[:, lon], scale, middle - 180.0)), np.radians(part[:, lat] * scale))

    right, top = flat(np.array([np.pi, 0.0]), np.array([0.0, np.pi / 2]))
    extent = Extent(-right[0], right[0], -top[1], top[1])
    return View(project, extent, names, equal=right[0] / (2 * top[1]), sky=kind, middle=middle)


def flattener(kind: str) -> Callable[[Array, Array], tuple[Array, Array]]:
    """Returns a function from longitudes (-pi to pi) and latitudes in radians to x and y in matplotlib's projection."""
    if kind == "aitoff":

        def aitoff(lon: Array, lat: Array) -> tuple[Array, Array]:
            flat = np.cos(lat)
            angle = np.arccos(flat * np.cos(lon / 2))
            stretch = 1 / np.maximum(np.sinc(angle / np.pi), 1e-300)
            return flat * np.sin(lon / 2) * stretch, np.sin(lat) * stretch

        return aitoff
    # Mollweide's auxiliary angle has no closed form as a function of the latitude, but its inverse has. The function is
    # tabulated in steps of 0.005 degrees, far less than a pixel.
    angle = np.linspace(-np.pi / 2, np.pi / 2, 20_001)
    latitude = np.arcsin(np.clip((2 * angle + np.sin(2 * angle)) / np.pi, -1, 1))
    steps = 36_000
    theta = np.interp(np.linspace(-np.pi / 2, np.pi / 2, steps + 1), latitude, angle)
    width, height = 2 * np.sqrt(2) / np.pi * np.cos(theta), np.sqrt(2) * np.sin(theta)

    def mollweide(lon: Array, lat: Array) -> tuple[Array, Array]:
        index = ((lat + np.pi / 2) * (steps / np.pi) + 0.5).astype(np.int32)
        return lon * width.take(index, mode="clip"), height.take(index, mode="clip")

    return mollweide


def field_of(points: Array, lon: int, lat: int, scale: float) -> float:
    """Returns the longer side of the field in degrees."""
    found = map_of(points, lon, lat, ("", ""), scale, False).extent
    return max(found.right - found.left, found.top - found.bottom) / (1 + 2 * _MARGIN)


def middle_of(points: Array, lon: int, scale: float) -> float:
    """Returns 0 or 180 degrees, so that the edge of the sky cuts through fewer points."""
    counts = _by_degree(points, lon, scale)
    near_0, near_180 = counts[:5].sum() + counts[-5:].sum(), counts[175:185].sum()
    return 180.0 if near_0 <= near_180 else 0.0


def require_latitudes(extent: Extent) -> None:
    for latitude in (extent.bottom, extent.top):
        if abs(latitude) > 90 + 1e-9:
            raise ValueError(
                f"X has the latitude {latitude:g}, and latitudes are from -90 to 90 degrees: longitude comes first, "
                "or names say which is which, as columns=['lat', 'lon']; kind='plane' draws any two columns"
            )


def widened(extent: Extent) -> Extent:
    """Returns the extent with a margin. Its size is above 0 even if all points are at one position."""
    left, right, bottom, top = extent
    across, up = right - left, top - bottom
    x = _MARGIN * across if across > 0 else 0.5 * up or 0.5
    y = _MARGIN * up if up > 0 else 0.5 * across or 0.5
    return Extent(left - x, right + x, bottom - y, top + y)


def _turned(lon: Array, scale: float, start: float) -> Array:
    """Returns longitudes in degrees, from start to start + 360."""
    degrees = lon * scale
    return np.asarray(degrees - 360.0 * np.floor((degrees - start) / 360.0))  # half the time of %


def _by_degree(points: Array, lon: int, scale: float) -> NDArray[np.int64]:
    counts = np.zeros(360, np.int64)
    for begin in range(0, len(points), 1 << 18):
        part = _turned(points[begin : begin + (1 << 18), lon], scale, 0.0)
        counts += np.bincount(part.astype(np.int64) % 360, minlength=360)
    return counts


def _cut(points: Array, lon: int, scale: float) -> float:
    """Returns the longitude at which a map begins: 0 if none is below 0 and one is above 180 degrees, else -180. If
    this would cut the field, and the widest gap between whole degrees that have points is at least 20, returns the
    degree at its end, from -179 to 180. scale: the factor to degrees."""
    filled = np.flatnonzero(_by_degree(points, lon, scale))
    gaps = np.diff(filled, append=filled[0] + 360)
    widest = int(gaps.argmax())
    begin = float(filled[(widest + 1) % len(filled)])  # the first degree after the widest gap
    length = 360 - gaps[widest] + 1
    positive = points[:, lon].min() >= 0 and points[:, lon].max() * scale > 180
    usual = 0.0 if positive else -180.0
    whole = (begin - usual) % 360 + length <= 360
    return usual if whole or gaps[widest] < 20 else begin - (360.0 if begin > 180 else 0.0)
