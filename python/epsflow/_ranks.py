"""Sweeps over points of which each process of MPI has a share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from . import _core
from ._tasks import python_words

T = TypeVar("T")

# MPI counts in int.
_MOST_AT_ONCE = 1 << 30
_TAG = 1


class Ranks:
    """The processes of a communicator of mpi4py, of which it has a copy of its own. All calls but those of properties are collective."""

    def __init__(self, comm: Any) -> None:
        try:
            from mpi4py import MPI
        except ImportError:
            raise ImportError("comm is a communicator of mpi4py, which is not there: pip install mpi4py") from None
        if not isinstance(comm, MPI.Intracomm):
            raise TypeError(f"comm is {comm!r}: give a communicator of mpi4py, as MPI.COMM_WORLD")
        self._mpi = MPI
        self._comm = comm.Dup()
        self.rank: int = self._comm.Get_rank()
        self.size: int = self._comm.Get_size()

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *raised: object) -> None:
        # Collective, and so is what went before: an error is everybody's.
        self._comm.Free()

    def start(self, *arguments: Any) -> RankTask:
        """What run_task() starts."""
        relay = _core.Relay(self.rank, self.size)
        return RankTask(self, relay, self.together(lambda: _core.start_rank_sweep(relay, *arguments)))

    def agree(self, error: BaseException | None = None) -> None:
        """Raises on every rank where one of them has an error: its own, or RuntimeError that says whose."""
        mine = None if error is None else f"{type(error).__name__}: {error}"
        for rank, text in enumerate(self._comm.allgather(mine)):
            if error is not None:
                raise error
            if text is not None:
                raise RuntimeError(f"rank {rank}: {text}")

    def together(self, step: Callable[[], T]) -> T:
        """What the step returns. Where it raises on one rank, all do."""
        try:
            made = step()
        except Exception as error:
            self.agree(error)
            raise  # it has been already
        self.agree()
        return made

    def serve(self, asked: str, relay: Any) -> None:
        """Does what the relay asks."""
        if asked == "sum":
            self._comm.Allreduce(self._mpi.IN_PLACE, relay.sums(), op=self._mpi.SUM)
        elif asked == "max":
            self._comm.Allreduce(self._mpi.IN_PLACE, relay.most(), op=self._mpi.MAX)
        else:
            self._exchange(relay)

    def _exchange(self, relay: Any) -> None:
        send = relay.outgoing()
        receive = relay.incoming(self._comm.alltoall([len(letter) for letter in send]))
        requests = []
        for start, letters in ((self._comm.Irecv, receive), (self._comm.Isend, send)):
            for rank, letter in enumerate(letters):
                for at in range(0, len(letter), _MOST_AT_ONCE):
                    requests.append(start(letter[at : at + _MOST_AT_ONCE], rank, _TAG))
        self._mpi.Request.Waitall(requests)


class RankTask:
    """The run of a rank, which is waited for as any task is: what it asks of the others is done meanwhile, on this thread."""

    def __init__(self, ranks: Ranks, relay: Any, task: Any) -> None:
        self.task = task
        self._ranks = ranks
        self._relay = relay
        self._talking = False  # within a collective call: when one is broken off, the others cannot be told any more
        self._over = False  # no rank waits for this one any more

    def wait(self, seconds: float) -> bool:
        if self._over:
            return bool(self.task.wait(seconds))
        asked = self._relay.wait(seconds)
        if not asked:
            return False
        if asked == "over":
            self._end()
            return True
        self._talk()
        self._talking = True
        self._ranks.serve(asked, self._relay)
        self._talking = False
        self._relay.answer()
        return False

    def cancel(self) -> None:
        """While what broke off the waiting is handled."""
        self.task.cancel()
        if not self._over and not self._talking:
            error = sys.exc_info()[1]
            try:
                self._talk(error if error is not None else RuntimeError("cancelled"))
            except BaseException as told:
                if told is not error:
                    raise
        self._over = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.task, name)

    def _talk(self, error: BaseException | None = None) -> None:
        self._talking = True
        try:
            self._ranks.agree(error)
        except BaseException:
            self._over = True
            raise
        finally:
            self._talking = False

    def _end(self) -> None:
        try:
            while not self.task.wait(1.0):
                pass
        except (ValueError, MemoryError, RuntimeError) as error:
            self._talk(type(error)(python_words(str(error))))
        self._talk()
        self._over = True
