"""Which calls were accelerated, and which were left to the original."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Optional

from .._gpu_arrays import is_on_gpu, to_host

_KEPT = 10_000


class Call(NamedTuple):
    """A call of a replaced function.

    Attributes
    ----------
    function : str
        Such as "sklearn.cluster.DBSCAN.fit".
    rows, columns : int
        The shape of the data; 0 if it is not known.
    device : {"cpu", "gpu", "original"}
        Where epsflow did the work, or "original".
    seconds : float
    reason : str
        Why the work was left to the original; empty if it was not.
    """

    function: str
    rows: int
    columns: int
    device: str
    seconds: float
    reason: str


class Report(tuple[Call, ...]):
    """A tuple of the calls that have ended, the latest 10,000 of this process. Printed, it is a table."""

    def __str__(self) -> str:
        lines = [f"{'function':40} {'rows':>10} {'columns':>7} {'device':>8} {'seconds':>10}  reason"]
        for name, rows, columns, device, seconds, reason in self:
            lines.append(f"{name:40} {rows:>10} {columns:>7} {device:>8} {seconds:>10.4f}  {reason}".rstrip())
        return "\n".join(lines)


class NotServed(Exception):
    """epsflow does not serve a call. The text is the reason."""


class Running:
    """A call that has not ended. Other threads do not see it."""

    def __init__(self, function: str, X: Any, min_rows: int) -> None:
        self.function = function
        self.rows, self.columns = _shape_of(X)
        self.device, self.reason = "original", ""
        self.made: Any = None  # the tree that the next step of the original works on
        if 0 < self.rows < min_rows and not _is_on_gpu(X):
            self.reason = f"fewer than {min_rows} rows"

    @property
    def is_left_to_original(self) -> bool:
        """Whether the original, the replaced function, serves the call: because X has few rows and is on the host, or
        because of left(). False after ran_on()."""
        return bool(self.reason)

    def ran_on(self, device: str) -> None:
        """Notes that epsflow serves the call, unless left() follows. device: "cpu" or "gpu"."""
        self.device, self.reason = device, ""

    def left(self, error: BaseException) -> None:
        """Notes that the call is left to the original function. The report states the error as the reason."""
        self.device = "original"
        self.reason = str(error) if isinstance(error, NotServed) else f"{type(error).__name__}: {error}"


_log: deque[Call] = deque(maxlen=_KEPT)
_local = threading.local()


def report() -> Report:
    """Return the latest 10,000 calls of replaced functions in this process, in the order in which they ended.

    Returns
    -------
    Report
        A tuple of `Call`. Calls in other processes, such as workers of joblib, are not in it.

    Examples
    --------
    >>> print(epsflow.accel.report())
    """
    return Report(_log)


def current() -> Optional[Running]:
    """Returns the call that runs in this thread, if any."""
    return getattr(_local, "running", None)


@contextmanager
def recorded(function: str, X: Any, min_rows: int) -> Iterator[Running]:
    """Records a call in the report when it ends, also by an error. Until then current() returns it in this thread,
    except within another recorded()."""
    outer, running = current(), Running(function, X, min_rows)
    _local.running = running
    start = time.perf_counter()
    try:
        yield running
    finally:
        _local.running = outer
        _log.append(Call(
            function, running.rows, running.columns, running.device, time.perf_counter() - start, running.reason
        ))


def _shape_of(X: Any) -> tuple[int, int]:
    try:
        shape = getattr(X, "shape", None)
        if isinstance(shape, tuple) and all(isinstance(side, int) for side in shape):
            return (*shape, 0, 0)[:2]
        return len(X), len(X[0])
    except Exception:  # of any class that the original may know
        return 0, 0


def _is_on_gpu(X: Any) -> bool:
    try:
        return is_on_gpu(X)
    except Exception:
        return False


def on_host_if_on_gpu(X: Any) -> Any:
    """Returns X, or a copy of it on the host if it is on a GPU, which the original would refuse."""
    return to_host(X) if _is_on_gpu(X) else X
