"""The examples in Python; each test skips where its library is absent."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import epsflow

SWEEP_MANY = Path(__file__).resolve().parents[2] / "examples/python/sweep_many.py"


@pytest.fixture
def example(monkeypatch):
    spec = importlib.util.spec_from_file_location("sweep_many", SWEEP_MANY)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "sweep_many", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "CORES", 3)
    return module


@pytest.mark.parametrize("library", ["joblib", "dask"])
def test_many_data_sets(tmp_path, library):
    pytest.importorskip(library)
    run = [sys.executable, SWEEP_MANY, library]
    generated = subprocess.run(run, capture_output=True, text=True, timeout=120, check=True, cwd=tmp_path)
    assert generated.stdout.count("most clusters") == 6 and list(tmp_path.iterdir()) == []
    for i in range(3):
        np.save(tmp_path / f"{i}.npy", np.random.default_rng(i).uniform(0, 3, size=(500, 2)))
    files = sorted(tmp_path.glob("*.npy"))
    again = subprocess.run([*run, *files], capture_output=True, text=True, timeout=120, check=True)
    for line, file in zip(again.stdout.splitlines(), files):
        assert line.startswith(f"{file.name}: most clusters, ")
        expected = epsflow.sweep(np.load(file), 0.1, 5)[0].labels
        np.testing.assert_array_equal(epsflow.load(file.with_suffix(".results")).labels(0.1, 5), expected)


def test_several_engines_at_the_same_time(example, tmp_path):
    pytest.importorskip("joblib")
    assert len(example.make_engines()) == 3 or "gpu" in epsflow.backends()
    lines = example.with_joblib(example.generate(tmp_path))
    assert [line.split(":")[0] for line in lines] == [f"points_{i}.npy" for i in range(6)]


def test_an_engine_for_each_gpu(example, monkeypatch):
    made = []
    monkeypatch.setattr(epsflow, "backends", lambda: {"cpu": "", "gpu": "0: A, 8 MiB; 2: B, 8 MiB"})
    monkeypatch.setattr(epsflow, "Engine", lambda backend, gpu, memory: made.append((backend, gpu)))
    example.make_engines()
    assert made == [("gpu", 0), ("gpu", 2)]
