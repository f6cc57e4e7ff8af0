"""Sweeps many data sets: with joblib over the GPUs or the cores of a machine, with dask or Ray over processes and machines.

    python sweep_many.py joblib               on generated data
    python sweep_many.py dask *.npy           on real ones; results are saved beside them, a.npy in a.results

One run has its engine for itself, so what shall go on at the same time needs several, each with its share of the machine.
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
MEMORY = "1GiB"  # of each engine; without a word each would count on half of the machine's


def sweep_file(file: Path, **where) -> str:
    """Sweeps one data set, saves the results, and returns a line about them: labels stay where they are made."""
    result = epsflow.sweep(np.load(file), EPS, MIN_SAMPLES, **where)
    result.save(file.with_suffix(".results"), overwrite=True)
    best = max(result, key=lambda variant: variant.n_clusters)
    return f"{file.name}: most clusters, {best.n_clusters}, with eps={best.eps:g} and min_samples={best.min_samples}"


def make_engines() -> list[epsflow.Engine]:
    """One on each GPU, or else on each core."""
    found = epsflow.backends().get("gpu")  # "0: its name and memory; 1: …"
    if not found:
        return [epsflow.Engine("cpu", threads=1, memory=MEMORY) for _ in range(CORES)]
    return [epsflow.Engine("gpu", gpu=int(gpu.partition(":")[0]), memory=MEMORY) for gpu in found.split("; ")]


def with_joblib(files: list[Path]) -> list[str]:
    """Threads are enough, as the GIL is free during a run. A data set goes to whichever engine is free."""
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
    """Calls without an engine share one in each process, which is made by the first of them.

    On a cluster, make a dask.distributed.Client before, and leave scheduler and num_workers out; on GPUs that of
    dask_cuda.LocalCUDACluster, whose workers see one GPU each.
    """
    import dask

    tasks = [dask.delayed(sweep_file)(file, threads=1, memory=MEMORY) for file in files]
    return list(dask.compute(*tasks, scheduler="processes", num_workers=CORES))


def with_ray(files: list[Path]) -> list[str]:
    """A task takes a core. On a cluster, call ray.init(address="auto") before; on GPUs, ray.remote(num_gpus=1) lets each see one.
    """
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


if __name__ == "__main__":  # which the processes of dask import
    if len(sys.argv) < 2 or sys.argv[1] not in ("joblib", "dask", "ray"):
        sys.exit("usage: sweep_many.py joblib|dask|ray [FILE.npy …]")
    sweep_all = {"joblib": with_joblib, "dask": with_dask, "ray": with_ray}[sys.argv[1]]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(name) for name in sys.argv[2:]] or generate(Path(folder))
        print(*sweep_all(files), sep="\n")
