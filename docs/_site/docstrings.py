"""Marks text between single backticks in a docstring: as a link if it is a name of epsflow, else as code."""

from __future__ import annotations

import re
from typing import Any

import epsflow
from sphinx.application import Sphinx


def is_ours(name: str) -> bool:
    here: Any = epsflow
    for part in name.removeprefix("epsflow.").split("."):
        if not part.isidentifier() or part.startswith("_") or not hasattr(here, part):
            return False
        here = getattr(here, part)
    return name.removeprefix("epsflow.").split(".")[0] in epsflow.__all__


def marked(match: re.Match[str]) -> str:
    name = match[1]
    return f":py:obj:`~epsflow.{name.removeprefix('epsflow.')}`" if is_ours(name) else f"``{name}``"


def mark(app: Sphinx, kind: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    for i, line in enumerate(lines):
        line = re.sub(r"(?<![`:\w])`([^`]+)`(?!`)", marked, line)
        # To docutils a word that ends in an underscore is a link. It is none here, except for the attribute described.
        attribute, rest = re.match(r"(\s*\w+ :)?(.*)", line).groups(default="")
        lines[i] = attribute + re.sub(r"(?<![`\w.])([A-Za-z]\w*_)(?![`\w])", r"``\1``", rest)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", mark, priority=100)  # before numpydoc
    return {"parallel_read_safe": True}
