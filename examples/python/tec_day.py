"""Tracks patches of dense plasma that drift over the pole, in five-minute maps of total electron content (TEC).

    python tec_day.py                                                             on six generated hours
    python tec_day.py gps200101g.hdf5 ut1_unix glon gdlat tec "Data/Table Layout" on a file of Madrigal

All maps are clustered in one run, for a few eps and min_samples. Then the patches of one variant are tracked.
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np

import epsflow

EPS, MIN_SAMPLES = [200.0, 300.0, 450.0], [2, 4, 8]  # km; pixels of one degree at the equator
FOLLOWED = (300.0, 4)
ON_THE_EARTH = {"metric": "greatcircle", "metric_params": {"unit": "km"}}  # on a plane map the pole would be a line
LOWEST = 60.0  # degrees


def generate(hours: int = 6) -> np.ndarray:
    """Returns [n, 4] time in s, lon, lat and TEC: 60 % of the pixels of one-degree maps every five minutes. Patches
    cross the pole, the same again every six hours."""
    random = np.random.default_rng(3)
    # Start and end in hours, and start and end in degrees from the pole. The second and the third patch merge.
    paths = [
        (0.0, 2.0, (-28, 8), (18, 12)),
        (1.0, 3.5, (-28, -14), (26, -2)),
        (1.0, 3.5, (-28, 12), (26, 2)),
        (3.0, 5.0, (-26, 16), (22, 10)),
        (3.5, 5.75, (-22, -18), (22, -12)),
    ]
    lon, lat = (axis.ravel() for axis in np.meshgrid(np.arange(-180.0, 180), np.arange(LOWEST, 90)))
    x, y = (90 - lat) * np.cos(np.radians(lon)), (90 - lat) * np.sin(np.radians(lon))
    maps = []
    for hour in np.arange(0, hours, 1 / 12):
        tec = 4 + random.normal(0, 0.3, len(lon))
        for begin, end, start, goal in paths:
            if begin <= hour % 6 <= end:
                at = np.array(start) + (hour % 6 - begin) / (end - begin) * (np.array(goal) - start)
                tec += 12 * np.exp(-((x - at[0]) ** 2 + (y - at[1]) ** 2) / (2 * 3.0**2))
        seen = random.uniform(size=len(lon)) < 0.6
        time = np.full(len(lon), 1704067200 + round(hour * 3600))  # seconds since 1970
        maps.append(np.stack([time, lon, lat, tec], axis=1)[seen])
    return np.concatenate(maps)


def dense(time: np.ndarray, tec: np.ndarray) -> np.ndarray:
    """Returns the pixels with twice the median TEC of their map, the usual definition of a patch."""
    _, number = np.unique(time, return_inverse=True)
    middle = np.array([np.median(tec[number == i]) for i in range(number.max() + 1)])
    return tec > 2 * middle[number]


def length(lon: np.ndarray, lat: np.ndarray) -> float:
    """Returns the length in km of the path through these points."""
    lon, lat = np.radians(lon), np.radians(lat)
    x = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    return float(2 * 6371 * np.arcsin(np.linalg.norm(np.diff(x, axis=1), axis=0) / 2).sum())


def main() -> None:
    if len(sys.argv) not in (1, 6, 7):
        sys.exit("usage: tec_day.py [FILE TIME LON LAT TEC [TABLE]]")
    pixels = epsflow.read_points(sys.argv[1], sys.argv[2:6], *sys.argv[6:]) if sys.argv[1:] else generate()
    pixels = np.asarray(pixels)[np.asarray(pixels)[:, 2] >= LOWEST]
    pixels = pixels[np.argsort(pixels[:, 0], kind="stable")]
    every_map = np.unique(pixels[:, 0]).astype("datetime64[s]")
    pixels = pixels[dense(pixels[:, 0], pixels[:, 3])]
    time, X = pixels[:, 0].astype("datetime64[s]"), pixels[:, 1:3]

    area = np.cos(np.radians(X[:, 1]))  # pixels are narrower near the pole
    maps = epsflow.sweep_many(X, EPS, MIN_SAMPLES, by=time, sample_weight=area, core=True, **ON_THE_EARTH)
    print(f"{len(every_map)} maps, {len(X)} dense pixels\n\n  eps  min_samples  patches of a map  noise")
    summary = maps.summary  # one row per map and variant
    of_all = (np.asarray(summary[name]).reshape(len(maps), -1).sum(axis=0) for name in ("n_clusters", "n_noise"))
    for (eps, min_samples), clusters, noise in zip(maps.variants, *of_all):
        print(f"{eps:5.0f}  {min_samples:11}  {clusters / len(every_map):16.2f}  {noise / len(X):5.1%}")

    labels, core = maps.labels(*FOLLOWED), maps.core(*FOLLOWED)
    found = epsflow.tracks(X, labels, time, slices=every_map, core=core, eps=FOLLOWED[0], **ON_THE_EARTH)
    print(
        f"\nwith {FOLLOWED[0]:.0f} km and {FOLLOWED[1]}: {found.n_features} patches in single maps, "
        f"{found.n_cells} followed"
    )
    print(", ".join(f"{event} {count}" for event, count in Counter(event.event for event in found.events).items()))
    for time, event in ((event.time, event.event) for event in found.events if event.event in ("merge", "split")):
        print(f"{time.astype('datetime64[m]')}  {event}")

    table = found.table
    longest = np.flatnonzero(table["cell"] == np.argmax(np.bincount(table["cell"])))
    when, lon, lat, pixels = (np.asarray(table[name])[longest] for name in ("time", "lon", "lat", "num"))
    minutes, way = (when[-1] - when[0]) / np.timedelta64(1, "m"), length(lon, lat)
    print(f"\nthe longest: {minutes:.0f} minutes, {way:.0f} km, {way / minutes / 0.06:.0f} m/s")
    for i in (0, len(when) // 2, -1):
        print(f"{when[i].astype('datetime64[m]')}  lon {lon[i]:6.1f}  lat {lat[i]:4.1f}  {pixels[i]} pixels")


if __name__ == "__main__":
    main()
