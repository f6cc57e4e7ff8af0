"""The page of the program: the manual page that it prints (`epsflow man`, cli/manual_page.cpp) as Markdown. Both are
made of the options' table. It replaces the page's line `% manual page`."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

PLACE = "% manual page\n"
ROOT = Path(__file__).resolve().parents[2]
BUILDS = ("build/release", "build/program")


def program() -> Path:
    named = os.environ.get("EPSFLOW_PROGRAM")
    for path in [Path(named)] if named else [ROOT / build / "bin/epsflow" for build in BUILDS]:
        if os.access(path, os.X_OK):
            return path
    raise ExtensionError(
        "no program for docs/reference/program.md: build it (scripts/demo.sh), or name it in EPSFLOW_PROGRAM"
    )


def plain(roff: str) -> str:
    """Text without roff's escapes and fonts."""
    for escape, stands_for in (
        (r"\fB", ""), (r"\fI", ""), (r"\fR", ""), (r"\-", "-"), (r"\(aq", "'"), (r"\&", ""), (r"\e", "\\")
    ):
        roff = roff.replace(escape, stands_for)
    return roff.replace("...", "…")


def prose(roff: str) -> str:
    """Markdown of a filled line: nothing in it is markup but what names an option, which is shown as code."""
    text = re.sub(r"([\\`*_<>\[\]|$#{}])", r"\\\1", plain(roff))
    return re.sub(r"(?<![\w`-])(--[a-z][a-z0-9-]*)", r"`\1`", text)


def words(lines: Iterator[str]) -> str:
    """The lines up to .fi, as they are."""
    shown = []
    for line in lines:
        if line == ".fi":
            break
        shown.append(plain(line))
    return "```text\n" + "\n".join(shown) + "\n```\n"


def option(names: str, meaning: str) -> str:
    return f"````{{option}} {plain(names)}\n{prose(meaning)}\n````\n"


def markdown(roff: str) -> str:
    """Of the macros that cli/manual_page.cpp writes, and no others."""
    out: list[str] = []
    lines = iter(roff.splitlines())
    section = ""
    for line in lines:
        macro, _, rest = line.partition(" ")
        rest = rest.strip('"')
        if macro == ".SH":
            section = rest
            if section not in ("NAME", "SYNOPSIS", "DESCRIPTION"):
                out.append(f"\n## {plain(section).capitalize()}\n")
        elif section in ("", "NAME", "SYNOPSIS"):
            continue  # the page has these in words of its own
        elif macro == ".SS" and section == "COMMANDS":
            command = plain(rest).split()[1]
            out.append(f"\n### {command}\n\n```text\n{plain(rest)}\n```\n\n```{{program}} epsflow {command}\n```\n")
        elif macro == ".SS":
            out.append(f"\n### {prose(rest)}\n\n```{{program}} epsflow\n```\n")
        elif macro == ".TP" and section == "EXIT STATUS":
            code = next(lines).split(" ", 1)[1]
            out.append(f"- `{code}`: {prose(next(lines))}")
        elif macro == ".TP":
            out.append("\n" + option(next(lines), next(lines)))
        elif macro == ".PP":
            out.append("")
        elif macro == ".nf":
            out.append("\n" + words(lines))
        elif macro in (".RS", ".RE"):
            continue
        elif line.startswith(".") and not line.startswith(".\\"):
            raise ExtensionError(f"manual_page.py knows no macro {macro}, which `epsflow man` prints")
        else:
            out.append(prose(line))
    return "\n".join(out) + "\n"


def fill(app: Sphinx, page: str, source: list[str]) -> None:
    if PLACE in source[0]:
        made = subprocess.run([program(), "man"], capture_output=True, text=True, check=True, timeout=60).stdout
        source[0] = source[0].replace(PLACE, markdown(made))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", fill)
    return {"parallel_read_safe": True}
