#!/usr/bin/env python3
"""Words belong to whom they address: the library's messages name its own options, and the program has words for each."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ["core", "index", "gpu", "clustering", "stages", "pipeline", "io"]

COMMENT = r"//[^\n]*|/\*.*?\*/"
LITERAL = r'"(?:\\.|[^"\\\n])*"'
TOKEN = re.compile(rf'(?P<comment>{COMMENT})|R"\((?P<raw>.*?)\)"|(?P<literal>{LITERAL})|(?<!\w)\'(?:\\.|[^\'\\\n])*\'', re.S)
# An option of the library, or a value of one.
OPTION = re.compile(
    r"\b(?:Options|Metric|ReadOptions|GeneratorOptions|TextLayout|RawLayout|NanPolicy|FolderMode|BackendChoice|Kernel|FormatChoice|"
    r"VariantMethod|Precision|Header)::[a-z_]\w*(?:\.[a-z_]\w*)*")
FLAG = re.compile(r"(?<![\w-])--[a-z]")


def literals(text):
    """The string literals of a source, those that follow each other joined, each with its line."""
    joined = []
    end = None
    for m in TOKEN.finditer(text):
        value = m["raw"] if m["raw"] is not None else m["literal"][1:-1] if m["literal"] else None
        if value is None:
            continue
        if end is not None and not re.sub(COMMENT, "", text[end : m.start()], flags=re.S).strip():
            joined[-1][1] += value
        else:
            joined.append([text.count("\n", 0, m.start()) + 1, value])
        end = m.end()
    return joined


def library_literals():
    for folder in LIBRARY:
        for path in sorted((ROOT / folder).iterdir()):
            if path.suffix in (".hpp", ".cpp", ".cu", ".cuh"):
                for line, value in literals(path.read_text()):
                    yield f"{path.relative_to(ROOT)}:{line}", value


class Words(unittest.TestCase):
    def test_every_option_that_the_library_names_has_words_of_the_program(self):
        known = set(re.findall(r'Phrase\{"([^"=]+?)(?: = [^"]*)?"', (ROOT / "cli/program_words.cpp").read_text()))
        self.assertIn("Options::memory", known)
        unknown = [(place, name) for place, text in library_literals() for name in OPTION.findall(text)
                   if name not in known]
        self.assertEqual(unknown, [])

    def test_the_library_names_no_option_of_the_program(self):
        self.assertEqual([(place, text) for place, text in library_literals() if FLAG.search(text)], [])

    def test_literals_are_found(self):
        source = 'a("x" // "no"\n  "y", \'"\', R"(raw --z)"); /* "no" */ f("\\"--q\\"");'
        self.assertEqual([value for _, value in literals(source)], ["xy", "raw --z", '\\"--q\\"'])


if __name__ == "__main__":
    unittest.main()
