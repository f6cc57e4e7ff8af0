"""Engines: what is kept over many runs."""

from __future__ import annotations

import atexit
import os
import threading
from typing import Any

from . import _core
from ._arrays import AnyPoints, as_points
from ._metrics import EUCLIDEAN, MetricWords, as_metric
from ._parameters import as_bytes, as_choice, as_gpu, as_threads
from ._tasks import log, python_errors, wait_for
from ._units import unit_of_eps


def backends() -> dict[str, str]:
    """What each backend found on this machine, by name: those that can be used."""
    return {name: detail for name, usable, detail in _core.backends() if usable}


class Engine:
    """A device with its memory and threads, kept over many runs; a data set is loaded once.

    backend: "auto" (the GPU where there is one), "cpu" or "gpu". memory: bytes that runs may hold on the host, or a text such as
    "8GiB"; half of the machine's where it is left out. threads: one per core where it is left out. gpu: which one, counted
    from 0; that with the most free memory where it is left out. gpu_memory: bytes of its memory.

    Runs of one engine go one after another; it may be used from any thread. It does not follow a fork, and a pickled one is
    made anew where it is unpickled.
    """

    def __init__(
        self,
        backend: str = "auto",
        *,
        memory: int | str | None = None,
        threads: int | None = None,
        gpu: int | None = None,
        gpu_memory: int | str | None = None,
    ) -> None:
        self._arguments = (backend, memory, threads, gpu, gpu_memory)
        with python_errors():
            self._engine = _core.make_engine(
                as_bytes(memory),
                as_threads(threads),
                as_choice(backend, "backend"),
                as_gpu(gpu),
                as_bytes(gpu_memory, "gpu_memory"),
            )

        for notice in self._engine.notices:
            log.warning("%s", notice)

    @property
    def backend(self) -> str:
        """"cpu" or "gpu"."""
        return str(self._engine.backend)

    def load(self, X: Any, *, metric: str = "euclidean", metric_params: dict[str, Any] | None = None) -> Dataset:
        """Loads points, [n_samples, n_features]. C-contiguous float32 and float64 are not copied, unless the metric moves
        them, and must stay as they are.

        Arrays on the engine's GPU (CuPy, PyTorch, JAX, Numba: DLPack or __cuda_array_interface__) stay there, for the euclidean metric.
        metric, metric_params: what eps and distances are measured by, as epsflow.sweep() takes them.
        """
        words = as_metric(metric, metric_params)
        return Dataset(self, as_points(X, words), words, unit_of_eps(X, words))

    def __reduce__(self) -> Any:
        backend, memory, threads, gpu, gpu_memory = self._arguments
        return _make_engine, (backend, memory, threads, gpu, gpu_memory)

    def __repr__(self) -> str:
        return f"<epsflow.Engine on the {self.backend.upper()}>"


def _make_engine(backend: str, memory: Any, threads: Any, gpu: Any, gpu_memory: Any) -> Engine:
    return Engine(backend, memory=memory, threads=threads, gpu=gpu, gpu_memory=gpu_memory)


class Dataset:
    """Points that an engine has loaded: checked once, and on a GPU uploaded once."""

    def __init__(self, engine: Engine, points: AnyPoints, metric: MetricWords = EUCLIDEAN, unit: Any = None) -> None:
        self.engine = engine
        self._unit = unit
        self._points = points
        self._metric = metric
        with python_errors():
            if isinstance(points, _core.GpuPoints):
                task = engine._engine.start_load_gpu(points, metric)
            else:
                task = engine._engine.start_load(points, metric)
        wait_for(task)
        self._data = task.take_dataset(points)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self._data.size), int(self._data.dims)

    def sweep(self, eps: Any = None, min_samples: Any = None, **options: Any) -> Any:
        """As epsflow.sweep() of these points."""
        from ._sweep import sweep_loaded

        return sweep_loaded(self, eps, min_samples, **options)

    def neighbors(self, eps: float, *, distances: bool = False, **options: Any) -> Any:
        """As epsflow.neighbors() of these points."""
        from ._neighbors import neighbors_loaded

        return neighbors_loaded(self, eps, distances, **options)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n, d = self.shape
        return f"<epsflow.Dataset of {n} points in {d} dimensions, {self.engine.backend}>"


_shared: dict[tuple[Any, ...], Engine] = {}
_shared_lock = threading.Lock()


def _forget_shared() -> None:
    """In the child of a fork: threads and devices have stayed with the parent."""
    global _shared_lock
    _shared.clear()
    _shared_lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_shared)
atexit.register(_shared.clear)  # while what their threads use is still there


def engine_for(engine: Engine | None, backend: str, memory: int | str | None, threads: int | None) -> Engine:
    """engine, or the one that calls without one share, by what they ask for."""
    if engine is not None:
        if not isinstance(engine, Engine):
            raise TypeError(f"engine is {engine!r}, of type {type(engine).__name__}; it is an epsflow.Engine")
        return engine
    key = (as_choice(backend, "backend"), as_bytes(memory), as_threads(threads))
    with _shared_lock:
        if key not in _shared:
            _shared[key] = Engine(backend, memory=memory, threads=threads)
        return _shared[key]
