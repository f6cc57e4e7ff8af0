"""Tests the steps for Abacus groups in the page on files, word for word; asdf makes files that abacusutils reads."""

import re
from pathlib import Path

import numpy as np
import pytest

import epsflow

asdf = pytest.importorskip("asdf", reason="asdf is not installed, which writes files as Abacus has them")
pytest.importorskip("abacusnbody.data.read_abacus", reason="abacusutils is not installed, which reads them")

PAGE = Path(__file__).resolve().parents[2] / "docs/howto/files.md"
BOX = 500.0
CELLS = 125  # along a side, in pack9
SPEED = 5.0  # km/s, the unit of packed velocities in pack9
HEADER = {"BoxSize": BOX, "VelZSpace_to_kms": SPEED * CELLS / 0.5}


def rvint(X, v):
    """Packs each coordinate in 20 bits from -500,000 to 500,000, followed by 12 bits of velocity (2048 at rest)."""
    return (np.rint(X / BOX * 1e6).astype(np.int32) << 12) | (np.rint(v / 6000 * 2048).astype(np.int32) + 2048)


def in_bytes(numbers):
    """Packs six 12-bit numbers, from -2048 on, in nine bytes."""
    first, second = numbers[:, 0::2] + 2048, numbers[:, 1::2] + 2048
    return (
        np.stack([first >> 4, (first & 15) | (second >> 8 << 4), second & 255], axis=2).reshape(-1, 9).astype(np.uint8)
    )


def pack9(X, v):
    """Packs positions as parts of a cell, with a header per particle. Particles at a lower face go to the last cell."""
    cell = np.floor((X / BOX + 0.5) * CELLS)
    inside = (X / BOX + 0.5) * CELLS - cell - 0.5
    wraps = (cell == 0) & (inside < 0)
    cell, inside = np.where(wraps | (cell == CELLS), CELLS - 1, cell), inside + wraps + (cell == CELLS)
    # The first byte of a header is 255, and 1000 is the velocity unit for SPEED.
    first = np.broadcast_to([2047, CELLS - 2000, 1000 - 2000], X.shape)
    headers = np.concatenate([first, cell - 2000], axis=1)
    particles = np.concatenate([np.rint(inside * 2000), np.rint(v / SPEED)], axis=1)
    return in_bytes(np.stack([headers, particles], axis=1).reshape(-1, 6).astype(int))


def groups_of(X, b, **more):
    return epsflow.friends_of_friends(X, b=b, box=[(-BOX / 2, BOX / 2)] * 3, min_size=32, **more)


def haloes():
    """Some groups lie across faces of the box; both ends are valid coordinates."""
    random = np.random.default_rng(24)
    centres = random.uniform(-BOX / 2, BOX / 2, (12, 3))
    centres[:3] = BOX / 2 * np.eye(3)
    near = centres.repeat(60, axis=0) + random.normal(0, 5, (720, 3))
    X = (np.concatenate([near, random.uniform(-BOX / 2, BOX / 2, (2000, 3))]) + BOX / 2) % BOX - BOX / 2
    X[:2] = [[BOX / 2, 0, 0], [-BOX / 2, 0, 0]]
    return X, random.uniform(-5000, 5000, X.shape)


@pytest.mark.parametrize("compression", [None, "blsc"])
@pytest.mark.parametrize(("pack", "step"), [(rvint, BOX / 1e6), (pack9, BOX / CELLS / 2000)])
def test_groups_are_those_before_packing(tmp_path, pack, step, compression):
    X, v = haloes()
    expected = groups_of(X, 0.2, velocity=v)
    # Packing moves particles by less than a step, and no pair is so near to the linking length that this matters.
    margin = 2 * step * len(X) ** (1 / 3) / BOX
    for b in (0.2 - margin, 0.2 + margin):
        np.testing.assert_array_equal(groups_of(X, b).labels, expected.labels)
    assert expected.n_groups >= 10
    wanted = expected.catalog
    for axis in "xyz":
        assert (wanted[f"{axis}_upper"] > BOX / 2).any() or (wanted[f"{axis}_lower"] < -BOX / 2).any()

    files = []
    for k, rows in enumerate((slice(1000), slice(1000, None))):
        files.append(tmp_path / f"particles_{k:03}.asdf")
        tree = {"header": HEADER, "data": {pack.__name__: pack(X[rows], v[rows])}}
        asdf.AsdfFile(tree).write_to(files[-1], all_array_compression=compression)
    (block,) = re.findall(r"(?ms)^```python\n(from abacusnbody.*?)^```$", PAGE.read_text(encoding="utf-8"))
    names = {"files": files, "np": np, "epsflow": epsflow}
    exec(compile(block, PAGE, "exec"), names)

    found = names["groups"]
    assert found.linking_length == expected.linking_length
    np.testing.assert_array_equal(found.labels, expected.labels)
    for axis in "xyz":
        for name, error in ((f"{axis}_center", step), (f"v{axis}_mean", SPEED)):
            np.testing.assert_allclose(found.catalog[name], wanted[name], rtol=0, atol=error)
