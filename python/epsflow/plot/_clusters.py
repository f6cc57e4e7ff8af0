"""Pictures of points in the colours of their clusters."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from .._catalog import require_labels
from .._compare import as_labels
from .._docs import documented
from .._parameters import as_count, require_one_of
from ._colors import Found, codes_of, found_in, image_of, rgb_of
from ._points import kind_of, points_of, views_of
from ._raster import Array, Extent, Raster, is_sparse, rasterise, spread
from ._style import INK, NOISE_COLOR, PALETTE, axes_of, figure_of, say_empty, style
from ._views import KINDS, View

_MOST_MARKS = 10_000  # the most points that are drawn as single marks
_MOST_PIXELS = 10_000
_LISTED = 6  # the number of clusters in the legend


@documented
def clusters(
    X: Any, labels: Any, *, kind: str = "auto", columns: Optional[Sequence[Any]] = None, unit: Optional[str] = None,
    pixels: int = 800, ax: Any = None, figure: Any = None,
) -> Any:
    """Draw the points in the colours of their clusters, with noise in grey below them.

    More than 10,000 points are drawn as an image. A pixel has the colour of the cluster with the most points in it, and
    is more intense if it has more points; noise is visible only in pixels without clusters. The nine largest clusters
    have different colours. Each smaller cluster, up to the thousandth, takes the colour whose nearest cluster is
    farthest away.

    Parameters
    ----------
    {points} {labels}
        If it is a variant of a sweep, the title has its eps and min_samples, and its metric decides which columns are
        longitude and latitude.
    kind : str
        "plane"
            Two columns; if X has one column, this column and the row number.
        "geographic"
            Longitude and latitude in degrees, with coast lines if cartopy and its data are installed.
        "sky"
            Right ascension and declination, or another such pair. Longitudes increase to the left. A field of more than
            90 degrees is drawn as the whole sky, in Mollweide's projection.
        "mollweide", "aitoff"
            The whole sky in this projection, for any field.
        "planes"
            Three columns, as three planes: one for each pair of columns.
        "principal"
            The plane of the first two principal components.
        "auto"
            "geographic" or "sky" if there are two columns, and they are longitude and latitude by their names, by the
            type of X or by the metric of a variant. Otherwise "plane", "planes" or "principal", by their number.
    columns : list of str or int, optional
        The columns of X to draw: names in a table, numbers in an array. If X is an array, names for all of its columns
        may be given instead, as ["ra", "dec"].
    unit : str, optional
        The unit of the coordinates for the axes, if X has none.
    pixels : int
        The number of pixels of the longer side of an image, from 2 to 10,000.
    ax : matplotlib.axes.Axes, optional
        The axes to draw into. The whole sky needs axes with its projection, "mollweide" or "aitoff". "planes" draws
        three axes and needs a figure instead.
    figure : matplotlib.figure.Figure, optional
        The figure that gets new axes, if ax is not given.

    Returns
    -------
    matplotlib.axes.Axes, or matplotlib.figure.Figure for "planes"

    Raises
    ------
    ValueError, TypeError
        If points or labels are invalid, as for `epsflow.sweep` and `epsflow.compare`; if their numbers differ; if X has
        NaN or infinity; if kind is unknown or does not fit the columns; if a column does not exist; if ax has another
        projection, or is given for planes; if both ax and figure are given; if pixels is invalid.
    {matplotlib}

    Examples
    --------
    >>> result = epsflow.sweep(X, eps=0.3, min_samples=[4, 16])
    >>> epsflow.plot.clusters(X, result.variant(0.3, 16))
    """
    require_one_of(kind, "kind", KINDS)
    if ax is not None and figure is not None:
        raise TypeError("ax and figure are both given: axes belong to a figure, so leave one of them out")
    pixels = as_count(pixels, "pixels", 2)
    if pixels > _MOST_PIXELS:
        raise ValueError(f"pixels == {pixels}, must be at most {_MOST_PIXELS}: an image has their square")
    points = points_of(X, labels, columns, unit)
    of_points = as_labels(labels, "labels")
    require_labels(len(points.values), len(of_points))
    kind = kind_of(kind, points)
    if points.values.shape[1] == 1:
        rows = np.column_stack([points.values, np.arange(len(of_points))])
        points = points._replace(values=rows, names=[*points.names, "row"])
    with style():
        if len(of_points) == 0:
            ax = axes_of(ax) if figure is None else figure_of(figure, 6.4, 4.2).add_subplot()
            return say_empty(ax, "no points")
        views = views_of(kind, points)
        if len(views) > 1 and ax is not None:
            raise ValueError("kind='planes' draws three axes, and ax is one: give figure, or two columns of X")
        picture = _picture_of(points.values, found_in(of_points), views, pixels, _title(labels))
        return _draw_single(picture, ax, figure) if len(views) == 1 else _draw_planes(picture, figure)


class _Picture(NamedTuple):
    points: Array
    found: Found
    views: list[View]
    rasters: list[Raster]
    """A raster for each view, or none if points are drawn as marks."""
    codes: NDArray[np.int64]
    title: str


def _picture_of(points: Array, found: Found, views: list[View], pixels: int, title: str) -> _Picture:
    rasters = [] if len(points) <= _MOST_MARKS else [_raster_of(view, points, found, pixels) for view in views]
    if any(map(is_sparse, rasters)):  # all rasters, so that planes look alike
        rasters = [spread(raster) for raster in rasters]
    seen: tuple[Array, Array, Array, Array]
    if rasters:
        row, column = np.nonzero(rasters[0].cluster >= 0)
        rows, columns = rasters[0].cluster.shape
        seen = rasters[0].cluster[row, column], column / columns, row / rows, rasters[0].points[row, column]
    else:
        inside = found.labels >= 0
        x, y = views[0].project(points[inside])
        left, right, bottom, top = views[0].extent
        seen = found.labels[inside], (x - left) / (right - left), (y - bottom) / (top - bottom), np.ones(len(x))
    return _Picture(points, found, views, rasters, codes_of(found, *seen), title)


def _raster_of(view: View, points: Array, found: Found, pixels: int) -> Raster:
    shape = (max(round(pixels * min(view.ratio, 1)), 1), max(round(pixels * min(1 / view.ratio, 1)), 1))
    return rasterise(points, found.labels, view.project, view.extent, shape)


def _title(labels: Any) -> str:
    eps, min_samples = getattr(labels, "eps", None), getattr(labels, "min_samples", None)
    known = eps is not None and min_samples is not None and np.ndim(eps) == 0
    return f"eps {eps:.3g}, min_samples {min_samples}" if known else ""


# ---------------------------------------------------------------- drawing


def _draw_single(picture: _Picture, ax: Any, figure: Any) -> Any:
    view, ours = picture.views[0], ax is None
    if ours:
        high = 1.0 + 4.8 * float(np.clip(view.ratio, 0.25, 1.2))
        figure = figure_of(figure, 8.2 if view.sky else 7.0, 4.2 if view.sky else high)
        ax = figure.add_subplot(projection=view.sky)
    elif getattr(axes_of(ax), "name", "") != (view.sky or "rectilinear"):
        has = f"ax has the projection {getattr(ax, 'name', '?')!r}, and the picture "
        if view.sky:
            raise ValueError(f"{has}is a sky: give axes made with projection={view.sky!r}, or none")
        raise ValueError(f"{has}is a plane: give axes without a projection, or none")
    _draw_view(ax, picture, 0)
    ax.set_title(_with_counts(picture))
    if ours:
        ax.legend(
            handles=_legend(picture), loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=1.0, borderaxespad=0.2
        )
    return ax


def _draw_planes(picture: _Picture, figure: Any) -> Any:
    """Draws three planes: (x, y) below, (x, z) above it and (z, y) beside it, so that neighbours share an axis."""
    views = picture.views
    x, y, z = (high - low for low, high in (views[0].extent[:2], views[0].extent[2:], views[1].extent[2:]))
    alike = all(view.equal for view in views)
    if not alike:
        x = y = z = 1.0
        for view in views:
            view.equal = 0.0
    figure = figure_of(figure, 7.2, float(np.clip(7.2 * (z + y) / (x + z), 4.5, 9.0)))
    grid = figure.add_gridspec(2, 2, width_ratios=[x, z], height_ratios=[z, y])
    below = figure.add_subplot(grid[1, 0], anchor="NE")
    above = figure.add_subplot(grid[0, 0], sharex=below, anchor="SE")
    beside = figure.add_subplot(grid[1, 1], sharey=below, anchor="NW")
    for i, ax in enumerate((below, above, beside)):
        _draw_view(ax, picture, i)
    above.set_xlabel("")
    above.tick_params(labelbottom=False)
    beside.set_ylabel("")
    beside.tick_params(labelleft=False)
    corner = figure.add_subplot(grid[0, 1])
    corner.set_axis_off()
    corner.legend(handles=_legend(picture), loc="center left", handlelength=1.0)
    above.set_title(_with_counts(picture))
    return figure


def _draw_view(ax: Any, picture: _Picture, i: int) -> None:
    view = picture.views[i]
    flat = ax.transAffine + ax.transAxes if view.sky is not None else ax.transData
    if picture.rasters:
        _add_image(ax, image_of(picture.rasters[i], picture.found, picture.codes), view, flat)
    else:
        _draw_marks(ax, picture, view, flat)
    ax.set(xlabel=view.labels[0], ylabel=view.labels[1])
    if view.sky is not None:
        _set_sky(ax, view)
        return
    left, right, bottom, top = view.extent
    ax.set(xlim=(right, left) if view.leftwards else (left, right), ylim=(bottom, top))
    if view.equal:
        ax.set_aspect(view.equal)
    if view.degrees:
        _set_degrees(ax, view)


def _add_image(ax: Any, image: NDArray[np.uint8], view: View, transform: Any) -> None:
    from matplotlib.image import AxesImage

    shown = AxesImage(ax, extent=view.extent, origin="lower", interpolation="antialiased", zorder=1)
    shown.set_data(image)
    shown.set_transform(transform)
    ax.add_image(shown)
    shown.set_clip_path(ax.patch)


def _draw_marks(ax: Any, picture: _Picture, view: View, transform: Any) -> None:
    found, (x, y) = picture.found, view.project(picture.points)
    sizes = np.full(len(x), len(x))
    inside = found.labels >= 0
    sizes[inside] = found.sizes[found.index_of(found.labels[inside])]
    # Noise is drawn first, then clusters from large to small, so that small ones are not covered.
    order = np.lexsort((-sizes, inside))
    rgb = rgb_of(found, picture.codes, found.labels[order])
    marks = ax.scatter(
        x[order], y[order], s=float(np.clip(16_000 / len(x), 2, 24)), c=rgb, linewidths=0, transform=transform, zorder=1
    )
    marks.set_clip_path(ax.patch)


def _with_counts(picture: _Picture) -> str:
    n, k = len(picture.found.labels), len(picture.found.clusters)
    counts = f"{k:,} cluster{'' if k == 1 else 's'}, {100 * picture.found.n_noise / n:.3g} % noise"
    return f"{picture.title}: {counts}" if picture.title else counts


def _legend(picture: _Picture) -> list[Any]:
    from matplotlib.patches import Patch

    clusters, sizes, order = picture.found.clusters, picture.found.sizes, picture.found.order
    handles = [
        Patch(color=PALETTE[picture.codes[i]], label=f"cluster {clusters[i]}: {sizes[i]:,}") for i in order[:_LISTED]
    ]
    others = order[_LISTED:]
    if len(others):
        handles.append(Patch(color="none", label=f"{len(others):,} more: {int(sizes[others].sum()):,}"))
    if picture.found.n_noise:
        handles.append(Patch(color=NOISE_COLOR, label=f"noise: {picture.found.n_noise:,}"))
    return [*handles, Patch(color="none", label=f"all points: {len(picture.found.labels):,}")]


def _set_degrees(ax: Any, view: View) -> None:
    from matplotlib import ticker

    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        axis.set_major_locator(ticker.MaxNLocator(7, steps=[1, 1.5, 3, 6, 10] if high - low > 60 else [1, 2, 5, 10]))

    def shown(lon: float, _: Any) -> str:
        lon = round(lon, 9)
        if not view.signed:
            return f"{lon if 0 <= lon <= 360 else lon % 360:g}"
        return f"{lon if abs(lon) <= 180 else (lon + 180) % 360 - 180:g}"

    ax.xaxis.set_major_formatter(ticker.FuncFormatter(shown))
    if not view.leftwards:
        _draw_coasts(ax, view.extent)


def _set_sky(ax: Any, view: View) -> None:
    from matplotlib import patheffects

    ax.grid(color="#BBBBBB", linewidth=0.4)
    ax.set_axisbelow(False)
    turns, latitudes = np.arange(-150, 151, 30), np.arange(-60, 61, 30)
    ax.set_xticks(np.radians(turns), labels=[f"{(view.middle - turn) % 360:.0f}" for turn in turns])
    ax.set_yticks(np.radians(latitudes), labels=[str(latitude) for latitude in latitudes])
    for label in ax.get_xticklabels():  # the labels are among the points
        label.set(
            color=INK, fontsize=7.5, path_effects=[patheffects.withStroke(linewidth=2, foreground="white")], zorder=4
        )


def _draw_coasts(ax: Any, extent: Extent) -> None:
    """Draws coast lines of Natural Earth on axes of longitude and latitude in degrees, if cartopy is installed. Warns
    if its data are not on disk. Downloads nothing.

    extent: the range of the axes. The coarsest lines are drawn if it is wider or higher than 60 degrees.
    """
    try:
        from cartopy.io import shapereader
    except ImportError:
        return
    wide = max(extent.right - extent.left, extent.top - extent.bottom) > 60
    resolutions = ("110m", "50m", "10m") if wide else ("50m", "10m", "110m")
    file = next((found for found in map(_file_of, resolutions) if found), None)
    if file is None:
        warnings.warn(
            "coast lines are left out: cartopy is there, and its data are not: `cartopy_feature_download physical` "
            "fetches them",
            UserWarning,
            stacklevel=2,
        )
        return
    from matplotlib.collections import LineCollection

    lines = []
    for shape in shapereader.Reader(file).geometries():
        for part in getattr(shape, "geoms", [shape]):
            line = np.asarray(part.coords)[:, :2]
            left, right = line[:, 0].min(), line[:, 0].max()
            turns = [turn for turn in (-360, 0, 360) if extent.left <= right + turn and left + turn <= extent.right]
            lines += [line + [turn, 0.0] for turn in turns]
    ax.add_collection(LineCollection(lines, colors="#444444", linewidths=0.6, zorder=2), autolim=False)


def _file_of(resolution: str) -> Optional[str]:
    """Returns the path of coast lines if cartopy has them on disk, else None. resolution: "110m", "50m" or "10m"."""
    from cartopy import config
    from cartopy.io import Downloader

    request = {"config": config, "category": "physical", "name": "coastline", "resolution": resolution}
    known = Downloader.from_config(("shapefiles", "natural_earth", resolution, "physical", "coastline"))
    for path in (known.pre_downloaded_path(request), known.target_path(request)):
        if path is not None and Path(path).is_file():
            return str(path)
    return None
