"""Runs the commands of README and docs/ as they are written. Those of a page run in sequence in an empty folder."""
import os
import re
import shlex
import unittest
from pathlib import Path

from support import ProgramTest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/choosing.md", "docs/ten_minutes.md", "docs/howto/memory.md", "docs/howto/parameters.md",
         "docs/howto/program.md"]


def commands_of(page):
    """Returns the commands in blocks without a language, with a prompt or alone. Other lines are output."""
    blocks = re.findall(r"^```\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines()
            if re.match(r"(\$ )?epsflow [a-z]", line)]


class Pages(ProgramTest):
    def test_every_command_works_after_those_before_it(self):
        for page in PAGES:
            with self.subTest(page=page):
                self.run_all(commands_of(page), self.folder / Path(page).stem)

    def run_all(self, commands, folder):
        folder.mkdir()
        self.assertGreater(len(commands), 1)
        for command in commands:
            with self.subTest(command):
                self.succeeds(*shlex.split(command)[1:], cwd=folder, timeout=300)
        made = set(os.listdir(folder))
        for command in commands:
            words = shlex.split(command)
            if "--out" in words:
                self.assertIn(words[words.index("--out") + 1], made)


if __name__ == "__main__":
    unittest.main()
