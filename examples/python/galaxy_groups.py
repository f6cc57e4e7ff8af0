"""Finds groups of galaxies by friends of friends, from positions on the sky and redshifts.

    python galaxy_groups.py                         on generated galaxies
    python galaxy_groups.py galaxies.fits ra dec z  on real ones

Distances follow from the redshifts by Hubble's law, in Mpc/h. A redshift also contains the galaxy's own velocity.
Therefore groups look stretched along the line of sight, as "fingers of God": compare the columns along and across.
"""

from __future__ import annotations

import sys

import numpy as np

import epsflow

LIGHT = 299792.458  # km/s
HUBBLE = 100.0  # km/s per Mpc/h, accurate up to z of about 0.1
LINKING_LENGTHS = [0.7, 1.4, 2.8, 5.6]  # Mpc/h
CHOSEN = 1.4
MIN_SIZE = 8


def positions(ra: np.ndarray, dec: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Returns positions [n, 3] in Mpc/h with the observer at the origin; ra and dec are in degrees."""
    ra, dec = np.radians(ra), np.radians(dec)
    return (LIGHT / HUBBLE * z * np.stack([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)])).T


def sky(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns ra, dec and z of positions: the inverse of positions()."""
    distance = np.linalg.norm(X, axis=-1)
    ra = np.degrees(np.arctan2(X[..., 1], X[..., 0])) % 360
    return ra, np.degrees(np.arcsin(X[..., 2] / distance)), distance * HUBBLE / LIGHT


def generate(groups: int = 25, field: int = 4000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns ra, dec and z of a patch of sky: round groups of 20 to 60 galaxies at 150 to 400 km/s, and others."""
    random = np.random.default_rng(3)

    def spread(count: int) -> np.ndarray:
        """Returns galaxies spread evenly over the patch, 0.03 < z < 0.07."""
        z = np.cbrt(random.uniform(0.03**3, 0.07**3, count))
        return positions(random.uniform(150, 190, count), np.degrees(np.arcsin(random.uniform(0, 0.5, count))), z)

    sizes = random.integers(20, 60, groups)
    members = np.repeat(spread(groups), sizes, axis=0) + random.normal(0, 0.3, (sizes.sum(), 3))
    ra, dec, z = sky(np.concatenate([members, spread(field)]))
    speeds = np.repeat(random.uniform(150, 400, groups), sizes)
    z[: len(members)] += random.normal(0, speeds) / LIGHT
    return ra, dec, z


def main() -> None:
    if len(sys.argv) not in (1, 5):
        sys.exit("usage: galaxy_groups.py [FILE RA DEC Z]")
    ra, dec, z = np.asarray(epsflow.read_points(sys.argv[1], sys.argv[2:])).T if sys.argv[1:] else generate()
    X = positions(ra, dec, z)

    print(f"{len(X)} galaxies\n\nlinking length  groups  in groups  largest")
    for length in LINKING_LENGTHS:
        groups = epsflow.friends_of_friends(X, length, min_size=MIN_SIZE)
        largest = np.count_nonzero(groups.labels == 0)  # the largest group is number 0
        print(f"{length:14.1f}  {groups.n_groups:6}  {np.mean(groups.labels >= 0):9.0%}  {largest:7}")

    groups = epsflow.friends_of_friends(X, CHOSEN, min_size=MIN_SIZE)
    found = groups.catalog
    print(f"\nat {CHOSEN} Mpc/h: {groups.n_groups} groups of at least {MIN_SIZE} galaxies, the largest of them:")
    print("galaxies     ra    dec       z   km/s  along  across")
    centers = np.stack([np.asarray(found[f"{axis}_center"]) for axis in "xyz"], axis=1)
    for group, (ra_center, dec_center, z_center) in enumerate(zip(*sky(centers[:10]))):
        velocity = LIGHT * np.std(z[groups.labels == group]) / (1 + z_center)
        along = np.std(np.linalg.norm(X[groups.labels == group], axis=1))
        # The radius is the root mean square in three dimensions: one along the line of sight, two across.
        across = np.sqrt((found["radius"][group] ** 2 - along**2) / 2)
        size = found["size"][group]
        print(
            f"{size:8} {ra_center:6.1f} {dec_center:6.1f}  {z_center:.4f}  {velocity:5.0f}  {along:5.2f}  {across:6.2f}"
        )


if __name__ == "__main__":
    main()
