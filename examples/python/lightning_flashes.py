"""Finds lightning flashes and their branches from the VHF sources that a lightning mapping array locates.

    python lightning_flashes.py                          on generated sources
    python lightning_flashes.py sources.txt 0 1 2 3      on real ones: time in s, latitude, longitude, altitude in m

Columns are names or numbers. A flash is a cluster in space and time; a smaller eps finds its branches.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

import numpy as np

import epsflow

# 3 km or 0.15 s count as the distance 1; flashes are usually separated by these.
SCALE = [1 / 3, 1 / 3, 1 / 3, 1 / 0.15]
FLASH, BRANCH, MIN_SAMPLES = 1.0, 0.4, 8


def generate(flashes: int = 40, noise: int = 400) -> np.ndarray:
    """Returns [n, 4] x, y, z in km and t in s. A flash has three branches, from 1.2 km off its origin outwards."""
    random = np.random.default_rng(4)
    sources = [random.uniform([-30, -30, 2, 0], [30, 30, 14, 60], (noise, 4))]
    storms = np.array([[-12.0, 5.0, 8.0], [10.0, -8.0, 9.0]])
    for flash in range(flashes):
        origin, begin = storms[flash % 2] + random.normal(0, [3, 3, 1]), 1.5 * flash + random.uniform(0, 0.5)
        length = random.uniform(4, 9)  # km
        for branch in range(3):
            angle = random.uniform(-0.1, 0.1) + 2 * np.pi * (branch + flash / flashes) / 3
            steps = np.sort(random.uniform(0, length, int(9 * length)))[:, None]
            way = np.array([np.cos(angle), np.sin(angle), random.uniform(-0.3, 0.3)])
            x = origin + (1.2 + steps) * way + random.normal(0, 0.1, (len(steps), 3))
            sources.append(np.hstack([x, begin + steps / 35]))
    mixed = np.concatenate(sources)
    return mixed[np.argsort(mixed[:, 3])]


def read(file: str, columns: list[str]) -> np.ndarray:
    """Returns the same from time, latitude, longitude and altitude, on a tangent plane at their median."""
    chosen = [int(name) if name.isdigit() else name for name in columns]
    t, lat, lon, altitude = np.asarray(epsflow.read_points(file, chosen)).T
    degree = 111.19  # km
    east = degree * np.cos(np.radians(np.median(lat))) * (lon - np.median(lon))
    return np.stack([east, degree * (lat - np.median(lat)), altitude / 1000, t], axis=1)


def main() -> None:
    if len(sys.argv) not in (1, 6):
        sys.exit("usage: lightning_flashes.py [FILE TIME LATITUDE LONGITUDE ALTITUDE]")
    X = read(sys.argv[1], sys.argv[2:]) if sys.argv[1:] else generate()

    result = epsflow.sweep(X, [BRANCH, FLASH], MIN_SAMPLES, metric_params={"scale": SCALE}, lineage=True)
    flashes, branches = result.variant(FLASH, MIN_SAMPLES), result.variant(BRANCH, MIN_SAMPLES)
    # Each branch lies in one flash, because its core points stay together at the larger eps.
    parents = result.lineage.ancestors((BRANCH, MIN_SAMPLES), (FLASH, MIN_SAMPLES))
    children = np.bincount(parents, minlength=flashes.n_clusters)
    print(f"{len(X)} sources: {flashes.n_clusters} flashes with {branches.n_clusters} branches")
    print(f"{flashes.n_noise} sources ({flashes.n_noise / len(X):.0%}) are in no flash\n\nbranches  flashes")
    for count, number in enumerate(np.bincount(children)):
        print(f"{count:8}  {number:7}")

    found = epsflow.catalog(X, flashes.labels)
    print("\nflashes of most sources:\nsources  branches        t  lasts s       x       y       z  wide km")
    for flash in np.argsort(-np.asarray(found["size"]), kind="stable")[:8]:
        x, y, z = (found[f"x{axis}_center"][flash] for axis in range(3))
        east, north, lasts = (found[f"x{axis}_upper"][flash] - found[f"x{axis}_lower"][flash] for axis in (0, 1, 3))
        print(
            f"{found['size'][flash]:7}  {children[flash]:8} {found['x3_lower'][flash]:8.2f} {lasts:8.3f}"
            f" {x:7.1f} {y:7.1f} {z:7.1f} {np.hypot(east, north):8.1f}"
        )

    if find_spec("xarray") is None:
        print("\nxarray is not there: flashes are not put into the variables of xlma-python")
        return
    import xarray

    names = dict(zip(("event_x", "event_y", "event_z", "event_time"), X.T))
    events = xarray.Dataset({name: ("number_of_events", values) for name, values in names.items()})
    made = epsflow.flashes(events, flashes)  # made.to_netcdf("flashes.nc") writes it to a file
    lasted = np.median(made["flash_time_end"] - made["flash_time_start"])
    print(
        f"\nin the variables of xlma-python: {made.sizes['number_of_flashes']} flashes, which last "
        f"{lasted:.2f} s (median)"
    )


if __name__ == "__main__":
    main()
