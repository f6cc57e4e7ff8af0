"""The commands of README's section "Use it", as they stand, one after the other in an empty folder."""
import os
import re
import shlex
import subprocess
import unittest
from pathlib import Path

from support import BINARY, ProgramTest

README = Path(__file__).resolve().parents[2] / "README.md"


class Readme(ProgramTest):
    def test_every_command_works_after_those_before_it(self):
        section = README.read_text().split("## Use it", 1)[1].split("\n## ", 1)[0]
        commands = [line for line in re.search(r"```\n(.*?)```", section, re.S).group(1).splitlines() if line]
        self.assertGreater(len(commands), 5)
        for command in commands:
            words = shlex.split(command)
            self.assertEqual(words[0], "epsflow")
            p = subprocess.run([BINARY, *words[1:]], cwd=self.folder, capture_output=True, text=True, timeout=300)
            self.assertEqual(p.returncode, 0, (command, p.stderr))
        made = set(os.listdir(self.folder))
        for command in commands:
            words = shlex.split(command)
            if "--out" in words:
                self.assertIn(words[words.index("--out") + 1], made)


if __name__ == "__main__":
    unittest.main()
