"""scikit-learn's DBSCAN and HDBSCAN, and the package hdbscan, computed by epsflow in programs that do not know of it.

    python -m epsflow.accel SCRIPT …        or -m MODULE …; --report lists the calls at the end
    %load_ext epsflow.accel                 in IPython and Jupyter
    epsflow.accel.enable()                  also as a context manager: with epsflow.accel.enable(): …

The classes stay the original ones; only the work inside `fit` is done by epsflow. A call that epsflow does not serve is
left to the original. It makes no difference whether scikit-learn and hdbscan are imported before or after. Processes
that are started later are accelerated, too, if epsflow is installed in their environment.
"""

from __future__ import annotations

from ._calls import Call, Report, report
from ._patches import disable, enable

__all__ = ["Call", "Report", "disable", "enable", "report"]


def load_ipython_extension(shell: object) -> None:
    enable()


def unload_ipython_extension(shell: object) -> None:
    disable()
