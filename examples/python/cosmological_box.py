"""Finds haloes in a periodic box by friends of friends, and writes a mass function and a catalogue for swiftsimio.

    python cosmological_box.py                     on a generated box
    python cosmological_box.py snapshot.hdf5 …     on the dark matter of a snapshot of Gadget-4, Arepo or SWIFT: all its
                                                   files

The catalogue of a snapshot is written to the snapshot's folder.
"""

from __future__ import annotations

import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import epsflow

B = 0.2  # of the mean separation; the usual choice
MIN_SIZE = 32  # particles
BOX = 100.0  # Mpc, of the generated box
MATTER = 4.0  # 10^10 solar masses for each Mpc^3: the mean density


def generate(haloes: int = 150, others: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Returns positions and velocities: Gaussian haloes of equal density with power-law sizes, in uniform matter."""
    random = np.random.default_rng(2)
    sizes = np.minimum(60 * random.uniform(size=haloes) ** -1.0, 4000).astype(int)
    radii = 0.25 * np.cbrt(sizes / 60)  # Mpc
    of = np.repeat(np.arange(haloes), sizes)
    X = random.uniform(0, BOX, (haloes, 3))[of] + random.normal(0, radii[of], (3, len(of))).T
    # Each halo has a velocity. The velocities of its particles differ, and more so in heavy haloes.
    v = random.normal(0, 300, (haloes, 3))[of] + random.normal(0, 200 * radii[of], (3, len(of))).T
    X = np.concatenate([X, random.uniform(0, BOX, (others, 3))])
    return X % BOX, np.concatenate([v, random.normal(0, 100, (others, 3))])


def read(files: list[str]) -> tuple[np.ndarray, ...]:
    """Returns positions, velocities and masses of the dark matter, and the sides of the box from the header."""
    import h5py

    with h5py.File(files[0]) as file:
        header = dict(file["Header"].attrs)
        each_has_one = "PartType1/Masses" in file
    X = epsflow.read_points(files, table="PartType1/Coordinates")
    v = epsflow.read_points(files, table="PartType1/Velocities")
    masses = (
        epsflow.read_points(files, table="PartType1/Masses")[:, 0] if each_has_one
        else np.full(len(X), header["MassTable"][1])
    )
    return X, v, masses, np.broadcast_to(header["BoxSize"], 3)


def mass_function(mass: np.ndarray, volume: float) -> None:
    """Prints counts by mass, and the number of haloes above each mass per volume."""
    edges = np.geomspace(mass.min(), mass.max() * 1.001, 7)
    print("\n    mass from         to  haloes  n(>mass)")
    for low, high in zip(edges, edges[1:]):
        count = np.count_nonzero((mass >= low) & (mass < high))
        print(f"{low:13.4g} {high:10.4g}  {count:6}  {np.count_nonzero(mass >= low) / volume:.2e}")


def main() -> None:
    files = sys.argv[1:]
    if not all(Path(file).is_file() for file in files):
        sys.exit("usage: cosmological_box.py [SNAPSHOT.hdf5 …]")
    if files:
        X, v, mass, box = read(files)
    else:
        X, v = generate()
        mass, box = np.full(len(X), MATTER * BOX**3 / len(X)), np.full(3, BOX)

    groups = epsflow.friends_of_friends(X, b=B, box=box, min_size=MIN_SIZE, weights=mass, velocity=v)
    found = groups.catalog
    print(f"{len(X)} particles, linking length {groups.linking_length:.4g}: ", end="")
    print(f"{groups.n_groups} haloes with {np.mean(groups.labels >= 0):.0%} of the matter")
    if groups.n_groups == 0:
        return
    mass_function(np.asarray(found["weight_total"]), np.prod(box))

    # A halo across a face is in one piece: one of its bounds lies outside the box.
    across = [
        np.flatnonzero((found[f"{axis}_lower"] < 0) | (found[f"{axis}_upper"] > side)) for axis, side in zip("xyz", box)
    ]
    print(f"\n{len(np.unique(np.concatenate(across)))} haloes lie across a face of the box. The largest haloes:")
    print("particles       mass       x       y       z      vx      vy      vz  radius")
    for i in range(min(8, groups.n_groups)):
        centre = "".join(f"{found[f'{axis}_center'][i]:8.2f}" for axis in "xyz")
        velocity = "".join(f"{found[f'v{axis}_mean'][i]:8.1f}" for axis in "xyz")
        print(f"{found['size'][i]:9} {found['weight_total'][i]:10.4g}{centre}{velocity}{found['radius'][i]:8.2f}")

    if find_spec("h5py") is None:
        print("\nh5py is not there: no catalogue is written")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(files[0] if files else f"{folder}/box.hdf5").with_suffix(".haloes.hdf5")
        groups.to_swift(path)  # in Mpc and 10^10 solar masses; length and mass set other units
        print(f"\n{path.name}: {path.stat().st_size} bytes as SWIFT's catalogue")


if __name__ == "__main__":
    main()
