"""What Breathe shows of C++: the installed headers, PUBLIC_HEADERS of the folders'
CMakeLists.txt, as Doxygen reads them."""

from __future__ import annotations

import re
import subprocess
import xml.etree.ElementTree as tree
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
NOT_INSTALLED = ("tests", "benchmarks", "examples", "build")


def installed_headers() -> list[Path]:
    """Sorted, as paths from the repository."""
    found: set[Path] = set()
    for lists in ROOT.glob("[!.]*/CMakeLists.txt"):
        if lists.parent.name in NOT_INSTALLED:
            continue
        text = re.sub(r"#.*", "", lists.read_text(encoding="utf-8"))
        for at, names in re.findall(r"epsflow_module\(\s*(\S+)[^)]*?\bPUBLIC_HEADERS((?:\s+[a-z][^\s)]*)+)", text):
            found.update(Path(at) / name for name in names.split())
    return sorted(found)


def read_headers(app: Sphinx) -> None:
    out = Path(app.outdir).parent / "doxygen"
    out.mkdir(parents=True, exist_ok=True)
    headers = " ".join(f'"{ROOT / header}"' for header in installed_headers())
    settings = f"""
PROJECT_NAME = epsflow
INPUT = {headers}
STRIP_FROM_PATH = "{ROOT}"
OUTPUT_DIRECTORY = "{out}"
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
HIDE_UNDOC_RELATIONS = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = EPSFLOW_HOST_DEVICE=
EXCLUDE_SYMBOLS = epsflow::detail epsflow::detail::* epsflow::kWordsOf
MAX_INITIALIZER_LINES = 0
QUIET = YES
WARNINGS = NO
"""
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True, timeout=120)
    arrange(out / "xml")
    app.config.breathe_projects = {"epsflow": str(out / "xml")}


def arrange(xml: Path) -> None:
    """Breathe shows a file as the namespaces in it, each with all it has, and finds files by names without folders. So
    the declarations of a header are moved from the namespaces to the header, and headers are named by their paths."""
    members: dict[str, list[tree.Element]] = {}
    for path in sorted(xml.glob("namespace*.xml")):
        namespace = tree.parse(path).getroot().find("compounddef")
        for member in namespace.iter("memberdef"):
            if "->" in member.findtext("argsstring", ""):
                continue  # a deduction guide, which Sphinx takes for a function
            member.find("name").text = f"{namespace.find('compoundname').text}::{member.find('name').text}"
            members.setdefault(member.find("location").get("file"), []).append(member)
    index = tree.parse(xml / "index.xml")
    for compound in index.getroot().findall("compound[@kind='file']"):
        path = xml / f"{compound.get('refid')}.xml"
        header = tree.parse(path)
        definition = header.getroot().find("compounddef")
        for namespace in definition.findall("innernamespace"):
            definition.remove(namespace)
        compound.find("name").text = definition.find("compoundname").text = file = (
            definition.find("location").get("file")
        )
        section = tree.Element("sectiondef", kind="user-defined")
        tree.SubElement(section, "header").text = "Functions, enumerations and constants"
        section.extend(sorted(members.get(file, []), key=lambda member: int(member.find("location").get("line"))))
        definition.insert(list(definition).index(definition.find("briefdescription")), section)
        header.write(path, encoding="utf-8")
    index.write(xml / "index.xml", encoding="utf-8")
    # Classes, and comments that name a header, would link to a page of it, and there is none.
    for path in xml.glob("*.xml"):
        text = re.sub(r" *<includes [^\n]*\n", "", path.read_text(encoding="utf-8"))
        path.write_text(re.sub(r'<ref refid="[^"]*_8hpp"[^>]*>([^<]*)</ref>', r"\1", text), encoding="utf-8")


def fill(app: Sphinx, page: str, source: list[str]) -> None:
    """A section for each header of a folder, in place of the page's line `% headers of FOLDER`."""

    def sections(line: re.Match[str]) -> str:
        return "\n".join(
            f"## epsflow/{header}\n\n```{{doxygenfile}} {header}\n```\n"
            for header in installed_headers()
            if header.parts[0] == line[1]
        )

    source[0] = re.sub(r"^% headers of (\w+)\n", sections, source[0], flags=re.MULTILINE)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", read_headers, priority=1)
    app.connect("source-read", fill)
    return {"parallel_read_safe": True}
