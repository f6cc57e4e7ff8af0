"""The site, made by scripts/docs.sh. Its source folder is the repository, so that a link from page to page, or to a
file of the code, is the same on the site and in the repository."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs/_site"))

import manual_page  # noqa: E402

project = "epsflow"
author = "The epsflow authors"
copyright = "the epsflow authors"  # noqa: A001 - as Sphinx calls it
release = version = re.search(r"project\(epsflow VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]

root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "benchmarks/README.md",
    "benchmarks/results/[a-z]*.md",
    "examples/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
]
exclude_patterns = ["build*", "docs/_site"]

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx.ext.mathjax",
    "sphinx_design",
    "sphinx_copybutton",
    "breathe",
    "cpp_headers",
    "docstrings",
    "manual_page",
]

# Pages: MyST Markdown. Those that begin as notebooks do are run.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_execution_show_tb = True
# What pages import.
imported = [str(ROOT / "examples/python"), str(ROOT / "docs/pictures"), os.environ.get("PYTHONPATH")]
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, imported))
os.environ["EPSFLOW_PROGRAM"] = str(manual_page.program())
os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
copybutton_exclude = ".linenos, .gp, .go"

toc_object_entries_show_parents = "hide"

# Python: types are in the docstrings, in words.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = False
numpydoc_show_class_members = False

# C++: what Doxygen read, see _site/cpp_headers.py.
breathe_default_project = "epsflow"
breathe_domain_by_extension = {"hpp": "cpp"}

# A link without a target is an error, except for namespaces, classes that headers only name, and other libraries.
nitpicky = True
nitpick_ignore_regex = [
    ("cpp:identifier", r"epsflow|epsflow::io|io|parts|detail"),
    ("cpp:identifier",
     r".*State|Pending(File|Variant)|KeptResults|Journal(Contents)?|CommitThread|DatasetWeights|"
     r"WindowParts|SharedMemoryPeers|AlignedFree|detail::AlignedMemory"),
    ("cpp:identifier", r"_[KMG]iB|(Trace::)?Clock::time_point|CUstream_st|MPI_Comm"),
]

html_theme = "pydata_sphinx_theme"
html_title = "epsflow"
html_extra_path = ["_site/start"]
html_static_path = ["_site/static"]
html_css_files = ["outputs.css"]
html_show_sourcelink = False
# Pages of the top level have no section beside them.
html_sidebars = {f"docs/{page}": [] for page in ("index", "install", "ten_minutes")}
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
linkcheck_timeout = 20
