"""Runs of other programs that must succeed."""

from __future__ import annotations

import subprocess


def succeeded(run: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    assert run.returncode == 0, run.stdout + run.stderr
    return run
