"""Points that an engine has loaded, without the methods that search them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from . import _core
from ._tasks import run_task
from ._units import Input

F = TypeVar("F", bound=Callable[..., Any])


class Loaded:
    """Points of an engine. `Dataset` adds the methods that search them."""

    def __init__(self, engine: Any, given: Input, slices: Any = (), is_lazy: bool = False) -> None:
        """slices: offsets [slices + 1], if the points are many data sets. is_lazy: whether to load the points at the
        first use of _data, which then raises the errors of loading."""
        self.engine = engine
        self._given = given
        self._slices = slices
        self._loaded: Any = None
        if not is_lazy:
            self._data  # noqa: B018

    @property
    def _data(self) -> Any:
        """The points as the library has them. Loads them if they are not loaded yet."""
        if self._loaded is None:
            engine, points = self.engine._engine, self._given.points
            start: Any = engine.start_load_gpu if isinstance(points, _core.GpuPoints) else engine.start_load
            self._loaded = run_task(start, points, self._given.metric, self._slices).take_dataset(points)
        return self._loaded

    def __len__(self) -> int:
        return int(self._given.points.shape[0])


def method(function: F) -> F:
    """Decorates a method `…_loaded` of `Dataset`: sets its name as error messages show it, and its docstring."""
    name = function.__name__[: -len("_loaded")]
    function.__qualname__ = f"Dataset.{name}"
    function.__doc__ = f"Like `epsflow.{name}` of these points; the engine and the metric are those of the data set."
    return function
