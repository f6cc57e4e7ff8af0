import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from programs import succeeded

import epsflow

# The launcher is found even if PATH contains only Python.
PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/bin", "/bin"])
HAVE_MPI4PY = importlib.util.find_spec("mpi4py") is not None
MPIRUN = shutil.which("mpirun.openmpi", path=PATH) or shutil.which("mpirun.mpich", path=PATH)
needs_ranks = pytest.mark.skipif(
    MPIRUN is None or not HAVE_MPI4PY, reason="needs mpi4py, and mpirun of Open MPI or MPICH"
)


@needs_ranks
@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("what", ["labels", "lineage", "errors"])
def test_as_one_process(what, ranks, tmp_path):
    over_ranks(ranks, Path(__file__).with_name("ranks_program.py"), what, cwd=tmp_path)


@needs_ranks
def test_example(tmp_path):
    example = Path(__file__).resolve().parents[2] / "examples/python/sweep_ranks.py"
    text = over_ranks(2, example, cwd=tmp_path)
    assert "eps 0.4, min_samples 5: 30 clusters of all" in text
    assert len(re.findall(r"process [01] of 2: 25000 points", text)) == 2


def over_ranks(ranks, program, *arguments, cwd):
    """Returns the output of the processes."""
    # These settings of Open MPI allow root in containers, and more processes than cores.
    settings = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"
    }
    command = [MPIRUN, "-n", str(ranks), sys.executable, str(program), *arguments]
    env = {**os.environ, **settings, "PATH": PATH}
    return succeeded(subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, timeout=120)).stdout


def test_comm_must_be_one():
    # This must not initialise MPI, which may be missing.
    words = r"comm is 'world': give a communicator of mpi4py \(pip install mpi4py\), as MPI.COMM_WORLD"
    with pytest.raises(TypeError, match=words):
        epsflow.sweep(np.zeros((3, 2)), 1, 2, comm="world")
    assert "mpi4py.MPI" not in sys.modules
