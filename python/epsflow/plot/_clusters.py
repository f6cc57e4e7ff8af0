"""Points in the colours of their clusters, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from .._arrays import as_host_points
from .._astropy import frame_of, units_of
from .._catalog import names_of
from .._compare import as_labels
from .._frames import library_of
from .._gpu_arrays import is_on_gpu, to_host
from .._metrics import EUCLIDEAN, MetricWords, angle_unit, as_metric, latitude_first
from .._parameters import as_count
from ._coasts import draw_coasts
from ._raster import EMPTY, Array, Raster, all_finite, rasterise, sizes_of, spread
from ._style import NOISE_COLOR, PALETTE, new_figure, say_empty, style, with_unit
from ._views import KINDS, SKIES, View, field_of, map_of, middle_of, plane, principal, sky_of

_MOST_MARKS = 10_000  # up to here each point is a mark of its own
_LISTED = 6  # of the largest clusters, in the legend
_FAINTEST = 0.35  # of a colour, for a pixel of one point
_LONGITUDES = ("lon", "longitude", "lng", "long", "glon", "ipp_lon", "ipp_lon_deg", "lon_deg")
_LATITUDES = ("lat", "latitude", "gdlat", "glat", "ipp_lat", "ipp_lat_deg", "lat_deg")
_SKY = {("ra", "dec"): ("right ascension", "declination"), ("l", "b"): ("galactic longitude", "galactic latitude")}


class _Points(NamedTuple):
    values: Array
    names: list[str]
    """Of the columns, with units."""
    sphere: Optional[tuple[int, int]] = None
    """Which columns are longitude and latitude."""
    sky: Optional[tuple[str, str]] = None
    """What they are called, where they are directions in the sky."""
    scale: float = 1.0
    """To degrees."""


class _Colors(NamedTuple):
    labels: NDArray[np.int32]
    clusters: NDArray[np.int64]
    """Ascending."""
    sizes: NDArray[np.int64]
    order: NDArray[np.intp]
    """Places in `clusters`, by falling size."""
    codes: NDArray[np.int64]
    """The place of each cluster's colour in the palette."""
    n_noise: int


def clusters(
    X: Any,
    labels: Any,
    *,
    kind: str = "auto",
    columns: Optional[Sequence[Any]] = None,
    unit: Optional[str] = None,
    pixels: int = 800,
    ax: Any = None,
    figure: Any = None,
) -> Any:
    """The points in the colours of their clusters, noise in grey below them.

    Of more than 10,000 points an image is drawn. A pixel has the colour of the cluster with the most points there, and is the fuller the
    more points of clusters it has; noise shows where no cluster does. Colours go by size, the largest cluster first, and come again
    after nine.

    Parameters
    ----------
    X : array or table of shape (n_samples, n_features)
        As `epsflow.sweep` takes it.
    labels : array of shape (n_samples,), or an object with labels
        As `epsflow.compare` takes them: -1 for noise. A variant of a sweep also tells eps, min_samples and the metric.
    kind : str
        "plane"
            Two columns; of one column, that and the number of the row.
        "geographic"
            Longitude and latitude in degrees, with coast lines where cartopy and its data are there.
        "sky"
            Right ascension and declination, or another such pair, growing to the left; a field of more than 90 degrees in Mollweide's
            projection. "mollweide" and "aitoff" show the whole sky for any field.
        "planes"
            Three columns, as three planes.
        "principal"
            The plane of the first two principal components.
        "auto"
            A map for longitudes and latitudes, by names of columns or the metric of a variant; else by the number of columns.
    columns : list of str or int, optional
        Which columns of X are drawn. Of an array without names, one name for each of its columns says what they are, as
        ["ra", "dec"].
    unit : str, optional
        Of the coordinates, for the axes, where X does not tell.
    pixels : int
        Of the longer side of an image.
    ax : matplotlib.axes.Axes, optional
        For "mollweide" and "aitoff" axes of this projection; not for "planes".
    figure : matplotlib.figure.Figure, optional
        Which gets new axes.

    Returns
    -------
    matplotlib.axes.Axes, or matplotlib.figure.Figure for "planes"

    Raises
    ------
    ValueError, TypeError
        As `epsflow.sweep` and `epsflow.compare` do, for another number of labels, for NaN, for a kind that there is not or that does not
        fit the columns, for columns that are not there, and for axes of another projection.
    ImportError
        Where matplotlib is not there.

    Examples
    --------
    >>> result = epsflow.sweep(X, eps=0.3, min_samples=[4, 16])
    >>> epsflow.plot.clusters(X, result.variant(0.3, 16))
    """
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is none of {', '.join(map(repr, KINDS))}")
    if ax is not None and figure is not None:
        raise TypeError("ax and figure are both given: axes belong to a figure, so leave one of them out")
    pixels = as_count(pixels, "pixels", 2)
    points = _points_of(X, labels, columns, unit)
    of_points = as_labels(labels, "labels")
    if len(of_points) != len(points.values):
        raise ValueError(f"there are {len(points.values)} points and {len(of_points)} labels: give one for each")
    if not all_finite(points.values):
        _refuse_missing(points.values)
    kind = _kind_of(kind, points)
    if points.values.shape[1] == 1:
        rows = np.column_stack([points.values, np.arange(len(of_points))])
        points = points._replace(values=rows, names=[*points.names, "row"])
    colors = _colors_of(of_points)
    with style():
        if len(of_points) == 0:
            ax = ax if ax is not None else (figure or new_figure()).add_subplot()
            say_empty(ax, "no points")
            return ax
        views = _views_of(kind, points)
        if len(views) == 1:
            return _draw_single(views[0], points, colors, _title(labels, colors), pixels, ax, figure)
        if ax is not None:
            raise ValueError("kind='planes' draws three axes, and ax is one: give figure, or two columns of X")
        return _draw_planes(views, points, colors, _title(labels, colors), pixels, figure)


# ---------------------------------------------------------------- what is drawn


def _refuse_missing(values: Array) -> None:
    rows = np.flatnonzero(~np.isfinite(values).all(axis=1))
    raise ValueError(
        f"X has NaN or infinity in {len(rows)} rows, the first of them row {rows[0]}: leave them out with points, rows = "
        "epsflow.drop_missing(X), and draw points with labels[rows]"
    )


def _points_of(X: Any, labels: Any, columns: Optional[Sequence[Any]], unit: Optional[str]) -> _Points:
    known = getattr(getattr(labels, "_origin", None), "metric", None)
    metric: MetricWords = known if known is not None and angle_unit(known) is not None else EUCLIDEAN
    frame = frame_of(X)
    if metric is EUCLIDEAN and frame is not None:
        metric = as_metric("greatcircle")
    if is_on_gpu(X):
        X = to_host(X)
    X, names = _chosen(X, columns)
    units = [str(found) if found is not None else unit for found in units_of(X)] if library_of(X) == "astropy" and frame is None else [unit]
    values = as_host_points(X, metric)
    d = values.shape[1]
    names = names or _named(X, values)
    sphere, sky = _sphere_of(names, metric, d)
    if frame is not None:
        sky = next((words for words in _SKY.values() if ("galactic" in words[0]) == ("galactic" in frame.lower())), None)
    names = names or (["x", "y", "z"][:d] if d <= 3 else [f"x{i}" for i in range(d)])
    units = units if len(units) == d else units[:1] * d
    scale = float(np.degrees(1)) if angle_unit(metric) == "rad" else 1.0
    return _Points(values, [with_unit(name, u) for name, u in zip(names, units)], sphere, sky, scale)


def _chosen(X: Any, columns: Optional[Sequence[Any]]) -> tuple[Any, list[str]]:
    """The columns of X that are asked for, and their names where they have some."""
    if columns is None:
        return X, []
    if isinstance(columns, (str, bytes)) or not np.iterable(columns):
        raise TypeError(f"columns is {columns!r}, of type {type(columns).__name__}; it is a list of names or numbers")
    columns = list(columns)
    if library_of(X) is not None and hasattr(X, "columns"):
        there = list(getattr(X, "colnames", X.columns))
        missing = [name for name in columns if name not in there]
        if missing:
            raise ValueError(f"X has no column {missing[0]!r}; it has {', '.join(map(str, there))}")
        return X[columns], [str(name) for name in columns]
    array = np.asarray(X)
    d = array.shape[1] if array.ndim == 2 else 1
    if all(isinstance(column, str) for column in columns):
        if len(columns) != d:
            raise ValueError(f"columns names {len(columns)} columns, and X has {d} without names: give a name for each, or numbers of columns")
        return X, columns
    for column in columns:
        if isinstance(column, (bool, np.bool_)) or not isinstance(column, (int, np.integer)) or not -d <= column < d:
            raise ValueError(f"X has no column {column!r}; its columns are numbered from 0 to {d - 1}")
    return array[:, columns], [f"x{column % d}" for column in columns]


def _named(X: Any, values: Array) -> list[str]:
    if library_of(X) == "astropy" and hasattr(X, "colnames"):
        return [str(name) for name in X.colnames]
    return names_of(X, values)


def _sphere_of(names: Sequence[str], metric: MetricWords, d: int) -> tuple[Optional[tuple[int, int]], Optional[tuple[str, str]]]:
    """Which columns are longitude and latitude, and their names where they are of the sky."""
    lower = [name.lower() for name in names]
    for pair, words in _SKY.items():
        if set(pair) <= set(lower):
            return (lower.index(pair[0]), lower.index(pair[1])), words
    lon = [i for i, name in enumerate(lower) if name in _LONGITUDES]
    lat = [i for i, name in enumerate(lower) if name in _LATITUDES]
    if len(lon) == 1 and len(lat) == 1:
        return (lon[0], lat[0]), None
    if angle_unit(metric) is not None and d == 2:
        return ((1, 0) if latitude_first(metric) else (0, 1)), None
    return None, None


def _kind_of(kind: str, points: _Points) -> str:
    """Raises ValueError for one that does not fit the columns."""
    d = points.values.shape[1]
    if kind == "auto":
        if points.sphere is not None and d == 2:
            return "sky" if points.sky else "geographic"
        return {1: "plane", 2: "plane", 3: "planes"}.get(d, "principal")
    fits = {"plane": d in (1, 2), "planes": d == 3, "principal": d >= 2}.get(kind, d == 2)
    if not fits:
        wanted = {"planes": "three columns", "principal": "two columns or more"}.get(kind, "two columns")
        way = "give kind='auto'" if d < 2 else "choose them with columns=[…], or give kind='auto'"
        raise ValueError(f"kind={kind!r} draws {wanted}, and X has {d}: {way}")
    return kind


def _views_of(kind: str, points: _Points) -> list[View]:
    if kind == "plane":
        return [plane(points.values, points.names, 0, 1)]
    if kind == "planes":
        return [plane(points.values, points.names, x, y) for x, y in ((0, 1), (0, 2), (2, 1))]
    if kind == "principal":
        return [principal(points.values)]
    return [_of_sphere(kind, points)]


def _of_sphere(kind: str, points: _Points) -> View:
    lon, lat = points.sphere or (0, 1)
    plain = points.sky or (("right ascension", "declination") if kind != "geographic" else ("longitude", "latitude"))
    names = (f"{plain[0]} (degrees)", f"{plain[1]} (degrees)")
    if kind == "geographic":
        return map_of(points.values, lon, lat, names, points.scale, leftwards=False)
    if kind == "sky" and field_of(points.values, lon, lat, points.scale) <= 90:
        return map_of(points.values, lon, lat, names, points.scale, leftwards=True)
    middle = 0.0 if plain[0].startswith("galactic") else middle_of(points.values, lon, points.scale)
    return sky_of(points.values, lon, lat, names, points.scale, "mollweide" if kind == "sky" else kind, middle)


# ---------------------------------------------------------------- in which colours


def _colors_of(labels: NDArray[np.int32]) -> _Colors:
    found, sizes = sizes_of(labels)
    order = np.argsort(-sizes, kind="stable")
    codes = np.empty(len(found), np.int64)
    codes[order] = np.arange(len(found)) % len(PALETTE)
    return _Colors(labels, found, sizes, order, codes, len(labels) - int(sizes.sum()))


def _rgb(colors: _Colors, cluster: NDArray[Any]) -> NDArray[np.float64]:
    """[…, 3] of clusters and noise."""
    from matplotlib.colors import to_rgb

    table = np.array([to_rgb(color) for color in (*PALETTE, NOISE_COLOR)])
    codes = np.full(cluster.shape, len(PALETTE))
    inside = cluster >= 0
    codes[inside] = colors.codes[np.searchsorted(colors.clusters, cluster[inside])]
    return np.asarray(table[codes])


def image_of(raster: Raster, colors: _Colors) -> NDArray[np.uint8]:
    """[rows, columns, 4] each colour mixed with white, the less the more points there are; without points transparent."""
    image = np.full((*raster.cluster.shape, 4), 255, np.uint8)
    filled = raster.cluster != EMPTY
    clustered = raster.cluster >= 0
    part = np.zeros(raster.cluster.shape)
    for kind in (clustered, filled & ~clustered):
        counts = raster.count[kind]
        if counts.size:
            most = max(float(np.quantile(counts, 0.99)), 2.0)
            part[kind] = _FAINTEST + (1 - _FAINTEST) * (np.minimum(np.log(counts) / np.log(most), 1) if counts.max() > 1 else 1)
    rgb = _rgb(colors, raster.cluster[filled])
    mixed = 1 - part[filled][:, None] * (1 - rgb)
    image[filled, :3] = np.rint(255 * mixed)
    image[~filled, 3] = 0
    return image


def _title(labels: Any, colors: _Colors) -> str:
    n, k = len(colors.labels), len(colors.clusters)
    counts = f"{k:,} cluster{'' if k == 1 else 's'}, {100 * colors.n_noise / max(n, 1):.3g} % noise"
    eps, min_samples = getattr(labels, "eps", None), getattr(labels, "min_samples", None)
    return counts if eps is None or min_samples is None else f"eps {eps:.3g}, min_samples {min_samples}: {counts}"


# ---------------------------------------------------------------- drawing


def _draw_single(view: View, points: _Points, colors: _Colors, title: str, pixels: int, ax: Any, figure: Any) -> Any:
    ours = ax is None
    if ax is None:
        wide = view.sky is not None
        figure = figure if figure is not None else new_figure(8.0 if wide else 6.8, 4.4 if wide else 4.8)
        ax = figure.add_subplot(projection=view.sky)
    elif view.sky is not None and getattr(ax, "name", "") != view.sky:
        raise ValueError(f"ax has the projection {getattr(ax, 'name', '?')!r}, and the picture {view.sky!r}: add_subplot(projection={view.sky!r}) makes such axes")
    elif view.sky is None and getattr(ax, "name", "") != "rectilinear":
        raise ValueError(f"ax has the projection {getattr(ax, 'name', '?')!r}, and the picture is a plane: give axes without a projection, or none")
    _draw_view(ax, view, points, colors, pixels)
    ax.set_title(title)
    if ours:
        ax.legend(handles=_legend(colors), loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=1.0, borderaxespad=0.2)
    return ax


def _draw_planes(views: list[View], points: _Points, colors: _Colors, title: str, pixels: int, figure: Any) -> Any:
    """x and y, above it x and z, and beside it z and y, so that what lies above or beside each other has an axis in common."""
    figure = figure if figure is not None else new_figure(7.2, 6.6)
    grid = figure.add_gridspec(2, 2)
    below = figure.add_subplot(grid[1, 0])
    above, beside = figure.add_subplot(grid[0, 0], sharex=below), figure.add_subplot(grid[1, 1], sharey=below)
    for ax, view in zip((below, above, beside), views):
        view.equal = 0.0  # axes in common cannot each have a scale of their own
        _draw_view(ax, view, points, colors, pixels)
    above.set_xlabel("")
    above.tick_params(labelbottom=False)
    beside.set_ylabel("")
    beside.tick_params(labelleft=False)
    corner = figure.add_subplot(grid[0, 1])
    corner.set_axis_off()
    corner.legend(handles=_legend(colors), loc="center left")
    above.set_title(title)
    return figure


def _draw_view(ax: Any, view: View, points: _Points, colors: _Colors, pixels: int) -> None:
    extent = view.extent
    flat = ax.transAffine + ax.transAxes if view.sky is not None else ax.transData
    if len(points.values) <= _MOST_MARKS:
        _draw_marks(ax, view, points, colors, flat)
    else:
        wide, high = extent.right - extent.left, (extent.top - extent.bottom) * (view.equal or 1.0)
        ratio = high / wide if view.equal else 1.0
        shape = (max(round(pixels * min(ratio, 1)), 1), max(round(pixels * min(1 / ratio, 1)), 1))
        image = image_of(spread(rasterise(points.values, colors.labels, view.project, extent, shape)), colors)
        _add_image(ax, image, extent, flat)
    ax.set(xlabel=view.labels[0], ylabel=view.labels[1])
    if view.sky is not None:
        _set_sky(ax, view)
        return
    ax.set(xlim=(extent.left, extent.right), ylim=(extent.bottom, extent.top))
    if view.equal:
        ax.set_aspect(view.equal)
    if view.leftwards:
        ax.invert_xaxis()
    if view.degrees:
        _set_degrees(ax, view)


def _add_image(ax: Any, image: NDArray[np.uint8], extent: Any, transform: Any) -> None:
    from matplotlib.image import AxesImage

    shown = AxesImage(ax, extent=tuple(extent), origin="lower", interpolation="antialiased", zorder=1)
    shown.set_data(image)
    shown.set_transform(transform)
    ax.add_image(shown)
    shown.set_clip_path(ax.patch)


def _draw_marks(ax: Any, view: View, points: _Points, colors: _Colors, transform: Any) -> None:
    x, y = view.project(points.values)
    size = float(np.clip(16_000 / len(x), 2, 24))
    # Noise first, then the largest clusters, so that no small one is covered.
    order = np.argsort(np.where(colors.labels < 0, -len(x), -_size_of_each(colors)), kind="stable")
    rgb = _rgb(colors, colors.labels[order])
    marks = ax.scatter(x[order], y[order], s=size, c=rgb, linewidths=0, transform=transform, zorder=1)
    marks.set_clip_path(ax.patch)


def _size_of_each(colors: _Colors) -> NDArray[np.int64]:
    """[n] points of the cluster of each point, 0 of noise."""
    sizes = np.zeros(len(colors.labels), np.int64)
    inside = colors.labels >= 0
    sizes[inside] = colors.sizes[np.searchsorted(colors.clusters, colors.labels[inside])]
    return sizes


def _legend(colors: _Colors) -> list[Any]:
    from matplotlib.patches import Patch

    n = len(colors.labels)
    handles = [
        Patch(color=PALETTE[colors.codes[i]], label=f"cluster {colors.clusters[i]}: {colors.sizes[i]:,}") for i in colors.order[:_LISTED]
    ]
    others = colors.order[_LISTED:]
    if len(others):
        handles.append(Patch(color="none", label=f"{len(others):,} more: {int(colors.sizes[others].sum()):,}"))
    if colors.n_noise:
        handles.append(Patch(color=NOISE_COLOR, label=f"noise: {colors.n_noise:,}"))
    handles.append(Patch(color="none", label=f"all points: {n:,}"))
    return handles


def _set_degrees(ax: Any, view: View) -> None:
    from matplotlib import ticker

    ax.xaxis.set_major_locator(ticker.MaxNLocator(6, steps=[1, 1.5, 2, 3, 5, 6, 10]))
    ax.yaxis.set_major_locator(ticker.MaxNLocator(6, steps=[1, 1.5, 2, 3, 5, 6, 10]))
    if view.sky is None and not view.leftwards:
        ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda lon, _: f"{(lon + 180) % 360 - 180:g}" if view.extent.right <= 360 else f"{lon:g}"))
        draw_coasts(ax, view.extent)
    else:
        ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda lon, _: f"{lon % 360:g}"))


def _set_sky(ax: Any, view: View) -> None:
    ax.grid(color="#BBBBBB", linewidth=0.4, zorder=2)
    ax.set_axisbelow(False)
    turns = np.arange(-150, 151, 30)
    ax.set_xticks(np.radians(turns), labels=[f"{(view.middle - turn) % 360:.0f}" for turn in turns])
    ax.set_yticks(np.radians(np.arange(-60, 61, 30)), labels=[f"{lat}" for lat in range(-60, 61, 30)])
    ax.tick_params(axis="x", labelsize=7.5)
