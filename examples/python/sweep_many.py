"""Sweeps many data sets: joblib uses the GPUs or cores of a machine, dask and Ray use processes and machines.

    python sweep_many.py joblib               on generated data
    python sweep_many.py dask *.npy           on real data: the results of a.npy are saved in a.results

A run occupies its engine, so parallel runs need several engines, each with its share of the machine.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from queue import SimpleQueue

import numpy as np

import epsflow

EPS, MIN_SAMPLES = [0.05, 0.1, 0.2], [5, 10, 20]
CORES = os.cpu_count() or 1
MEMORY = "1GiB"  # of each engine; by default, each would take half of the machine's memory


def sweep_file(file: Path, **where) -> str:
    """Sweeps one data set, saves the results and returns a line about them. Labels stay in the process."""
    result = epsflow.sweep(np.load(file), EPS, MIN_SAMPLES, **where)
    result.save(file.with_suffix(".results"), overwrite=True)
    best = max(result, key=lambda variant: variant.n_clusters)
    return f"{file.name}: most clusters, {best.n_clusters}, with eps={best.eps:g} and min_samples={best.min_samples}"


def make_engines() -> list[epsflow.Engine]:
    """Returns an engine for each GPU or, if there is no GPU, for each core."""
    found = epsflow.backends().get("gpu")  # "0: its name and memory; 1: …"
    if not found:
        return [epsflow.Engine("cpu", threads=1, memory=MEMORY) for _ in range(CORES)]
    return [epsflow.Engine("gpu", gpu=int(gpu.partition(":")[0]), memory=MEMORY) for gpu in found.split("; ")]


def with_joblib(files: list[Path]) -> list[str]:
    """Uses threads, because the GIL is free during a run. A data set goes to the next free engine."""
    from joblib import Parallel, delayed

    engines = make_engines()
    free: SimpleQueue[epsflow.Engine] = SimpleQueue()
    for engine in engines:
        free.put(engine)

    def on_a_free_engine(file: Path) -> str:
        engine = free.get()
        try:
            return sweep_file(file, engine=engine)
        finally:
            free.put(engine)

    return Parallel(n_jobs=len(engines), prefer="threads")(delayed(on_a_free_engine)(file) for file in files)


def with_dask(files: list[Path]) -> list[str]:
    """Uses calls without an engine: these share one engine per process, which the first call creates.

    On a cluster, make a dask.distributed.Client first and omit scheduler and num_workers. On GPUs, make the client of a
    dask_cuda.LocalCUDACluster, whose workers see one GPU each.
    """
    import dask

    tasks = [dask.delayed(sweep_file)(file, threads=1, memory=MEMORY) for file in files]
    return list(dask.compute(*tasks, scheduler="processes", num_workers=CORES))


def with_ray(files: list[Path]) -> list[str]:
    """Runs a task per core. On a cluster, call ray.init(address="auto") first; on GPUs, use ray.remote(num_gpus=1)."""
    import ray

    ray.init(num_cpus=CORES, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    task = ray.remote(sweep_file)
    return list(ray.get([task.remote(file, threads=1, memory=MEMORY) for file in files]))


def generate(folder: Path) -> list[Path]:
    files = [folder / f"points_{i}.npy" for i in range(6)]
    for i, file in enumerate(files):
        random = np.random.default_rng(i)
        centres = random.uniform(0, 10, size=(20 + 10 * i, 2))
        np.save(file, np.repeat(centres, 500, axis=0) + random.normal(0, 0.1, size=(500 * len(centres), 2)))
    return files


if __name__ == "__main__":  # dask's processes import this file
    if len(sys.argv) < 2 or sys.argv[1] not in ("joblib", "dask", "ray"):
        sys.exit("usage: sweep_many.py joblib|dask|ray [FILE.npy …]")
    sweep_all = {"joblib": with_joblib, "dask": with_dask, "ray": with_ray}[sys.argv[1]]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(name) for name in sys.argv[2:]] or generate(Path(folder))
        print(*sweep_all(files), sep="\n")
