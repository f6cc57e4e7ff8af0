"""Documentation that several functions share. Each text is written once, and docstrings refer to it by its name.

Results and errors have the header of their section, which further results or errors may follow."""

from __future__ import annotations

import re
from typing import Any, TypeVar

T = TypeVar("T")

_TEXTS = {
    "points": """
X : array or table of shape (n_samples, n_features)
    The points, one per row. Arrays of float32 and float64 in C order are not copied, unless the metric transforms
    the points. X is never written to. It may also be a table of pandas, polars, Arrow, xarray or astropy, or points
    of geopandas or astropy. If the metric takes angles, a unit of X is converted to the unit of the metric.""",
    "more_points": """
    Arrays on a GPU (CuPy, PyTorch, JAX, Numba) are searched on that GPU if the metric is euclidean. Sparse points
    are made dense, within the memory limit and with a notice.""",
    "eps": """
eps : float, or several
    The maximum distance between two samples for one to be considered as in the neighborhood of the other. A
    distance of exactly eps counts. A quantity of astropy is converted to the unit of the metric or of X, and results
    have it as a number.""",
    "min_samples": """
min_samples : int, or several
    The number of samples (or total weight) in a neighborhood for a point to be considered as a core point. This
    includes the point itself.""",
    "variants": """
variants : iterable of (eps, min_samples), optional
    The pairs to run, in place of eps and min_samples, if not every eps is combined with every min_samples.""",
    "metric": """
metric : {"euclidean", "greatcircle", "haversine", "cosine", "manhattan", "chebyshev", "minkowski", "l1", \
"cityblock", "l2"}
    The metric to use when calculating distance between instances in a feature array. "l1" and "cityblock" are
    "manhattan", "l2" is "euclidean". "greatcircle" takes longitude and latitude in degrees. "haversine" takes
    latitude, longitude and eps in radians, as scikit-learn does. "cosine" is 1 - the cosine of the angle
    between two vectors. For "greatcircle" and "haversine", the columns of a table whose names mean longitude and
    latitude (lon and lat, ra and dec, l and b, …) are used, in either order and among others. Names that contradict
    each other and several such pairs are errors. Two columns with other names, or without names, are longitude and
    latitude in this order (for "haversine": latitude and longitude). Longitudes are from -360 to 720 degrees, latitudes
    from -90 to 90 degrees, or as much in radians.""",
    "metric_params": """
metric_params : dict, optional
    Additional keyword arguments for the metric. "greatcircle" takes "unit", the unit of eps: "deg", "arcmin",
    "arcsec", "rad" or "km" (on an earth with a radius of 6371.0088 km). "greatcircle" and "haversine" take
    "latitude_first" (for "haversine" only True), which defines which of two columns comes first, whatever their names
    are. "euclidean", "manhattan", "chebyshev" and "minkowski" take "scale", a factor for each column, and "box", the
    sides of a periodic box in the unit that X has before it is scaled. "box" is one length for all columns, or a list
    with a side for each column or one side for all. A side is its length (from 0), a pair of its two ends, or None if
    it is open. "minkowski" also takes "p", at least 1.""",
    "sample_weight": """
sample_weight : float or array of shape (n_samples,), optional
    Weight of each sample. A sample is core if the weights of the samples within eps, its own included, sum to at
    least min_samples. A sample with a negative weight may inhibit its eps-neighbor from being core.""",
    "core": """
core : bool
    Whether to keep a mask of the core points.""",
    "keep": """
keep : {"labels", "summary"}
    Whether to keep labels and counts of each variant, or only counts, which takes less time and memory.""",
    "progress": """
progress : bool or callable, optional
    True shows a bar, or logs lines if tqdm is not installed. A function is called with an `epsflow.Progress`.""",
    "backend": """
backend : {"auto", "cpu", "gpu"}
    The device that runs the work. "auto" is the GPU if there is one and the points are not few, else the CPU.""",
    "memory": """
memory : int or str, optional
    Bytes that the run may hold, or a text such as "8GiB". Labels (4 bytes per point and variant) are not included.
    The default is half of the machine's memory.""",
    "threads": """
threads : int, optional
    The number of threads. The default is one per core.""",
    "n_jobs": """
n_jobs : int, optional
    The number of parallel jobs to run. None and -1 mean using all processors.""",
    "engine": """
engine : Engine, optional
    An engine that was made before. backend, memory and threads belong to it and must not be given together with
    it.""",
    "strategy": """
strategy : {"auto", "table", "direct"}
    Whether points are clustered from a table of all neighbours ("table") or without one ("direct"). strategy, index
    and decide change the time and no label; `epsflow.plan` returns the choices of "auto".""",
    "index": """
index : {"auto", "grid", "tree", "all"}
    The source of candidates for neighbours: the cells of a grid; tiles of points that are sorted by coordinates and
    by distances to pivots ("tree"); or all pairs of points.""",
    "decide": """
decide : {"auto", "scalar", "tensor64", "tensor16"}
    How the distances of candidates are tested, in many dimensions: in float64 ("scalar"), or first by a GPU's tensor
    cores in float64 or half precision.""",
    "labels": """
labels : array of shape (n_samples,), or an object with labels
    The cluster of each point, -1 for noise, in any form that `epsflow.compare` takes.""",
    "overwrite": """
overwrite : bool
    Whether to replace what exists already.""",
    "page": """
file : str or path
    Its name ends in .html or .htm.
overwrite : bool
    Whether to replace a file of this name.""",
    "variant": """
eps : float or quantity of astropy
    An eps of the sweep. It may differ by rounding (1e-9, relative), as sums of steps do.
min_samples : int""",
    "feature_names": """
n_features_in_ : int
    Number of features seen during fit.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Names of features seen during fit, if X has names: the names of the columns that became coordinates.""",
    "input": """
input : dict or None
    The description of the points in a results folder: files, columns, dropped rows, checksum. A result that was
    loaded has a dict, and so has an unpickled SweepResult of all points. Any other result has None.
rows : ndarray of shape (n,) or None
    The input row of each label. Folders have it if rows were dropped or several files were joined.""",
    "errors": """
Raises
------
ValueError, TypeError
    If parameters or points are invalid.
MemoryError
    If the memory is too small.
RuntimeError
    If a GPU is requested and none can be used.""",
    "matplotlib": """
ImportError
    If matplotlib is not installed.""",
    "file_errors": """
Raises
------
FileExistsError
    If the file exists and overwrite is False.
OSError
    If the file cannot be written.""",
    "ax": """
ax : matplotlib.axes.Axes, optional
    The axes to draw into. The default is a new figure.""",
    "axes": """
Returns
-------
matplotlib.axes.Axes
    The axes that were drawn into.""",
}

_GROUPS = {
    "X": ("points", "more_points"),
    "distance": ("metric", "metric_params"),
    "machine": ("backend", "memory", "threads", "engine"),
    "ways": ("strategy", "index", "decide"),
}
_NAMES = re.compile(r"^( *)((?:\{\w+\} ?)+)$", re.MULTILINE)


def documented(of: T) -> T:
    """Fills the docstring of a function or a class, and returns the function or class. A line that has only names in
    braces, each a key of _TEXTS or _GROUPS, becomes the texts of these names, indented as the line."""
    described: Any = of
    if described.__doc__:  # python -OO removes docstrings
        described.__doc__ = _NAMES.sub(_filled, described.__doc__)
    return of


def _filled(found: re.Match[str]) -> str:
    names = [one for name in re.findall(r"\w+", found[2]) for one in _GROUPS.get(name, (name,))]
    return "\n".join(found[1] + line for name in names for line in _TEXTS[name].strip("\n").split("\n"))
