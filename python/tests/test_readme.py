"""The Python of README and of pages of docs/, word for word; pages that are notebooks run when the site is built. Also a program of
its own, for where there is no pytest."""

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
