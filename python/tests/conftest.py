"""Tests that a module lists in REFUSED must fail: an entry that has become untrue fails as well."""

from __future__ import annotations

import os

import pytest

# Tests have few points, and where there is a GPU they are to run there.
os.environ.setdefault("EPSFLOW_BACKEND", "gpu")


def pytest_collection_modifyitems(items):
    for item in items:
        refused = getattr(getattr(item, "module", None), "REFUSED", {})
        reason = refused.get(item.name) or refused.get(getattr(item, "originalname", None))
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
