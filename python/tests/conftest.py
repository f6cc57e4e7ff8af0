"""Tests that a module lists in REFUSED must fail: an entry that has become untrue fails as well."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        refused = getattr(getattr(item, "module", None), "REFUSED", {})
        reason = refused.get(item.name) or refused.get(getattr(item, "originalname", None))
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
