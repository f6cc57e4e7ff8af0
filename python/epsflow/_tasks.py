"""Waiting for runs: signals are handled, progress is shown, and errors use Python's names."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Optional, TypeVar, Union

from . import _core

T = TypeVar("T")

log = logging.getLogger("epsflow")

# The seconds between two checks for signals. A wait ends at once when the run ends.
_SLICE_SECONDS = 0.05


@dataclass(frozen=True)
class Progress:
    """The progress of a run.

    Attributes
    ----------
    variants_done, variants : int
        The number of variants that are finished, and of all.
    eps : float
        The eps of the neighbour table that advanced last; 0 if there has been none. When all variants of a sweep are
        finished, the eps of the variant that was finished last.
    share : float
        The finished share of the rows of that table, from 0 to 1. 1 when all variants of a sweep are finished.
    seconds : float
        Seconds since the run began.
    seconds_left : float or None
        The estimate of the remaining seconds by `explore`, from the eps that it swept first. None before these are
        swept, for grids of fewer than 16 eps, with a bound on the time, and for other runs.
    """

    variants_done: int
    variants: int
    eps: float
    share: float
    seconds: float
    seconds_left: Optional[float] = None


ProgressOption = Union[bool, Callable[[Progress], Any], None]
OnResults = Optional[Callable[[list[Any]], None]]


# The library's names of options and words, and Python's names for them, the longest first. Library options that are not
# parameters in Python keep their names.
_NAMES = sorted(((library, name) for library, name, *_ in _core.options()), key=lambda pair: -len(pair[0]))
_WORDS = (
    *((re.escape(library) + r"\b", name) for library, name in _NAMES),
    (r" with ReadOptions::columns", ""),
    (r"build with EPSFLOW_CUDA=ON", "pip install 'epsflow[cuda13]'"),
    (r" = \w+::automatic", "='auto'"),
    (r" = \w+::(\w+)", r"='\1'"),
    (r"(?:EngineOptions|SearchOptions|RunOptions)::(\w+)", r"\1"),
    (r"(?<![\w/.-])minpts(?![\w/-]|\.\w)", "min_samples"),  # not in names of files
)


def python_words(text: str) -> str:
    """Returns a message of the library with Python's parameters and values in place of its own options and words."""
    for pattern, words in _WORDS:
        text = re.sub(pattern, words, text)
    if " is nan" in text or " is -nan" in text or " is inf" in text or " is -inf" in text:
        text = text.replace("drop such rows before clustering", "epsflow.drop_missing() leaves such rows out")
    return text


@contextmanager
def python_errors() -> Iterator[None]:
    """Raises errors of the library again, with the same type; their messages have the names of Python's parameters."""
    try:
        yield
    except (ValueError, MemoryError, RuntimeError) as error:
        raise type(error)(python_words(str(error))) from None


def run_task(start: Any, *arguments: Any, progress: ProgressOption = None, on_results: OnResults = None) -> Any:
    """Starts a task, waits for its end as wait_for() does, and returns it. Raises its errors in Python's words."""
    with python_errors():
        task = start(*arguments)
    wait_for(task, progress, on_results)
    return task


def made_by(start: Any, *arguments: Any, progress: ProgressOption = None) -> Any:
    """Starts a task, waits for its end and returns its result. Raises as run_task()."""
    return run_task(start, *arguments, progress=progress).take()


def filled(of: Callable[..., T], made: Any, **further: Any) -> T:
    """Returns an object of the dataclass `of`. Its fields are `further`, and attributes of `made` with their names."""
    names = [name for name in of.__dataclass_fields__ if name not in further]  # type: ignore[attr-defined]
    return of(**{name: getattr(made, name) for name in names}, **further)


def in_order(results: list[Any], variants: list[tuple[float, int]]) -> dict[tuple[float, int], Any]:
    """Returns the library's results by variant, in the order of the variants."""
    found = {(float(result.eps), int(result.min_samples)): result for result in results}
    return {variant: found[variant] for variant in variants}


def wait_for(task: Any, progress: ProgressOption = None, on_results: OnResults = None) -> None:
    """Waits for the end of a task. If an exception such as KeyboardInterrupt is raised meanwhile, the task is
    cancelled, and its end is awaited before the exception goes on. on_results: called again and again, in this thread,
    with a list of the results that are new, which may be empty. Notices of the library go to the log."""
    last_eps, ended = 0.0, False
    try:
        with _reporter(progress) as show:
            while not ended:
                with python_errors():
                    ended = task.wait(_SLICE_SECONDS)
                for notice in task.take_notices():
                    log.warning("%s", python_words(notice))
                if on_results is not None:
                    results = task.take_results()
                    last_eps = results[-1].eps if results else last_eps
                    on_results(results)
                if show is not None:
                    state = filled(Progress, task.progress())
                    finished = state.variants_done == state.variants and last_eps > 0
                    show(replace(state, eps=last_eps, share=1.0) if finished else state)
    except BaseException:
        task.cancel()
        _wait_for_end(task)
        raise


def _wait_for_end(task: Any) -> None:
    """Waits here, while other threads continue: the destructor of the task would block them."""
    try:
        while not task.wait(_SLICE_SECONDS):
            pass
    except Exception:
        pass  # the exception that ended the task is raised


@contextmanager
def _reporter(progress: ProgressOption) -> Iterator[Callable[[Progress], Any] | None]:
    """Holds a function to call with each Progress, or None if progress is None or False. Raises TypeError if progress
    is not valid."""
    if progress is not True:
        if progress is not None and progress is not False and not callable(progress):
            raise TypeError(f"progress is {progress!r}; it is True, False or a function that takes an epsflow.Progress")
        yield progress if callable(progress) else None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        tqdm = None
    bar: Any = None
    said = -1

    def show_bar(state: Progress) -> None:
        nonlocal bar
        if bar is None:
            bar = tqdm(total=state.variants or None, unit="variant")
        if state.variants:
            bar.total = state.variants
        bar.n = state.variants_done
        bar.refresh()

    def log_line(state: Progress) -> None:
        nonlocal said
        if state.variants_done != said:
            said = state.variants_done
            left = "" if state.seconds_left is None else f", about {state.seconds_left:.0f} s left"
            log.info("%d of %d variants, %.1f s%s", said, state.variants, state.seconds, left)

    try:
        yield log_line if tqdm is None else show_bar
    finally:
        if bar is not None:
            bar.close()
