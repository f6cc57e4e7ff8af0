"""The library's messages name its own options, and the program has an equivalent for each."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ["core", "index", "gpu", "clustering", "stages", "pipeline", "io"]

COMMENT = r"//[^\n]*|/\*.*?\*/"
LITERAL = r'"(?:\\.|[^"\\\n])*"'
TOKEN = re.compile(rf'(?P<comment>{COMMENT})|R"\((?P<raw>.*?)\)"|(?P<literal>{LITERAL})|(?<!\w)\'(?:\\.|[^\'\\\n])*\'',
                   re.S)
# Matches an option of the library, or a value of one.
OPTION = re.compile(
    r"\b(?:EngineOptions|SearchOptions|RunOptions|Metric|ReadOptions|GeneratorOptions|TextLayout|RawLayout|NanPolicy|"
    r"FolderMode|BackendChoice|StrategyChoice|IndexChoice|DecideChoice|Kernel|FormatChoice|VariantMethod|MemorySpace|"
    r"Precision|Header)::[a-z_]\w*(?:\.[a-z_]\w*)*")
FLAG = re.compile(r"(?<![\w-])--[a-z]")


def literals(text):
    """Returns the string literals of a source with their lines. Adjacent ones are joined."""
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
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".hpp", ".cpp", ".cu", ".cuh"):
                for line, value in literals(path.read_text()):
                    yield f"{path.relative_to(ROOT)}:{line}", value


def known_to_the_program():
    """Returns the options, values and phrases that have an equivalent in the program."""
    known = set(re.findall(r'\{"([A-Z]\w+::[^"=]+?)(?: = [^"]*)?", "', (ROOT / "cli/options.cpp").read_text()))
    for folder in LIBRARY:
        for path in (ROOT / folder).rglob("*.?pp"):
            text = path.read_text()
            known.update(re.findall(r'\.library = "([^"]+)",\s*\.program = "', text))
            for words in re.findall(r"std::array kWords\{(.*?)\};", text, re.S):
                known.update(name.split("::", 2)[-1] if name.startswith("io::Text") else name.removeprefix("io::")
                             for name in re.findall(r"((?:\w+::)+\w+)", words))
    return known


class Words(unittest.TestCase):
    def test_every_option_that_the_library_names_has_words_of_the_program(self):
        known = known_to_the_program()
        for name in ("EngineOptions::memory", "ReadOptions::text.header", "BackendChoice::gpu", "Header::yes",
                     "FolderMode::resume"):
            self.assertIn(name, known)
        unknown = [(source, name) for source, text in library_literals() for name in OPTION.findall(text)
                   if name not in known]
        self.assertEqual(unknown, [])

    def test_the_library_names_no_option_of_the_program(self):
        self.assertEqual([(source, text) for source, text in library_literals() if FLAG.search(text)], [])

    def test_literals_are_found(self):
        source = 'a("x" // "no"\n  "y", \'"\', R"(raw --z)"); /* "no" */ f("\\"--q\\"");'
        self.assertEqual([value for _, value in literals(source)], ["xy", "raw --z", '\\"--q\\"'])


if __name__ == "__main__":
    unittest.main()
