"""The documentation that several functions share. Each text is written once, and docstrings name it."""

from __future__ import annotations

import re
from typing import Any, TypeVar

T = TypeVar("T")

_TEXTS = {
    "points": """
X : array or table of shape (n_samples, n_features)
    The points, a row for each. float32 and float64 in C order are not copied, unless a metric moves them, and
    nothing is written to. X may also be a table of pandas, polars, Arrow, xarray or astropy, or points of
    geopandas or astropy; angles with a unit are converted to that of the metric.""",
    "more_points": """
    Arrays on a GPU (CuPy, PyTorch, JAX, Numba) are searched on that GPU by the euclidean metric. Sparse points
    are made dense, within the memory and with a notice.""",
    "eps": """
eps : float, or several
    The maximum distance between two samples for one to be considered as in the neighborhood of the other; a
    distance of exactly eps counts. It may be a quantity of astropy: results have it as a number, in the unit of
    the metric, or of X.""",
    "min_samples": """
min_samples : int, or several
    The number of samples (or total weight) in a neighborhood for a point to be considered as a core point. This
    includes the point itself.""",
    "variants": """
variants : iterable of (eps, min_samples), optional
    Takes the place of eps and min_samples if not every eps goes with every min_samples.""",
    "metric": """
metric : {"euclidean", "greatcircle", "haversine", "cosine", "manhattan", "chebyshev", "minkowski", "l1", "cityblock", "l2"}
    The metric to use when calculating distance between instances in a feature array. "l1" and "cityblock" are
    "manhattan", "l2" is "euclidean". "greatcircle" takes longitude and latitude in degrees. "haversine" takes
    latitude, longitude and eps in radians, as scikit-learn does. "cosine" is 1 - the cosine of the angle
    between two vectors. In a table the columns that are named as longitude and latitude (lon and lat, ra and
    dec, l and b, …) are found, in whichever order and among others; names that contradict each other, and
    several pairs, are errors. Two columns of other names, or without names, are longitude and latitude in this
    order; for haversine, latitude and longitude. Longitudes lie from -360 to 720 degrees, latitudes from -90 to
    90.""",
    "metric_params": """
metric_params : dict, optional
    Additional keyword arguments for the metric. "greatcircle" takes "unit", the unit of eps: "deg", "arcmin",
    "arcsec", "rad" or "km" (on an earth with a radius of 6371.0088 km). It and "haversine" take
    "latitude_first", which says which of two columns comes first, whatever their names are. Norms take "scale",
    a factor for each column, and "box", the sides of a periodic box: each is its length (from 0 on), its two
    ends, or None if it is open; one for each column or one for all, in the unit that X has before it is scaled.
    "minkowski" also takes "p".""",
    "sample_weight": """
sample_weight : float or array of shape (n_samples,), optional
    Weight of each sample, such that a sample is core if the weights of the samples within eps, its own
    included, sum to at least min_samples; a sample with a negative weight may inhibit its eps-neighbor from
    being core.""",
    "progress": """
progress : bool or callable, optional
    True shows a bar. A function is called with an `epsflow.Progress`.""",
    "backend": """
backend : {"auto", "cpu", "gpu"}
    Where the work is done. "auto" is the GPU if there is one; few points go to the CPU.""",
    "memory": """
memory : int or str, optional
    Bytes that the run may hold, or a text such as "8GiB"; labels, 4 bytes per point and variant, come on top.
    The default is half of the machine's.""",
    "threads": """
threads : int, optional
    How many threads work. The default is one per core.""",
    "n_jobs": """
n_jobs : int, optional
    The number of parallel jobs to run. None and -1 mean using all processors.""",
    "engine": """
engine : Engine, optional
    An engine that was made before. backend, memory and threads belong to it, and are left out beside it.""",
    "strategy": """
strategy : {"auto", "table", "direct"}
    Whether points are clustered by a table of all neighbours. This, and what follows, changes the time and no
    label; `epsflow.plan` says which ways are taken.""",
    "index": """
index : {"auto", "grid", "tree", "all"}
    Where candidates for neighbours come from.""",
    "decide": """
decide : {"auto", "scalar", "tensor64", "tensor16"}
    How candidates are decided, in many dimensions.""",
    "labels": """
labels : array of shape (n_samples,), or an object with labels
    The cluster of each point, and -1 for noise, as `epsflow.compare` takes labels.""",
    "overwrite": """
overwrite : bool
    Whether what is there already is replaced.""",
    "page": """
file : str or path
    Its name ends in .html.
overwrite : bool
    Whether a file of this name is replaced.""",
    "variant": """
eps : float or quantity of astropy
    As the sweep had it, or off by rounding, as a sum of steps is (a billionth of it).
min_samples : int""",
    "feature_names": """
n_features_in_ : int
    Number of features seen during fit.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Names of features seen during fit, if X has names: those of the columns that became coordinates.""",
    "input": """
input : dict or None
    What a results folder says of its points: files, columns, rows that were dropped, checksum. A result that
    was loaded or unpickled has a dict, and one that was swept here has None.
rows : ndarray of shape (n,) or None
    The input row of each label, if a folder has it, as rows were dropped or several files joined.""",
    "errors": """
ValueError, TypeError
    If parameters or points cannot be used.
MemoryError
    If memory is too small.
RuntimeError
    If a GPU is asked for and none can be used.""",
    "matplotlib": """
ImportError
    If matplotlib is not there.""",
    "file_errors": """
FileExistsError
    If the file is there, unless it is to be overwritten.
OSError
    If the file cannot be written.""",
    "ax": """
ax : matplotlib.axes.Axes, optional
    The axes to draw into. The default is a new figure.""",
    "axes": """
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
    """Fills the docstring of a function or a class. A line of names in braces becomes what is written of them here."""
    described: Any = of
    if described.__doc__:  # with python -OO there is none
        described.__doc__ = _NAMES.sub(_filled, described.__doc__)
    return of


def _filled(found: re.Match[str]) -> str:
    names = [one for name in re.findall(r"\w+", found[2]) for one in _GROUPS.get(name, (name,))]
    return "\n".join(found[1] + line for name in names for line in _TEXTS[name].strip("\n").split("\n"))
