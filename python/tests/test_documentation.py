"""Checks that the reference pages describe every public name and no other names."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[2] / "docs/reference/python"


def described(module: str) -> list[str]:
    """Returns the names that the pages describe for a module, in order."""
    names, current = [], ""
    for page in sorted(PAGES.glob("*.md")):
        for directive, name in re.findall(r"^\.\. (\w+):: ([\w.]+)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            if directive == "currentmodule":
                current = name
            elif directive in ("autofunction", "autoclass") and current == module:
                names.append(name)
    return names


MODULES = ["epsflow", "epsflow.accel", "epsflow.plot"]


@pytest.mark.parametrize("module", MODULES)
def test_every_name_is_on_one_page(module):
    modules = [name.partition(".")[2] for name in MODULES]  # which have pages of their own
    there = [name for name in importlib.import_module(module).__all__ if name not in modules]
    assert sorted(described(module)) == sorted(there)


def test_the_page_of_pictures_draws_each():
    page = (PAGES.parents[1] / "pictures.md").read_text(encoding="utf-8")
    cells = "".join(re.findall(r"(?ms)^```\{code-cell\} ipython3\n(.*?)^```$", page))
    drawn = set(re.findall(r"epsflow\.plot\.(\w+)\(", cells))
    assert drawn == set(importlib.import_module("epsflow.plot").__all__)


@pytest.mark.parametrize("module", MODULES)
def test_docstrings_are_filled(module):
    of = importlib.import_module(module)
    for name in of.__all__:
        described = getattr(of, name)
        methods = vars(described).values() if inspect.isclass(described) else ()
        for text in [described.__doc__, *(getattr(method, "__doc__", None) for method in methods)]:
            assert not re.search(r"^ *\{\w+\}", text or "", re.MULTILINE), name


def test_a_text_is_written_for_every_parameter():
    of = importlib.import_module("epsflow")
    names = "sweep plan lineage explore suggest neighbors k_distance selectivity catalog sweep_many"
    for function in (getattr(of, name) for name in names.split()):
        found = re.findall(r"^ {4}(\w+(?:, \w+)*)(?: : .*)?$", function.__doc__.partition("Returns\n")[0], re.MULTILINE)
        described = {name for listed in found for name in listed.split(", ")}
        assert described >= set(inspect.signature(function).parameters), function.__name__
