"""Follows clusters of points that arrive and leave, with ids that they keep, in three streams.

    python live_windows.py tec                                                             maps every five minutes
    python live_windows.py tec gps200101g.hdf5 ut1_unix glon gdlat tec "Data/Table Layout" of a file of Madrigal
    python live_windows.py lightning                                                       strokes, by the second
    python live_windows.py lidar                                                           ten frames a second

After each step the labels equal a run of DBSCAN over the points in the window.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np

import epsflow

Steps = Iterator[tuple[float, np.ndarray]]
ON_THE_EARTH = {"metric": "greatcircle", "metric_params": {"unit": "km"}}


def tec(arguments: list[str]) -> Steps:
    """Yields time in s and [n, 2] lon and lat of the dense pixels of a day's maps of total electron content."""
    from tec_day import LOWEST, dense, generate

    pixels = epsflow.read_points(arguments[0], arguments[1:5], *arguments[5:]) if arguments else generate(24)
    pixels = np.asarray(pixels)[np.asarray(pixels)[:, 2] >= LOWEST]
    for when in np.unique(pixels[:, 0]):
        of_map = pixels[pixels[:, 0] == when]
        yield when, of_map[dense(of_map[:, 0], of_map[:, 3]), 1:3]


def lightning(arguments: list[str]) -> Steps:
    """Yields time in s and [n, 2] lon and lat of strokes: two storms that meet, one that ends, and single strokes."""
    random = np.random.default_rng(5)
    for second in range(1800):
        storms = [(5 + second * 0.0006, 47.0, 1.0), (7 - second * 0.0006, 47.1, 1.0), (9.0, 45.0, second < 900)]
        strokes = [random.normal([lon, lat], 0.05, (random.poisson(0.5 * rate), 2)) for lon, lat, rate in storms]
        strokes.append(random.uniform([4, 44], [10, 49], (random.poisson(0.1), 2)))
        yield float(second), np.concatenate(strokes)


def lidar(arguments: list[str]) -> Steps:
    """Yields time in s and [n, 3] positions in m of a road without the ground: cars that pass by a post."""
    random = np.random.default_rng(6)
    cars = [(0.7 * car, 1 - 2 * (car % 2)) for car in range(12)]  # when they come, and their direction
    for frame in range(150):
        now = frame / 10
        seen = [random.uniform([20, -6, 0.3], [20.2, -5.8, 4], (80, 3))]  # the post
        for begin, way in cars:
            x = way * (12 * (now - begin) - 60)
            if -60 <= x <= 60:
                seen.append([x, 3 * way, 0.3] + random.uniform([-2.2, -0.9, 0], [2.2, 0.9, 1.4], (400, 3)))
        yield now, np.concatenate(seen)


# For each stream: its steps, the arguments of the window, and the seconds after which points leave. Two maps, or two
# frames, are in the window at a time, so that clusters share points with those in the last step.
STREAMS = {
    "tec": (tec, {"eps": 300.0, "min_samples": 4, **ON_THE_EARTH}, 300),
    "lightning": (lightning, {"eps": 15.0, "min_samples": 8, **ON_THE_EARTH}, 600),
    "lidar": (lidar, {"eps": 0.8, "min_samples": 8}, 0.15),
}


def main() -> None:
    arguments = sys.argv[1:]
    most = {"tec": (1, 6, 7), "lightning": (1,), "lidar": (1,)}
    if len(arguments) not in most.get(arguments[0] if arguments else "", ()):
        sys.exit("usage: live_windows.py tec [FILE TIME LON LAT TEC [TABLE]] | lightning | lidar")
    steps, parameters, max_age = STREAMS[arguments[0]]
    window = epsflow.Window(**parameters, max_age=max_age)
    count: Counter[str] = Counter()
    took: list[float] = []
    start = None
    for now, X in steps(arguments[1:]):
        start = now if start is None else start
        begin = time.perf_counter()
        window.step(X, times=np.full(len(X), now), now=now)
        took.append(time.perf_counter() - begin)
        for event in window.events:
            count[event.event] += 1
            if event.event != "continued":
                before, after = (" and ".join(map(str, ids)) or "nothing" for ids in (event.before, event.after))
                print(f"{now - start:8.1f} s  {event.event:6}  {before} -> {after}")
    print(f"\n{len(took)} steps, {1000 * np.median(took):.2f} ms each")
    print(", ".join(f"{event} {n}" for event, n in count.items()))
    for cluster, points in zip(window.clusters["id"], window.clusters["n_points"]):
        print(f"cluster {cluster}: {points} points")


if __name__ == "__main__":
    main()
