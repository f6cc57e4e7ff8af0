"""Shared code of the benchmarks in Python: cases and their options, fresh processes, clocks, points and tables."""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import inspect
import json
import os
import platform
import resource
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable

BENCH = "build/release/bin/bench"
PACKAGES = (
    "epsflow", "numpy", "scikit-learn", "dbscan", "hdbscan", "hdbscan-rs", "fast_plscan", "fast_hdbscan", "pyfof",
    "halotools", "scipy", "jztree", "incdbscan-rs", "persistable-clustering", "joblib", "matplotlib", "torch",
)


def main(doc: str, *cases: Callable[..., Any]) -> None:
    """Runs the case that the command line names. Ends the process with its result if that is not None.

    A case is a function. Its docstring is its help; its arguments are options, and have defaults: False makes a flag,
    a tuple an option of one or more values. Prints the machine, versions and the command before.
    """
    if sys.argv[1:2] == ["--call"]:
        function = getattr(sys.modules["__main__"], sys.argv[2])
        print(json.dumps(function(*map(json.loads, sys.argv[3:]))))
        return
    parser = argparse.ArgumentParser(description=doc)
    ways = parser.add_subparsers(required=True, metavar="CASE")
    for case in cases:
        about = inspect.getdoc(case) or ""
        way = ways.add_parser(case.__name__, help=about.partition("\n")[0], description=about,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
        way.set_defaults(case=case)
        for name, parameter in inspect.signature(case).parameters.items():
            standard, option = parameter.default, "--" + name.replace("_", "-")
            if standard is False:
                way.add_argument(option, action="store_true")
                continue
            many = isinstance(standard, tuple)
            kind = type(standard[0] if many else standard)
            way.add_argument(option, default=standard, nargs="+" if many else None, help=f"default {standard}",
                             type=(lambda word: int(float(word))) if kind is int else kind)
    given = vars(parser.parse_args())
    case = given.pop("case")
    print(f"{datetime.date.today()}, {len(os.sched_getaffinity(0))} cores of {processor()}, "
          f"Python {platform.python_version()}; {', '.join(versions())}. `{shlex.join(sys.argv)}`\n", flush=True)
    sys.exit(case(**given))


def processor() -> str:
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def versions() -> list[str]:
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            pass
    try:
        import epsflow

        found += [f"{name}: {detail}" for name, detail in epsflow.backends().items()]
    except ImportError:
        pass
    return found


def table(*head: Any) -> Callable[..., None]:
    """Begins a Markdown table. Returns the function that prints a row."""
    def row(*cells: Any) -> None:
        print("|", " | ".join(map(str, cells)), "|", flush=True)

    row(*head)
    row(*["---"] * len(head))
    return row


def output(words: list[Any], limit: float | None = None, core: int | None = None) -> Any:
    """Runs a program and returns the JSON of the last line that it prints.

    limit: seconds after which it is stopped; raises subprocess.TimeoutExpired. core: the one core that it may use.
    Raises RuntimeError, with the last line of its errors, if it fails.
    """
    bind = None if core is None else lambda: os.sched_setaffinity(0, {core})
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=limit, preexec_fn=bind)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    return json.loads(done.stdout.strip().splitlines()[-1])


def in_process(function: Callable[..., Any], *arguments: Any, python: str = sys.executable, **how: Any) -> Any:
    """Returns function(*arguments) of a fresh process: a function of this script, with arguments and result in JSON.

    how: as for output().
    """
    return output([python, sys.argv[0], "--call", function.__name__, *map(json.dumps, arguments)], **how)


def processor_seconds(*of: int) -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in of)


def timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """Returns the result of call(), its wall seconds, and its processor seconds, child processes included."""
    everyone = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    clock, spent = time.perf_counter(), processor_seconds(*everyone)
    made = call()
    return made, time.perf_counter() - clock, processor_seconds(*everyone) - spent


def in_turns(calls: dict[str, Callable[[], Any]], rounds: int) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Calls each in turn, `rounds` times. Returns the seconds of each, and the results of the last round."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    results = {}
    for _ in range(rounds):
        for name, call in calls.items():
            results[name], took, _ = timed(call)
            seconds[name].append(took)
    return seconds, results


def clumps(n: int, dims: int, count: int = 100, spread: float = 2, equal: bool = False, seed: int = 0) -> Any:
    """Returns normal clumps of many sizes, or of equal ones, over a fifth of uniform noise in a box of side 100."""
    import numpy as np  # measure_gpu.py does without it

    random = np.random.default_rng(seed)
    sizes = np.ones(count) if equal else random.pareto(1.2, count) + 0.1
    of = random.choice(count, size=n, p=sizes / sizes.sum())
    points = random.uniform(0, 100, (count, dims))[of] + random.normal(scale=spread, size=(n, dims))
    noise = random.random(n) < 0.2
    points[noise] = random.uniform(0, 100, (int(noise.sum()), dims))
    return points


def make_sets(folder: Path, *names: str) -> None:
    """Makes the sets that the folder lacks, with its gen_points or gen_points.cpp."""
    program, source = folder / "gen_points", folder / "gen_points.cpp"
    for name in names:
        if (folder / f"{name}.npy").exists():
            continue
        if not program.exists():
            if not source.exists():
                sys.exit(f"neither {name}.npy nor gen_points nor gen_points.cpp in {folder}")
            subprocess.run(["g++", "-O3", "-std=c++17", source, "-o", program], check=True)
        subprocess.run([program, name, folder / f"{name}.npy"], check=True)
