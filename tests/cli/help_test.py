"""Help, manual page and shell completion come from one table, so they name the same options."""
import re
import shutil
import subprocess
import unittest

from support import ProgramTest

COMMANDS = ["sweep", "hdbscan", "report", "cluster", "neighbors", "plan", "k-distance", "explore", "suggest", "predict",
            "compare", "validity", "fof", "tracks", "watch", "generate", "info", "help", "man", "completion"]


def options(text):
    return set(re.findall(r"--[a-z][a-z0-9-]*", text))


class Help(ProgramTest):
    def help(self, command):
        return self.succeeds(command, "--help").stdout

    def test_help_of_every_command(self):
        overview = self.succeeds("--help").stdout
        for command in COMMANDS:
            text = self.help(command)
            self.assertTrue(text.startswith(f"usage: epsflow {command}"), text)
            self.assertIn("\n  " + command, overview)
            self.assertLessEqual(max(map(len, text.splitlines())), 102, command)
            self.assertEqual(self.succeeds(command, "-h").stdout, text)
        for command in COMMANDS[:7]:
            self.assertEqual(self.succeeds("help", command).stdout, self.help(command))
        self.assertEqual(self.succeeds("help").stdout, overview)
        self.fails(2, ["did you mean sweep?"], "help", "swep")

    def test_every_exit_code_is_documented(self):
        text = self.succeeds("--help").stdout
        for code in (0, 1, 2, 3, 4, 130, 141):
            self.assertRegex(text, rf"(?m)^ +{code} \w+")
        self.assertIn("130 interrupted", text)

    def test_the_first_try_works(self):
        lines = [line.split() for line in self.succeeds("--help").stdout.splitlines() if line.startswith("  epsflow ")]
        self.assertGreaterEqual(len(lines), 2)
        for words in lines:
            self.succeeds(*words[1:], cwd=self.folder)

    def test_the_manual_names_every_option_and_has_no_warnings(self):
        page = self.succeeds("man").stdout
        plain = page.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "")
        for command in COMMANDS:
            self.assertIn(f".SS epsflow {command}", plain)
            self.assertLessEqual(options(self.help(command)), options(plain))
        groff = shutil.which("groff")
        if groff is None:
            self.skipTest("no groff to render it with")
        p = subprocess.run([groff, "-man", "-ww", "-Tutf8"], input=page, capture_output=True, text=True, timeout=60)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertIn("epsflow - DBSCAN over a whole grid of parameters", p.stdout)

    def completions(self, *words):
        """Returns the completions that bash offers for the last word."""
        script = self.succeeds("completion", "bash").stdout
        driver = script + ('\nCOMP_WORDS=("$@")\nCOMP_CWORD=$(($# - 1))\ncompopt() { :; }\n'
                           '_epsflow\nprintf "%s\\n" "${COMPREPLY[@]}"\n')
        p = subprocess.run(["bash", "-c", driver, "bash", "epsflow", *words], capture_output=True, text=True,
                           cwd=self.folder, timeout=60)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        return p.stdout.split()

    def test_bash_completes_commands_options_words_and_files(self):
        self.assertEqual(self.completions("sw"), ["sweep"])
        self.assertEqual(set(self.completions("")), set(COMMANDS) | {"--help", "--version"})
        self.assertEqual(self.completions("sweep", "--min"), ["--minpts", "--min-samples"])
        self.assertEqual(self.completions("cluster", "--backend", ""), ["auto", "cpu", "gpu"])
        self.assertEqual(self.completions("completion", ""), ["bash", "zsh", "fish"])
        self.write("points.csv", "x\n1\n")
        (self.folder / "part").mkdir()
        self.assertEqual(self.completions("cluster", "poi"), ["points.csv"])
        self.assertEqual(self.completions("cluster", "--out", "poi"), ["points.csv"])
        self.assertEqual(self.completions("sweep", "x.csv", "--out", "p"), ["part"])
        for command in COMMANDS:
            self.assertLessEqual(set(self.completions(command, "--")), options(self.help(command)))
            self.assertIn("--help", self.completions(command, "--h"))

    def test_other_shells_get_every_option_too(self):
        zsh = self.succeeds("completion", "zsh").stdout
        fish = self.succeeds("completion", "fish").stdout
        for command in COMMANDS[:7]:
            for name in self.completions(command, "--"):
                self.assertTrue(f"'{name}[" in zsh or f"'*{name}[" in zsh, name)  # *: the option may be repeated
                self.assertIn(f"__fish_seen_subcommand_from {command}'", fish)
                self.assertIn(f" -l {name[2:]} ", fish)
        for shell, text in (("zsh", zsh), ("fish", fish)):
            if shutil.which(shell) is not None:
                p = subprocess.run([shell, "-n"], input=text, capture_output=True, text=True, timeout=60)
                self.assertEqual((p.returncode, p.stderr), (0, ""), shell)
        self.fails(2, ["no completion for 'tcsh'", "bash, zsh and fish"], "completion", "tcsh")


if __name__ == "__main__":
    unittest.main()
