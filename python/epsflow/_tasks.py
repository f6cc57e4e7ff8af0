"""Waiting for runs: signals are looked after, progress is shown, errors speak Python's names."""

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

# Between two looks at signals. Waiting ends at once when the run does.
_SLICE_SECONDS = 0.05


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    variants_done, variants : int
    eps : float
        Of the table that moved last, or of the variant that was finished last; 0 while there was neither.
    share : float
        Of the rows of that table, from 0 to 1; 1 of a variant that is finished.
    seconds : float
        Since the run began.
    seconds_left : float or None
        As `explore` foretells it, from the eps that it swept first; None where nothing is foretold.
    """

    variants_done: int
    variants: int
    eps: float
    share: float
    seconds: float
    seconds_left: Optional[float] = None


ProgressOption = Union[bool, Callable[[Progress], Any], None]
OnResults = Optional[Callable[[list[Any]], None]]


# What the library says of its options and of the like, and how Python has them; the longest names first. Whatever is no parameter
# there is an option of the library alone.
_NAMES = sorted(((library, name) for library, name, *_ in _core.options()), key=lambda pair: -len(pair[0]))
_WORDS = (
    *((re.escape(library) + r"\b", name) for library, name in _NAMES),
    (r" with ReadOptions::columns", ""),
    (r"build with EPSFLOW_CUDA=ON", "pip install 'epsflow[cuda13]'"),
    (r" = \w+::automatic", "='auto'"),
    (r" = \w+::(\w+)", r"='\1'"),
    (r"(?:EngineOptions|SearchOptions|RunOptions)::(\w+)", r"\1"),
    (r"(?<![\w/.-])minpts(?![\w/-]|\.\w)", "min_samples"),  # and not in names of files
)


def python_words(text: str) -> str:
    """The library's options and words as the parameters of Python are called."""
    for pattern, words in _WORDS:
        text = re.sub(pattern, words, text)
    if " is nan" in text or " is -nan" in text or " is inf" in text or " is -inf" in text:
        text = text.replace("drop such rows before clustering", "epsflow.drop_missing() leaves such rows out")
    return text


@contextmanager
def python_errors() -> Iterator[None]:
    """Errors of the library in Python's words."""
    try:
        yield
    except (ValueError, MemoryError, RuntimeError) as error:
        raise type(error)(python_words(str(error))) from None


def run_task(start: Any, *arguments: Any, progress: ProgressOption = None, on_results: OnResults = None) -> Any:
    """A task that is started and has ended."""
    with python_errors():
        task = start(*arguments)
    wait_for(task, progress, on_results)
    return task


def made_by(start: Any, *arguments: Any, progress: ProgressOption = None) -> Any:
    """What a task makes that is started and has ended."""
    return run_task(start, *arguments, progress=progress).take()


def filled(of: Callable[..., T], made: Any, **further: Any) -> T:
    """A dataclass whose fields are the attributes that `made` has by their names, but for those that are given."""
    names = [name for name in of.__dataclass_fields__ if name not in further]  # type: ignore[attr-defined]
    return of(**{name: getattr(made, name) for name in names}, **further)


def wait_for(task: Any, progress: ProgressOption = None, on_results: OnResults = None) -> None:
    """Waits for the end of a task. Whatever is raised meanwhile, as KeyboardInterrupt is, ends the task first."""
    show = None
    last_eps = 0.0
    try:
        show = _reporter(progress)
        ended = False
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
    finally:
        if show is not None:
            show(None)


def _wait_for_end(task: Any) -> None:
    """Here, where other threads go on meanwhile, and not where the task is destroyed."""
    try:
        while not task.wait(_SLICE_SECONDS):
            pass
    except Exception:
        pass  # what ended it is known


def _reporter(progress: ProgressOption) -> Callable[[Progress | None], None] | None:
    """Called with None when there is nothing more to report."""
    if progress is None or progress is False:
        return None
    if callable(progress):
        callback = progress

        def report(state: Progress | None) -> None:
            if state is not None:
                callback(state)

        return report
    if progress is not True:
        raise TypeError(f"progress is {progress!r}; it is True, False or a function that takes an epsflow.Progress")
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _LineReporter()
    return _BarReporter(tqdm)


class _BarReporter:
    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None

    def __call__(self, state: Progress | None) -> None:
        if state is None:
            if self._bar is not None:
                self._bar.close()
            return
        if self._bar is None:
            self._bar = self._tqdm(total=state.variants or None, unit="variant")
        if state.variants:
            self._bar.total = state.variants
        self._bar.n = state.variants_done
        self._bar.refresh()


class _LineReporter:
    def __init__(self) -> None:
        self._said = -1

    def __call__(self, state: Progress | None) -> None:
        if state is not None and state.variants_done != self._said:
            self._said = state.variants_done
            left = "" if state.seconds_left is None else f", about {state.seconds_left:.0f} s left"
            log.info("%d of %d variants, %.1f s%s", state.variants_done, state.variants, state.seconds, left)


