"""Groups of particles of Abacus, as the page on files says it, word for word: look-alikes, made here by asdf and read by abacusutils."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import epsflow

asdf = pytest.importorskip("asdf", reason="asdf is not installed, which writes files as Abacus has them")
pytest.importorskip("abacusnbody.data.read_abacus", reason="abacusutils is not installed, which reads them")

PAGE = Path(__file__).resolve().parents[2] / "docs/howto/files.md"
BOX = 500.0
STEP = BOX / 1e6  # of packed positions
SPEED = 6000 / 2048  # km/s, of packed velocities


def pack(X, v):
    """The column rvint: of each coordinate 20 bits from -500,000 to 500,000, and below them 12 bits of velocity, 2048 at rest."""
    return (np.rint(X / STEP).astype(np.int32) << 12) | (np.rint(v / SPEED).astype(np.int32) + 2048)


def groups_of(X, b, **more):
    return epsflow.friends_of_friends(X, b=b, box=[(-BOX / 2, BOX / 2)] * 3, min_size=32, **more)


def haloes():
    """Some lie across faces of the box, whose ends are both taken."""
    random = np.random.default_rng(24)
    centres = random.uniform(-BOX / 2, BOX / 2, (12, 3))
    centres[:3] = BOX / 2 * np.eye(3)
    X = np.concatenate([centres.repeat(60, axis=0) + random.normal(0, 5, (720, 3)), random.uniform(-BOX / 2, BOX / 2, (2000, 3))])
    X = (X + BOX / 2) % BOX - BOX / 2
    X[:2] = [[BOX / 2, 0, 0], [-BOX / 2, 0, 0]]
    return X, random.uniform(-5000, 5000, X.shape)


@pytest.mark.parametrize("compression", [None, "blsc"])
def test_groups_are_those_before_packing(tmp_path, compression):
    X, v = haloes()
    expected = groups_of(X, 0.2, velocity=v)
    # No two particles are so near to the linking length that packing could decide: it moves each by less than a step.
    margin = 2 * STEP * len(X) ** (1 / 3) / BOX
    for b in (0.2 - margin, 0.2 + margin):
        np.testing.assert_array_equal(groups_of(X, b).labels, expected.labels)
    assert expected.n_groups >= 10
    assert (expected.catalog["x_upper"] > BOX / 2).any() or (expected.catalog["x_lower"] < -BOX / 2).any()

    files = []
    for k, rows in enumerate((slice(1000), slice(1000, None))):
        files.append(tmp_path / f"field_rv_A_{k:03}.asdf")
        tree = {"header": {"BoxSize": BOX}, "data": {"rvint": pack(X[rows], v[rows])}}
        asdf.AsdfFile(tree).write_to(files[-1], all_array_compression=compression)
    (block,) = re.findall(r"^```python\n(from abacusnbody.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    names = {"files": files, "np": np, "epsflow": epsflow}
    exec(compile(block, PAGE, "exec"), names)

    found = names["groups"]
    assert found.linking_length == expected.linking_length
    np.testing.assert_array_equal(found.labels, expected.labels)
    for axis in "xyz":
        np.testing.assert_allclose(found.catalog[f"{axis}_center"], expected.catalog[f"{axis}_center"], rtol=0, atol=STEP)
        np.testing.assert_allclose(found.catalog[f"v{axis}_mean"], expected.catalog[f"v{axis}_mean"], rtol=0, atol=SPEED)
