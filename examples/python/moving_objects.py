"""Finds objects that move, such as asteroids, in single detections of several nights.

    python moving_objects.py                                 on generated ones
    python moving_objects.py detections.csv ra dec mjd       positions in degrees near the equator, and days

Many velocities are tried. Under its own velocity all detections of an object are at one position: a cluster.
"""

from __future__ import annotations

import sys

import numpy as np

import epsflow

EPS = 0.01  # degrees
LEAST = 6  # detections of an object
FASTEST, STEP = 0.05, 0.002  # degrees a day; in 6 days from the middle, half a step is less than EPS


def generate(objects: int = 20, others: int = 600) -> np.ndarray:
    """Returns [n, 3] x, y and day: objects that are seen in each of eight nights, and detections of nothing."""
    random = np.random.default_rng(3)
    nights = np.array([0.0, 1, 2, 4, 7, 8, 9, 11])
    start, velocity = random.uniform(0, 1, (objects, 2)), random.uniform(-FASTEST, FASTEST, (objects, 2))
    seen = start[:, None] + velocity[:, None] * nights[:, None] + random.normal(0, 2e-4, (objects, len(nights), 2))
    noise = np.column_stack([random.uniform(-0.2, 1.2, (others, 2)), random.choice(nights, others)])
    return np.concatenate([np.dstack([seen, np.broadcast_to(nights, seen.shape[:2])]).reshape(-1, 3), noise])


def main() -> None:
    if len(sys.argv) not in (1, 5):
        sys.exit("usage: moving_objects.py [FILE X Y DAY]")
    rows = np.asarray(epsflow.read_points(sys.argv[1], sys.argv[2:])) if sys.argv[1:] else generate()
    X, day = rows[:, :2], rows[:, 2]
    since = day - (day.min() + day.max()) / 2
    speeds = np.arange(-FASTEST, FASTEST + STEP / 2, STEP)
    velocities = np.stack(np.meshgrid(speeds, speeds), axis=-1).reshape(-1, 2)
    found = epsflow.sweep_velocities(X, since, velocities, EPS, LEAST, min_size=LEAST)
    print(f"{len(X)} detections under {len(found)} velocities: {len(found.clusters['size'])} clusters")

    # An object is a cluster under several velocities near its own. The one with most detections counts.
    print("\ndetections  x        y        x a day   y a day")
    is_used = np.zeros(len(X), bool)
    objects = 0
    for i in np.argsort(-np.asarray(found.clusters["size"]), kind="stable"):
        velocity, core = (int(found.clusters[name][i]) for name in ("velocity", "first_core"))
        if is_used[core]:
            continue
        labels = found.labels(velocity, EPS, LEAST)
        members = np.flatnonzero((labels == labels[core]) & ~is_used)
        if len(np.unique(np.floor(day[members]))) < LEAST:
            continue
        is_used[members] = True
        objects += 1
        (u, v), (x, y) = np.polyfit(since[members], X[members], 1)  # velocity, and position in the middle
        print(f"{len(members):10} {x:8.4f} {y:8.4f} {u:9.5f} {v:9.5f}")
    print(f"\n{objects} objects")


if __name__ == "__main__":
    main()
