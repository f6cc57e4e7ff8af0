"""Runs the Python code of README and docs/, also without pytest. Notebooks run when the site is built."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/install.md", "docs/howto/gpus.md", "docs/howto/python.md"]


def run(page: str) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks, f"{page} has no block of Python"
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_pages() -> None:
    for page in PAGES:
        run(page)


if __name__ == "__main__":
    test_pages()
