"""Engines hold a device, its memory and its threads for many runs."""

from __future__ import annotations

import atexit
import os
import threading
from typing import Any

import numpy as np

from . import _core
from ._docs import documented
from ._explore import explore_loaded, suggest_loaded
from ._hierarchy import hierarchy_loaded
from ._k_distance import k_distance_loaded, selectivity_loaded
from ._lineage import lineage_loaded
from ._loaded import Loaded
from ._metrics import EUCLIDEAN
from ._neighbors import neighbors_loaded
from ._parameters import OPTIONS, as_bytes, as_choice, as_options, as_threads
from ._plan import plan_loaded
from ._precomputed import to_dense
from ._results import Unchanging
from ._sweep import sweep_loaded
from ._tasks import log, python_errors, python_words
from ._units import Input, parse_input


def backends() -> dict[str, str]:
    """Return the backends that can be used on this machine.

    Returns
    -------
    dict of str
        The description of each backend, by its name: "cpu", "gpu".
    """
    return {name: detail for name, usable, detail in _core.backends() if usable}


class Engine(Unchanging):
    """A device with its memory and threads, kept for many runs. A data set is loaded once.

    Runs of one engine are serialized; any thread may start them. An engine cannot be used after a fork. If a pickled
    engine is unpickled, a new one is made. `with` closes the engine at the end.

    Parameters
    ----------
    backend : {"auto", "cpu", "gpu"}
        "auto" is the GPU if there is one.
    memory : int or str, optional
        Bytes that runs may hold on the host, or a text such as "8GiB" or "8G" in powers of 1024, or "8GB" in powers of
        1000. The default is half of the machine's memory.
    threads : int, optional
        The number of threads. The default is one per core.
    gpu : int, optional
        The number of the GPU, from 0. The default is the GPU with the most free memory.
    gpu_memory : int or str, optional
        Bytes of the GPU's memory that runs may hold. The default is nine tenths of the free memory.

    Raises
    ------
    ValueError, TypeError
        If a parameter is invalid.
    RuntimeError
        If a GPU is requested and none can be used.

    Examples
    --------
    >>> with epsflow.Engine(memory="2GiB") as engine:
    ...     data = engine.load(X)
    ...     results = [data.sweep(eps, min_samples=10) for eps in (0.1, 0.2)]
    """

    def __init__(
        self, backend: str = "auto", *, memory: int | str | None = None, threads: int | None = None,
        gpu: int | None = None, gpu_memory: int | str | None = None,
    ) -> None:
        self._arguments: dict[str, Any] = {
            "backend": backend, "memory": memory, "threads": threads, "gpu": gpu, "gpu_memory": gpu_memory
        }
        with python_errors():
            self._made: _core.Engine | None = _core.make_engine(as_options(**self._arguments))
        self._backend = str(self._made.backend)
        for notice in self._made.notices:
            log.warning("%s", python_words(notice))

    @property
    def _engine(self) -> _core.Engine:
        if self._made is None:
            raise ValueError("the engine is closed: make another, epsflow.Engine()")
        return self._made

    @property
    def backend(self) -> str:
        """"cpu" or "gpu"."""
        return self._backend

    @documented
    def load(self, X: Any, *, metric: str = "euclidean", metric_params: dict[str, Any] | None = None) -> Dataset:
        """Load points for many runs.

        Parameters
        ----------
        {X}
            An array that is not copied must not be changed afterwards.
        {distance}

        Returns
        -------
        Dataset

        Raises
        ------
        ValueError, TypeError
            If parameters or points are invalid, or if the engine is closed.
        MemoryError
            If the memory is too small.
        """
        return Dataset(self, parse_input(to_dense(X, None, self), metric, metric_params))

    def close(self) -> None:
        """Close the engine, which then loads no more data sets.

        Data sets that it has loaded stay usable. Its memory and threads are released when the last of them is deleted.
        A second call has no effect.
        """
        self._made = None

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return _make_engine, (self._arguments, self._backend if self._made is None else None)

    def __repr__(self) -> str:
        return "<epsflow.Engine, closed>" if self._made is None else f"<epsflow.Engine on the {self.backend.upper()}>"


def _make_engine(arguments: dict[str, Any], closed: str | None = None) -> Engine:
    """Unpickles an engine. closed: None for an engine that was open. For a closed engine it is the backend, and the
    result is closed, too."""
    if closed is None:
        return Engine(**arguments)
    engine = Engine.__new__(Engine)
    engine._arguments, engine._made, engine._backend = arguments, None, closed
    return engine


def _load_anew(engine: Engine, given: Input) -> Dataset:
    """Unpickles a data set. If its engine was closed when it was pickled, it gets a new one."""
    return Dataset(engine if engine._made is not None else Engine(**engine._arguments), given)


class Dataset(Loaded):
    """Points that `Engine.load` has loaded. They are checked once, and uploaded once if the engine is on a GPU.

    The data set keeps a reference to X, for `SweepResult.labelled`. Its pickle contains the points as an array; a new
    engine loads them when it is unpickled. If X is on a GPU, the data set cannot be pickled.

    Attributes
    ----------
    engine : Engine
    shape : tuple of int
        (n_samples, n_features).
    """

    engine: Engine

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self._given.points.shape
        return int(n), int(d)

    sweep = sweep_loaded
    neighbors = neighbors_loaded
    k_distance = k_distance_loaded
    hierarchy = hierarchy_loaded
    selectivity = selectivity_loaded
    plan = plan_loaded
    lineage = lineage_loaded
    suggest = suggest_loaded
    explore = explore_loaded

    def __reduce__(self) -> Any:
        if isinstance(self._given.points, _core.GpuPoints):
            raise TypeError("a Dataset of points on a GPU does not pickle: copy them to the host, and load them there")
        return _load_anew, (self.engine, self._given._replace(table=None))

    def __repr__(self) -> str:
        n, d = self.shape
        return f"<epsflow.Dataset of {n} points in {d} dimensions, {self.engine!r}>"


_shared: dict[tuple[Any, ...], Engine] = {}
_shared_lock = threading.Lock()


def _forget_shared() -> None:
    """Clears the shared engines in the child of a fork, because threads and devices belong to the parent."""
    global _shared_lock
    _shared.clear()
    _shared_lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_shared)
atexit.register(_shared.clear)  # before the resources of their threads are destroyed


def engine_for(
    engine: Engine | None, given: Input, backend: str, memory: int | str | None, threads: int | None,
    threads_name: str = "threads", run: dict[str, Any] | None = None,
) -> Engine:
    """Returns engine, or if it is None the shared engine for these options. With backend="auto" and points on the host,
    that engine is on the CPU if the metric is minkowski with a p other than 1, 2 and infinity, or if the points are few
    and no option in run is for a GPU. Otherwise "auto" is a GPU if there is one. Raises TypeError if engine is not an
    Engine or is given together with options, TypeError or ValueError for invalid options, and RuntimeError if a GPU is
    requested and none can be used. threads_name: the parameter that gave threads, for errors. run: options of the run.
    """
    if engine is None:
        if isinstance(backend, str) and backend == "auto" and not isinstance(given.points, _core.GpuPoints):
            n, d = given.points.shape
            with python_errors():
                backend = _core.choose_backend(n, d, given.metric, run or {})
        key = (as_choice(backend, "backend"), as_bytes(memory), as_threads(threads, threads_name))
        with _shared_lock:
            if key not in _shared:
                _shared[key] = Engine(backend, memory=memory, threads=threads)
            return _shared[key]
    if not isinstance(engine, Engine):
        raise TypeError(f"engine is {engine!r}, of type {type(engine).__name__}; it is an epsflow.Engine")
    said = {"backend": backend not in ("auto", None), "memory": memory is not None, threads_name: threads is not None}
    beside = " and ".join(name for name, is_said in said.items() if is_said)
    if beside:
        raise TypeError(
            f"{beside} beside engine: they are the engine's, epsflow.Engine(…); "
            "leave them out here, or leave out engine"
        )
    return engine


def cpu_options(
    engine: Engine | None, backend: Any, memory: Any, threads: Any, threads_name: str = "threads"
) -> dict[str, Any]:
    """Returns memory and threads of a run on the CPU, by name, from the engine if it is given. Raises ValueError for
    backend='gpu' and for an engine that is on a GPU or closed; TypeError for an engine beside options."""
    if engine is not None:
        made = engine_for(engine, Input(np.empty((0, 1)), EUCLIDEAN), backend, memory, threads, threads_name)
        if made._engine.backend == "gpu":
            raise ValueError(
                "metric='precomputed' is clustered on the CPU, and the engine works on a GPU: leave engine out"
            )
        return {name: made._arguments[name] for name in ("memory", "threads")}
    if as_choice(backend, "backend", words=OPTIONS["backend"].words) == "gpu":
        raise ValueError("backend='gpu' asks for a GPU, and metric='precomputed' is clustered on the CPU")
    return {"memory": memory, "threads": as_threads(threads, threads_name) or None}
