"""DBSCAN of one data set for a whole grid of parameters, exact on CPUs and GPUs.

    labels = epsflow.DBSCAN(eps=0.3, min_samples=4).fit_predict(X)
    labels = epsflow.HDBSCAN(min_cluster_size=25).fit_predict(X)
    result = epsflow.sweep(X, eps=[0.1, 0.2, 0.3], min_samples=[4, 8, 16])
    found = epsflow.explore(X)
    lineage = epsflow.lineage(X, eps=[0.1, 0.2, 0.3], min_samples=[4, 8, 16])
    distances = epsflow.k_distance(X, k=4)
    table = epsflow.neighbors(X, eps=0.3)
    plans = epsflow.plan(X, eps=[0.1, 0.2, 0.3], min_samples=[4, 8, 16])
    X = epsflow.read_points("galaxies.fits", ["ra", "dec"])
    found = epsflow.compare(labels, result.variant(0.2, 8))
    table = epsflow.catalog(X, labels)
    maps = epsflow.sweep_many(X, eps=0.3, min_samples=4, by=times)
    groups = epsflow.friends_of_friends(X, b=0.2, box=250)
    score = epsflow.validity(X, labels).score
    found = epsflow.tracks(X, labels, times, core=core, eps=0.3)
    window = epsflow.Window(0.3, 4, max_points=20_000)
    epsflow.plot.heatmap(epsflow.explore(X))

Labels of DBSCAN equal the labels of scikit-learn's, element by element, unless a computed distance equals eps up to
rounding.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _chooser

_chooser.put_in_place()

from ._arrays import drop_missing
from ._catalog import members
from ._compare import Comparison, compare
from ._engine import Dataset, Engine, backends
from ._explore import Exploration, Flag, Offer
from ._flashes import flashes
from ._friends import Groups, friends_of_friends
from ._functions import catalog, explore, hierarchy, k_distance, lineage, neighbors, plan, selectivity, suggest, sweep
from ._hierarchy import CondensedTree, Hierarchy, MinimumSpanningTree, Selection, SingleLinkageTree
from ._k_distance import Knee, eps_range, knee
from ._lineage import Lineage
from ._neighbors import read_neighbors
from ._plan import EpsPlan
from ._reading import read_points
from ._slices import SlicedResult, load, sweep_many
from ._velocities import VelocityResult, sweep_velocities
from ._sweep import SweepResult, VariantResult
from ._tasks import Progress
from ._tracks import TrackEvent, Tracks, tracks
from ._validity import Validity, validity
from ._window import ClusterEvent, StepResult, Window, WindowClusters

if TYPE_CHECKING:
    from . import accel, plot
    from ._estimator import DBSCAN, AutoDBSCAN, dbscan
    from ._hdbscan import HDBSCAN
    from ._membership import all_points_membership_vectors, approximate_predict, membership_vector
    from ._window_estimator import WindowDBSCAN

    __version__: str

__all__ = [
    "AutoDBSCAN",
    "ClusterEvent",
    "Comparison",
    "CondensedTree",
    "DBSCAN",
    "Dataset",
    "Engine",
    "EpsPlan",
    "Exploration",
    "Flag",
    "Groups",
    "HDBSCAN",
    "Hierarchy",
    "Knee",
    "Lineage",
    "MinimumSpanningTree",
    "Offer",
    "Progress",
    "Selection",
    "SingleLinkageTree",
    "SlicedResult",
    "StepResult",
    "VelocityResult",
    "SweepResult",
    "TrackEvent",
    "Tracks",
    "Validity",
    "VariantResult",
    "Window",
    "WindowClusters",
    "WindowDBSCAN",
    "accel",
    "all_points_membership_vectors",
    "approximate_predict",
    "backends",
    "catalog",
    "compare",
    "dbscan",
    "drop_missing",
    "eps_range",
    "explore",
    "flashes",
    "friends_of_friends",
    "hierarchy",
    "k_distance",
    "knee",
    "lineage",
    "load",
    "members",
    "membership_vector",
    "neighbors",
    "plan",
    "plot",
    "read_neighbors",
    "read_points",
    "selectivity",
    "suggest",
    "sweep",
    "sweep_many",
    "sweep_velocities",
    "tracks",
    "validity",
]


# The estimators use scikit-learn if it is installed, and importing it takes a second.
_IMPORTED_LATER = {
    "_estimator": ("AutoDBSCAN", "DBSCAN", "dbscan"),
    "_hdbscan": ("HDBSCAN",),
    "_membership": ("all_points_membership_vectors", "approximate_predict", "membership_vector"),
    "_window_estimator": ("WindowDBSCAN",),
}


def __getattr__(name: str) -> Any:
    for module, names in _IMPORTED_LATER.items():
        if name in names:
            return getattr(import_module(f".{module}", __name__), name)
    if name in ("accel", "plot"):  # few programs need them
        return import_module(f".{name}", __name__)
    if name == "__version__":  # the installed metadata have it from CMakeLists.txt
        from importlib.metadata import version

        return version("epsflow")
    raise AttributeError(f"module 'epsflow' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
