"""Coast lines of Natural Earth, which cartopy knows to read. Nothing is fetched from the network."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Optional

import numpy as np

from ._raster import Extent


def draw_coasts(ax: Any, extent: Extent) -> None:
    """Lines on axes of degrees, where cartopy is there. Warns where its data are not."""
    try:
        from cartopy.io import shapereader
    except ImportError:
        return
    wide = max(extent.right - extent.left, extent.top - extent.bottom) > 60
    file = next((found for found in map(_file_of, ("110m", "50m", "10m") if wide else ("50m", "10m", "110m")) if found), None)
    if file is None:
        warnings.warn(
            "coast lines are left out: cartopy is there, and its data are not: `cartopy_feature_download physical` fetches them",
            UserWarning,
            stacklevel=2,
        )
        return
    from matplotlib.collections import LineCollection

    lines = []
    for shape in shapereader.Reader(file).geometries():
        for part in getattr(shape, "geoms", [shape]):
            line = np.asarray(part.coords)[:, :2]
            lines += [line + [turn, 0.0] for turn in (-360, 0, 360) if extent.left <= line[:, 0].max() + turn and line[:, 0].min() + turn <= extent.right]
    ax.add_collection(LineCollection(lines, colors="#444444", linewidths=0.6, zorder=2), autolim=False)


def _file_of(resolution: str) -> Optional[str]:
    """Where it lies already."""
    from cartopy import config
    from cartopy.io import Downloader

    place = {"config": config, "category": "physical", "name": "coastline", "resolution": resolution}
    known = Downloader.from_config(("shapefiles", "natural_earth", resolution, "physical", "coastline"))
    for path in (known.pre_downloaded_path(place), known.target_path(place)):
        if path is not None and Path(path).is_file():
            return str(path)
    return None
