"""Arrays on a GPU of the libraries CuPy, PyTorch and JAX."""

import os

import numpy as np
import pytest

import epsflow

LIBRARIES = ("cupy", "torch", "jax")
needs_gpu = pytest.mark.skipif("gpu" not in epsflow.backends(), reason="no GPU can be used")


def on_gpu(library, X):
    """Returns X as an array of a library, on the GPU. A test skips without the library."""
    if library == "jax":  # With preallocation, JAX takes most of the memory.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    module = pytest.importorskip(library)
    if library == "torch":
        return module.tensor(X, device="cuda")
    if library == "jax":
        module.config.update("jax_enable_x64", True)  # otherwise probabilities become float32
        return module.device_put(X)
    return module.asarray(X)


def fetched(array):
    """Returns an array of a library on the host."""
    return array.get() if hasattr(array, "get") else np.asarray(array.cpu() if hasattr(array, "cpu") else array)
