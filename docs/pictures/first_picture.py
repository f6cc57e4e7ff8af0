"""The picture of the README and of the site's first page.

As a program it writes first.png beside itself, for the README.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import epsflow


@cache
def points() -> np.ndarray:
    """[12000, 2]: seven clumps of different sizes, a ring, and a tenth of noise."""
    random = np.random.default_rng(11)
    clumps = [
        random.normal(centre, width, (count, 2))
        for centre, width, count in (
            ((1.5, 1.5), 0.28, 1500), ((3.1, 1.4), 0.22, 1000), ((2.2, 3.2), 0.3, 1500), ((4.9, 3.6), 0.18, 900),
            ((5.6, 1.2), 0.35, 1800), ((0.9, 4.7), 0.25, 1100), ((7.6, 4.9), 0.22, 900),
        )
    ]  # fmt: skip
    angle = random.uniform(0, 2 * np.pi, 2100)
    ring = 1.1 * np.stack([np.cos(angle), np.sin(angle)], axis=1) + [4.9, 3.6] + random.normal(0, 0.07, (2100, 2))
    return np.concatenate([*clumps, ring, random.uniform((0, 0), (8.6, 6), (1200, 2))])


@cache
def explored() -> epsflow.Exploration:
    return epsflow.explore(points())


def draw() -> plt.Figure:
    figure, (grid, plane) = plt.subplots(1, 2, figsize=(11, 3.8), width_ratios=(1.3, 1), layout="constrained")
    epsflow.plot.heatmap(explored(), ax=grid)
    epsflow.plot.clusters(points(), explored().recommended.labels, ax=plane)
    return figure


if __name__ == "__main__":
    draw().savefig(Path(__file__).with_name("first.png"), dpi=100)
