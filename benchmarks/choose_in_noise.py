#!/usr/bin/env python3
"""Measures the recommendations of epsflow.explore() for data with noise: 60 sets of 3,000 points in the plane, in space
and on the sphere, with three to eight clusters and 20 to 60 % of uniform noise.

Prints for each kind the mean adjusted Rand index of the recommended labels, and of the best of all offers, over the
points that belong to a cluster in truth. A set without a recommendation counts 0. Also prints the mean index of all
recommendations over all points, with noise as one more class; sets without a recommendation are left out.
Needs scikit-learn.

    choose_in_noise.py [SEED]
"""

import sys
from collections import defaultdict

import numpy as np
from sklearn.metrics import adjusted_rand_score

import epsflow

N = 3000
NOISE = (0.2, 0.3, 0.4, 0.5, 0.6)


def in_space(random, dims, noise):
    clusters = int(random.integers(3, 9))
    alone = int(N * noise)
    centres = random.uniform(0, 10, (clusters, dims))
    widths = random.uniform(0.15, 0.5, clusters)
    truth = random.integers(0, clusters, N - alone)
    near = centres[truth] + random.normal(0, 1, (N - alone, dims)) * widths[truth, None]
    return np.vstack([near, random.uniform(-1, 11, (alone, dims))]), np.r_[truth, np.full(alone, -1)]


def on_sphere(random, clusters, noise):
    """Returns longitudes and latitudes, in degrees, and the true labels."""
    alone = int(N * noise)
    centres = np.c_[random.uniform(-170, 170, clusters), random.uniform(-60, 60, clusters)]
    truth = random.integers(0, clusters, N - alone)
    near = centres[truth] + random.normal(0, 0.3, (N - alone, 2))
    away = np.c_[random.uniform(-180, 180, alone), np.degrees(np.arcsin(random.uniform(-1, 1, alone)))]
    return np.vstack([near, away]), np.r_[truth, np.full(alone, -1)]


def sets(seed):
    for k in range(6):
        random = np.random.default_rng(seed + 100 + k)
        for noise in NOISE:
            yield f"{2 + k % 2}-D", *in_space(random, 2 + k % 2, noise), {}
    for k in range(6):
        random = np.random.default_rng(seed + 200 + k)
        for noise in NOISE:
            yield "sphere", *on_sphere(random, 3 + k % 3, noise), {"metric": "greatcircle"}


def main(seed):
    scores, with_noise = defaultdict(list), []
    for kind, X, truth, metric in sets(seed):
        explored = epsflow.explore(X, **metric)
        offers = [o for o in (explored.recommended, *explored.alternatives) if o is not None]
        near = truth >= 0
        found = [adjusted_rand_score(truth[near], o.labels[near]) for o in offers] or [0.0]
        scores[kind].append((found[0], max(found)))
        if offers:
            with_noise.append(adjusted_rand_score(truth, offers[0].labels))
    for kind, of_kind in scores.items():
        print("%-7s %2d sets  recommended %.3f  best of offers %.3f" % (kind, len(of_kind), *np.mean(of_kind, axis=0)))
    everything = np.mean([s for of_kind in scores.values() for s in of_kind], axis=0)
    print("all     %2d sets  recommended %.3f  best of offers %.3f  with the noise %.3f"
          % (sum(map(len, scores.values())), *everything, np.mean(with_noise)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
