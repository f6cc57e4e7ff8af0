"""Points that an engine has loaded, as what searches them sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from . import _core
from ._tasks import run_task
from ._units import Given

F = TypeVar("F", bound=Callable[..., Any])


class Loaded:
    def __init__(self, engine: Any, given: Given, slices: Any = ()) -> None:
        """slices: offsets, where points are many data sets."""
        self.engine = engine
        self._given = given
        start: Any = engine._engine.start_load_gpu if isinstance(given.points, _core.GpuPoints) else engine._engine.start_load
        self._data = run_task(start, given.points, given.metric, slices).take_dataset(given.points)

    def __len__(self) -> int:
        return int(self._given.points.shape[0])


def method(function: F) -> F:
    """Of a function `…_loaded`, which `Dataset` has as its method: what errors of arguments and `help` say."""
    name = function.__name__[: -len("_loaded")]
    function.__qualname__ = f"Dataset.{name}"
    function.__doc__ = f"As `epsflow.{name}` of these points, without what the engine and the metric are."
    return function
