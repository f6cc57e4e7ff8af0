"""Sweeps of points that are distributed over the processes of MPI."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from . import _core
from ._tasks import python_words

T = TypeVar("T")

# MPI counts with int.
_MOST_AT_ONCE = 1 << 30
_TAG = 1


class Ranks:
    """Runs steps on all processes of a communicator of mpi4py. An error on one is raised there; the others raise
    RuntimeError.

    The constructor, the end and all methods are collective, except check_interrupt(). Use it in a `with` statement. It
    holds back Ctrl-C in the main thread until check_interrupt() or its end. Its end frees the duplicate of the
    communicator. Raises TypeError if comm is not a communicator of mpi4py, or is an intercommunicator.
    """

    def __init__(self, comm: Any) -> None:
        # Importing mpi4py would initialise MPI. A caller with a communicator has imported it.
        MPI = sys.modules.get("mpi4py.MPI")
        if MPI is None or not isinstance(comm, MPI.Intracomm):
            raise TypeError(f"comm is {comm!r}: give a communicator of mpi4py (pip install mpi4py), as MPI.COMM_WORLD")
        self._mpi: Any = MPI
        self._comm = comm.Dup()
        self.rank: int = self._comm.Get_rank()
        self.size: int = self._comm.Get_size()

    def __enter__(self) -> Ranks:
        # If Ctrl-C broke off a collective call, the other ranks would wait in it for ever. The signal is kept until all
        # ranks can be informed.
        self._handler = signal.getsignal(signal.SIGINT)
        self._held: list[tuple[Any, ...]] = []
        if threading.current_thread() is threading.main_thread() and callable(self._handler):
            signal.signal(signal.SIGINT, lambda *arguments: self._held.append(arguments))
        else:
            self._handler = None
        return self

    def __exit__(self, kind: object, *raised: object) -> None:
        # Free() is collective, and so was every step before: an error is raised on all ranks.
        self._comm.Free()
        if callable(self._handler):
            signal.signal(signal.SIGINT, self._handler)
            if kind is None:
                self.check_interrupt()

    def check_interrupt(self) -> None:
        """Raises the interrupt of a Ctrl-C, if there was one. Call it where the other ranks can be informed."""
        if self._held and callable(self._handler):
            self._handler(*self._held.pop())

    def start(self, *arguments: Any) -> RankTask:
        """Starts the sweep of this rank and returns its task. run_task() calls it."""
        relay = _core.Relay(self.rank, self.size)
        return RankTask(self, relay, self.together(lambda: _core.start_shared_sweep(relay, *arguments)))

    def agree(self, error: BaseException | None = None, doing: str = "") -> None:
        """Raises on every rank if one of them has an error, or if they are at different steps.

        A rank with an error raises it; the others raise RuntimeError with the number of that rank. doing: the step that
        this rank is at. Ranks at different steps raise RuntimeError.
        """
        mine = None if error is None else f"{type(error).__name__}: {error}"
        told = self._comm.allgather((mine, doing))
        if error is not None:
            raise error
        for rank, (text, _) in enumerate(told):
            if text is not None:
                raise RuntimeError(f"rank {rank}: {text}")
        for rank, (_, other) in enumerate(told):
            if other != told[0][1]:
                raise RuntimeError(
                    f"rank {rank} is not where rank 0 is: give all the same parameters, but for X and sample_weight"
                )

    def together(self, step: Callable[[], T]) -> T:
        """Returns the result of the step. If one rank raises, or has a pending Ctrl-C, all raise as agree() does."""
        try:
            made = step()
            self.check_interrupt()
        except BaseException as error:
            self.agree(error)
            raise  # not reached: agree() raises the error
        self.agree()
        return made

    def require_same(self, given: dict[str, Any]) -> None:
        """Raises ValueError on every rank if they have different values for a parameter. None agrees with any value.
        given: values by the names of parameters, with the same names on all ranks."""
        told = self._comm.allgather(given)
        values = {name: [other[name] for other in told if other[name] is not None] for name in told[0]}
        differing = [name for name, of_ranks in values.items() if any(value != of_ranks[0] for value in of_ranks)]
        if differing:
            raise ValueError(f"the ranks differ in {' and '.join(differing)}: give all of them the same")

    def serve(self, asked: str, relay: Any) -> None:
        """Does the collective operation that the relay requests. asked: "mail" (all ranks exchange bytes), "sum" or
        "max" (of numbers over the ranks); the same on all ranks."""
        if asked == "mail":
            self._exchange(relay)
            return
        values, operation = (relay.sums(), self._mpi.SUM) if asked == "sum" else (relay.most(), self._mpi.MAX)
        self._comm.Allreduce(self._mpi.IN_PLACE, values, op=operation)

    def _exchange(self, relay: Any) -> None:
        requests = []
        for start, letters in ((self._comm.Irecv, relay.incoming()), (self._comm.Isend, relay.outgoing())):
            for rank, letter in enumerate(letters):
                for at in range(0, len(letter), _MOST_AT_ONCE):
                    requests.append(start(letter[at : at + _MOST_AT_ONCE], rank, _TAG))
        self._mpi.Request.Waitall(requests)


class RankTask:
    """The run of a rank. While it is waited for, this thread does the collective operations that it requests."""

    def __init__(self, ranks: Ranks, relay: Any, task: Any) -> None:
        self.task = task
        self._ranks = ranks
        self._relay = relay
        self._over = False  # True if no rank waits for this one any more

    def wait(self, seconds: float) -> bool:
        if self._over:
            return bool(self.task.wait(seconds))
        self._ranks.check_interrupt()
        asked = self._relay.wait(seconds)
        if not asked:
            return False
        if asked == "over":
            self._end()
            return True
        self._agree(doing=asked)
        try:
            self._ranks.serve(asked, self._relay)
        except BaseException:
            self._over = True  # the other ranks have the error
            raise
        self._relay.answer()
        return False

    def cancel(self) -> None:
        """Cancels the run while an exception is handled, and informs the other ranks of it."""
        self.task.cancel()
        if self._over:
            return
        error = sys.exc_info()[1]
        try:
            self._agree(error if error is not None else RuntimeError("cancelled"))
        except BaseException as told:
            if told is not error:
                raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self.task, name)

    def _agree(self, error: BaseException | None = None, doing: str = "") -> None:
        try:
            self._ranks.agree(error, doing)
        except BaseException:
            self._over = True
            raise

    def _end(self) -> None:
        try:
            while not self.task.wait(1.0):
                pass
        except (ValueError, MemoryError, RuntimeError) as error:
            self._agree(type(error)(python_words(str(error))))
        self._agree(doing="over")
        self._over = True
