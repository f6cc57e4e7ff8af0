"""Runs one sweep on several MPI processes, each with a share of the points: mpirun -n 4 python sweep_ranks.py

It needs mpi4py. Here each process makes its points; usually it reads its own file, or rows of a large one.
"""

import numpy as np
from mpi4py import MPI

import epsflow


def points_of(process, n=20_000):
    """Returns noise and a part of 30 clumps; each process has points of all clumps."""
    centres = np.random.default_rng(1).uniform(0, 100, (30, 3))
    rng = np.random.default_rng(100 + process)
    clumps = centres[rng.integers(len(centres), size=n)] + rng.normal(0, 0.5, (n, 3))
    return np.concatenate([clumps, rng.uniform(0, 100, (n // 4, 3))])


def main():
    comm = MPI.COMM_WORLD
    X = points_of(comm.Get_rank())
    found = epsflow.sweep(X, eps=[0.2, 0.4], min_samples=[5, 20], comm=comm)
    if comm.Get_rank() == 0:
        for variant in found:
            print(
                f"eps {variant.eps}, min_samples {variant.min_samples}: {variant.n_clusters} clusters of all, "
                f"{variant.n_noise} points are noise"
            )
    # Labels belong to the rows of this X. A cluster has the same number on all processes.
    largest = np.bincount(found[0].labels[found[0].labels >= 0], minlength=1).max()
    print(f"process {comm.Get_rank()} of {comm.Get_size()}: {len(X)} points, at most {largest} of one cluster")


if __name__ == "__main__":
    main()
