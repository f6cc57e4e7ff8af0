#!/usr/bin/env python3
"""Compares groups of friends of epsflow with other programs: whether the groups are the same, and the time of each.

usage: compare_groups.py [--points 20000 100000] [--rounds 3]
needs: epsflow, numpy and any of pyfof, halotools, scipy and jztree (pip install pyfof halotools scipy; jztree with
jztree-cu12 or jztree-cu13, and a GPU); missing ones are listed in the table.

Points are Gaussian haloes of many sizes over a uniform background, in a box of 100. epsflow solves the same problem as
each finder: pyfof has no periodic box; halotools links within cylinders, which become circles for points of one plane
(z = 0); scipy builds a graph of all pairs (cKDTree, with a periodic box) and its connected components; jztree computes
in float32, so that pairs at exactly the linking length may differ. Two labellings are the same if their groups are
equal as sets. Exits with 1 if they differ.
"""
import argparse
import sys
import time
import warnings

import numpy as np

import epsflow

BOX = 100.0
B = 0.2


def matter(points: int, dims: int = 3) -> np.ndarray:
    draw = np.random.default_rng(points)
    sizes = np.minimum(60 * draw.uniform(size=points // 400) ** -1.0, 4000).astype(int)
    haloes = np.repeat(draw.uniform(0, BOX, (len(sizes), dims)), sizes, axis=0)[: points // 2]
    haloes += draw.normal(0, 0.4, haloes.shape)
    return np.concatenate([haloes, draw.uniform(0, BOX, (points - len(haloes), dims))]) % BOX


def canonical(labels: np.ndarray) -> np.ndarray:
    """Returns the smallest point in each point's group, which does not depend on the numbers of the groups."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return first[inverse]


def ours(X: np.ndarray, length: float, box: float | None) -> np.ndarray:
    return epsflow.friends_of_friends(X, length, box=box, min_size=1, threads=1).labels


def by_pyfof(X: np.ndarray, length: float) -> np.ndarray:
    import pyfof

    labels = np.empty(len(X), np.int64)
    for number, members in enumerate(pyfof.friends_of_friends(X, length)):
        labels[members] = number
    return labels


def by_halotools(X: np.ndarray, length: float) -> np.ndarray:
    from halotools.mock_observables import FoFGroups

    b = length / (BOX / np.cbrt(len(X)))
    return FoFGroups(X, b, b, Lbox=BOX, num_threads=1).group_ids


def by_scipy(X: np.ndarray, length: float) -> np.ndarray:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    pairs = cKDTree(X, boxsize=BOX).query_pairs(length, output_type="ndarray")
    graph = coo_matrix((np.ones(len(pairs), bool), pairs.T), (len(X), len(X)))
    return connected_components(graph, directed=False)[1]


def by_jztree(X: np.ndarray, length: float) -> np.ndarray:
    import jax.numpy as jnp
    from jztree.fof import fof_labels

    return np.asarray(fof_labels(jnp.asarray(X, jnp.float32), float(length), BOX, output_order="input")[1])


def single(X: np.ndarray) -> np.ndarray:
    return X.astype(np.float32).astype(np.float64)


def flat(X: np.ndarray) -> np.ndarray:
    return np.concatenate([X, np.zeros((len(X), 1))], axis=1)


def timed(find, *arguments):
    begin = time.perf_counter()
    found = find(*arguments)
    return found, time.perf_counter() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    good = True
    print("| finder | points | box | groups of 2 and more | same | seconds | epsflow, one thread | ratio |\n"
          "|---|---|---|---|---|---|---|---|")
    for points in args.points:
        whole, plane = matter(points), matter(points, 2)
        for name, find, X, box, to_theirs in (
            ("pyfof", by_pyfof, whole, None, np.asarray),
            ("scipy", by_scipy, whole, BOX, np.asarray),
            ("halotools", by_halotools, plane, BOX, flat),
            ("jztree", by_jztree, single(whole) % BOX, BOX, np.asarray),
        ):
            length = B * BOX / len(X) ** (1 / X.shape[1])
            theirs = to_theirs(X)
            try:
                rounds = [(timed(find, theirs, length), timed(ours, X, length, box)) for _ in range(args.rounds)]
            except ImportError as missing:
                print(f"| {name} | - | - | - | not there: {str(missing).splitlines()[0]} | | | |")
                continue
            (found, _), (labels, _) = rounds[0]
            same = bool((canonical(found) == canonical(labels)).all())
            good = good and same
            groups = int((np.unique(labels, return_counts=True)[1] > 1).sum())
            took, needed = (float(np.median([one[i][1] for one in rounds])) for i in (0, 1))
            print(f"| {name} | {points} | {'periodic' if box else 'open'} | {groups} | {'yes' if same else 'NO'} "
                  f"| {took:.3f} | {needed:.4f} | {took / needed:.1f} |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
