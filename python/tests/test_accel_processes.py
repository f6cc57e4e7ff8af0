"""Programs and processes under epsflow.accel."""

from __future__ import annotations

import multiprocessing
import os
import sysconfig
import textwrap
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn.cluster import DBSCAN

import epsflow
from accelerated import DEVICES, blobs
from checks import run_python
from epsflow import accel

run_accelerated = partial(run_python, "-m", "epsflow.accel")
starts_processes = pytest.mark.skipif(
    not os.path.exists(os.path.join(sysconfig.get_path("platlib"), "epsflow_accel.pth")),
    reason="epsflow is not installed, so that processes do not find it when they start",
)


PROGRAM = """
    import sys
    import numpy as np
    from sklearn.cluster import DBSCAN  # after epsflow.accel is enabled
    X = np.random.default_rng(0).normal(size=(200, 2))
    print(sys.argv[1:], __name__, DBSCAN(eps=0.3).fit(X).labels_.max())
"""


def test_a_program_and_a_module_are_run(tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    plain = run_python(tmp_path / "program.py", "a", "--b")
    script = run_accelerated("--report", tmp_path / "program.py", "a", "--b")
    module = run_accelerated("--min-rows", "500", "--report", "-m", "program", "a", "--b", cwd=tmp_path)
    assert plain.returncode == 0 and script.stdout == plain.stdout == module.stdout
    assert "sklearn.cluster.DBSCAN.fit" in script.stderr and any(f" {device} " in script.stderr for device in DEVICES)
    assert "fewer than 500 rows" in module.stderr


def test_a_program_is_the_main_module(tmp_path):
    (tmp_path / "sibling.py").write_text("name = 'sibling'")
    (tmp_path / "program.py").write_text(textwrap.dedent("""
        import atexit, os, pickle, sys
        import sibling

        class Kept:
            pass

        atexit.register(lambda: print(type(pickle.loads(pickle.dumps(Kept()))).__name__))
        print(sibling.name, __name__, os.path.basename(__file__), os.path.isabs(__file__), sorted(vars())[-4:])
    """))
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "program.py").symlink_to(tmp_path / "program.py")
    plain = run_python(tmp_path / "links" / "program.py")
    found = run_accelerated(tmp_path / "links" / "program.py")
    assert plain.returncode == 0 and found.stdout == plain.stdout, found.stderr


def test_the_exit_of_a_program_is_kept(tmp_path):
    (tmp_path / "program.py").write_text("import sys; sys.exit(7)")
    assert run_accelerated(tmp_path / "program.py").returncode == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give the program"), (["-m"], "give the program"), (["--wrong", "x.py"], "unknown option --wrong"),
        (["nowhere.py"], "no file 'nowhere.py'"), (["--min-rows", "few", "x.py"], "'few'"),
    ],
)
def test_wrong_arguments(arguments, message):
    done = run_accelerated(*arguments)
    assert done.returncode == 1 and message in done.stderr
    assert "Traceback" not in done.stderr


def test_help():
    done = run_accelerated("--help")
    assert done.returncode == 0 and "--min-rows N" in done.stdout


def fate_of_fit(seed: int) -> str:
    DBSCAN(eps=0.3).fit(blobs(seed))
    calls = accel.report()
    return "not enabled" if not calls else "served" if calls[-1].device in DEVICES else calls[-1].reason


@pytest.mark.skipif("gpu" in epsflow.backends(), reason="a GPU does not follow a fork")
def test_forked_processes_are_accelerated():
    with accel.enable(min_rows=0), ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        assert list(pool.map(fate_of_fit, range(4))) == ["served"] * 4


@starts_processes
def test_started_processes_are_accelerated():
    with accel.enable(min_rows=0), ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(fate_of_fit, range(4))) == ["served"] * 4
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(fate_of_fit, range(1))) == ["not enabled"]


@starts_processes
def test_workers_of_joblib_are_accelerated():
    joblib = pytest.importorskip("joblib")
    with accel.enable(min_rows=0):
        found = joblib.Parallel(n_jobs=2)(joblib.delayed(fate_of_fit)(seed) for seed in range(4))
    joblib.externals.loky.get_reusable_executor().shutdown()
    assert found == ["served"] * 4


@starts_processes
@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("import sklearn.cluster, sys; print('epsflow' in sys.modules)", ""),  # a process may turn it off
        ("import sklearn.cluster, sys; print('epsflow' in sys.modules)", "0"),
        ("import sys; print('numpy' in sys.modules)", "1"),  # a process without clustering starts as fast
    ],
)
def test_modules_that_a_process_does_not_import(code, value):
    done = run_python("-c", code, EPSFLOW_ACCEL=value)
    assert done.stdout.strip() == "False" and not done.stderr


def test_the_tests_of_scikit_learn_pass():
    folder = os.path.join(os.path.dirname(sklearn.__file__), "cluster", "tests")
    files = [os.path.join(folder, name) for name in ("test_dbscan.py", "test_hdbscan.py")]
    if not all(map(os.path.exists, files)):
        pytest.skip("scikit-learn is installed without its tests")
    packages = os.path.dirname(os.path.dirname(sklearn.__file__))  # pytest finds the fixtures of scikit-learn here
    pytest_of_both = ("-m", "pytest", "-q", "-p", "no:cacheprovider", *files)
    plain = run_python(*pytest_of_both, cwd=packages)
    done = run_accelerated("--min-rows", "0", "--report", *pytest_of_both, cwd=packages)
    assert done.returncode == plain.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1].split()[0] == plain.stdout.splitlines()[-1].split()[0]
    assert sum(done.stderr.count(f" {device} ") for device in DEVICES) > 50
