"""The README's quick start, word for word. Also a program of its own, for where there is no pytest."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def test_quick_start() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks, "README.md has no block of Python"
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)


if __name__ == "__main__":
    test_quick_start()
