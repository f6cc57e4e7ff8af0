"""Tests which compiled module is used. Copies of the installed module stand in for the packages of CUDA."""

from __future__ import annotations

import json
import os
import shutil
from importlib.metadata import version
from pathlib import Path

import pytest

from checks import run_python

import epsflow
from epsflow import _chooser

PROGRAM = """
import json, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import epsflow
labels = epsflow.DBSCAN(eps=1.5, min_samples=2).fit_predict([[0.0], [1.0], [9.0]])
shown = [str(w.message) for w in caught if w.category is RuntimeWarning]
print(json.dumps([epsflow._core.__name__, labels.tolist(), shown]))
"""


@pytest.fixture
def install(tmp_path: Path):
    """Makes a package epsflow-cudaN of the given version in the folder of the installed epsflow."""
    own = Path(epsflow._core.__file__)

    def stand_in(cuda: int, of_version: str) -> None:
        package = tmp_path / f"epsflow_cuda{cuda}"
        package.mkdir()
        (package / "__init__.py").touch()
        shutil.copy(own, package)
        for libraries in own.parents[1].glob("epsflow*.libs"):  # libraries of a manylinux wheel
            if not (tmp_path / libraries.name).exists():
                (tmp_path / libraries.name).symlink_to(libraries)
        described = tmp_path / f"epsflow_cuda{cuda}-{of_version}.dist-info"
        described.mkdir()
        (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: epsflow-cuda{cuda}\nVersion: {of_version}\n")

    return stand_in


def imported(folder: Path) -> tuple[str, list[int], list[str]]:
    """Returns the module that a new Python process uses, its labels and its warnings."""
    path = os.pathsep.join([str(folder), *([os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else [])])
    ran = run_python("-c", PROGRAM, PYTHONPATH=path, EPSFLOW_BACKEND="auto")  # a stand-in has no GPU
    assert ran.returncode == 0, ran.stderr
    return tuple(json.loads(ran.stdout))


def test_package_with_cuda_is_found(install, tmp_path):
    install(13, version("epsflow"))
    assert imported(tmp_path) == ("epsflow_cuda13._core", [0, 0, -1], [])


def test_package_of_another_version_is_left_aside(install, tmp_path):
    install(12, "0.0.1")
    name, labels, warned = imported(tmp_path)
    assert (name, labels) == ("epsflow._core", [0, 0, -1])
    assert warned == [
        f"epsflow-cuda12 0.0.1 is not used, as epsflow is {version('epsflow')}; without it there is no GPU: "
        f"pip install epsflow-cuda12=={version('epsflow')}"
    ]


@pytest.mark.parametrize(
    ("there", "known", "chosen"),
    [
        ([], 13, None),
        ([12, 13], 13, "epsflow_cuda13"),
        ([12, 13], 14, "epsflow_cuda13"),
        ([12, 13], 12, "epsflow_cuda12"),
        ([12, 13], 0, "epsflow_cuda12"),
        ([13], 12, "epsflow_cuda13"),  # its list of backends reports that the driver is too old
    ],
)
def test_newest_that_the_driver_knows(monkeypatch, there, known, chosen):
    monkeypatch.setattr(_chooser, "_is_of_use", lambda cuda: cuda in there)
    monkeypatch.setattr(_chooser, "driver_version", lambda: known)
    assert _chooser.choose() == chosen


def test_no_driver_is_version_0(monkeypatch):
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(_chooser.ctypes, "CDLL", missing)
    assert _chooser.driver_version() == 0


def test_error_says_what_to_install():
    if "not in this build" not in {name: detail for name, _, detail in epsflow._core.backends()}["gpu"]:
        pytest.skip("this build has the GPU backend")
    words = r"^this build has no GPU backend: pip install 'epsflow\[cuda13\]', or use backend='cpu'$"
    with pytest.raises(RuntimeError, match=words):
        epsflow.Engine(backend="gpu")
