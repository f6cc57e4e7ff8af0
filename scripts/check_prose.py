#!/usr/bin/env python3
"""Finds comments, docstrings and paragraphs of Markdown that are hard to read: patterns such as "where" in place of
"if", and lines over 120 columns.

    check_prose.py FILE…       print the findings of these files, or of all; exit 1 if there are any
    check_prose.py --self-test prove that each pattern is found

A line that is too long counts in C++ if it has a comment, in Markdown never, in every other file always: Python,
CMake, shell scripts, JavaScript, CSS, HTML, TOML and .ci/, of which nothing but Python is searched for patterns.
Without FILE, benchmarks/*.md and CODE_OF_CONDUCT.md, which is about people, are left out.
"""

import ast
import io
import pathlib
import re
import subprocess
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = 120
CPP = (".hpp", ".cpp", ".cu", ".cuh")
FILES = [*(f"*{suffix}" for suffix in CPP), "*.py", "*.md", "*.cmake", "*CMakeLists.txt", "*.sh", "*.js", "*.css",
         "*.html", "*.toml", ".ci/*", ":!benchmarks/*.md", ":!CODE_OF_CONDUCT.md"]

# Name, pattern, example, remedy.
PATTERNS = [
    ("where",
     r"(?:^|[.:;] )Where\b|\bwhere (?:there|it|they|that|this|one|no|none|nothing|nobody|asked|needed|possible|some)\b",
     "Throws where there is no file.", "write: if"),
    ("what", r"\b[Ww]hat (?:is|are|was|were|has|have|had|can|could|it|they|the|a|an|no|does|comes|lies|belongs|goes)\b",
     "Returns what is left.", "name the thing"),
    ("that of", r"\b(?:that|those|the same) of\b", "The size is that of the file.", "repeat the noun"),
    ("fragment", r"\A(?!(?:epsflow|std|float\d|int\d|uint\d|[a-z]:|n |d |k |p |q |x |y |id ))[a-z]+ (?!=|:)",
     "of the rows that are left", "begin the sentence"),
    ("word", r"\b(?:to be had|[Ww]hoever|[Ss]o many|but for|likewise)\b", "So many rows are left.", "use a plain word"),
    ("verb", r"\b(?:tells|asks|wants|knows|says|(?:is|are|was|were|be) (?:told|asked|wanted))\b",
     "The file tells its size.", "programs return, request, store, print, require"),
    ("pronoun", r"\bAs there\.|\b(?:these|those) ones\b", "eps: As there.",
     "repeat the noun"),
    ("negation",
     r"(?<!there )(?<!There )\b(?:is|are) no (?!longer\b|more\b|less\b|larger\b|smaller\b|other\b)[a-z]"
     r"|\bnone that\b|\bthat cannot be\b",
     "It is no number.", "say what is not valid"),
]
COMPILED = [(name, re.compile(pattern), remedy) for name, pattern, _, remedy in PATTERNS]
CODE = re.compile(r"`[^`]*`")
FENCE = re.compile(r"^( *)(```|~~~|:::).*?(?:^\1\2.*?$|\Z)", re.MULTILINE | re.DOTALL)
FRONT_MATTER = re.compile(r"\A---\n.*?^---$", re.MULTILINE | re.DOTALL)
LIST_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.) +")
CPP_COMMENT = re.compile(r"//[/!]?(<?) ?(.*)$")


def cpp_comments(text):
    """Yields (line, comment): each block of comment lines as one text, and each comment after code."""
    block, begin = [], 0
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.lstrip()
        if stripped.startswith("//"):
            if not block:
                begin = number
            block.append(CPP_COMMENT.match(stripped).group(2))
            continue
        if block:
            yield begin, " ".join(block), True
            block = []
        trailing = re.search(r"[;{},)] +//(/<)? ?(.*)$", line)
        if trailing and '"' not in trailing.group(2):
            yield number, trailing.group(2), False
    if block:
        yield begin, " ".join(block), True


def python_comments(text):
    """Yields (line, comment) of docstrings, paragraph by paragraph, and of comments."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        body = node.body
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            if isinstance(body[0].value.value, str):
                for paragraph in body[0].value.value.split("\n\n"):
                    yield body[0].lineno, " ".join(paragraph.split()), False
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# "), False


def markdown_paragraphs(text):
    """Yields (line, paragraph): paragraphs and list items outside of code, tables and headings."""
    for block in (FRONT_MATTER, FENCE):
        text = block.sub(lambda found: "\n" * found[0].count("\n"), text)
    paragraph, begin = [], 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        item = LIST_ITEM.match(line)
        outside = not line.strip() or line.lstrip().startswith(("|", "#", "%"))
        if paragraph and (item or outside):
            yield begin, " ".join(paragraph), False
            paragraph = []
        if outside:
            continue
        if not paragraph:
            begin = number
        paragraph.append(LIST_ITEM.sub("", line).strip() if item else line.strip())


COMMENTS = {".py": python_comments, ".md": markdown_paragraphs, **dict.fromkeys(CPP, cpp_comments)}


def findings(path, text):
    """Yields (line, name, remedy) of each finding."""
    comments = COMMENTS[path.suffix](text) if path.suffix in COMMENTS else ()
    for line, comment, whole in comments:
        prose = CODE.sub("`x`", comment)
        for name, pattern, remedy in COMPILED:
            if name == "fragment" and (not whole or prose.startswith(("clang-format", "namespace"))):
                continue
            for _ in pattern.finditer(prose):
                yield line, name, remedy
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS and path.suffix != ".md" and ("//" in line or path.suffix not in CPP):
            yield number, "columns", f"at most {COLUMNS}"


def tracked():
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--", *FILES]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [pathlib.Path(name) for name in names.split("\0") if name]


def self_test():
    for name, _, example, _ in PATTERNS:
        names = {found for _, found, _ in findings(pathlib.Path("a.hpp"), f"/// {example}\nint a;\n")}
        assert name in names, f"{name} is not found in: {example}"
        names = {found for _, found, _ in findings(pathlib.Path("a.py"), f'def f():\n    """{example}"""\n')}
        assert name in names or name == "fragment", f"{name} is not found in the docstring: {example}"
        page = f"# What is left\n\n| Where there is a table |\n\n```\n{example}\n```\n\n"
        assert not list(findings(pathlib.Path("a.md"), page))
        names = {found for _, found, _ in findings(pathlib.Path("a.md"), f"{page}- An item.\n- {example}\n")}
        assert name in names or name == "fragment", f"{name} is not found in the page: {example}"
    text = "---\nkey: value\n---\n\nA link.\nWhat is\nleft.\n"
    assert [(line, name) for line, name, _ in findings(pathlib.Path("a.md"), text)] == [(5, "what")]
    clean = "/// Returns the rows that are left. Throws InputError if the file is empty. Complexity: O(n).\nint a;\n"
    assert not list(findings(pathlib.Path("a.hpp"), clean))
    assert [name for _, name, _ in findings(pathlib.Path("a.hpp"), "int a;  // " + "x" * COLUMNS)] == ["columns"]
    for file in ("a.hpp", "a.md"):
        assert not list(findings(pathlib.Path(file), "A = 1".ljust(COLUMNS + 1, "1") + "\n")), file
    for file in ("a.py", "CMakeLists.txt", "cmake/a.cmake", "a.sh", "a.js", "a.css", "a.html", "a.toml", ".ci/run"):
        for length, expected in ((COLUMNS, []), (COLUMNS + 1, ["columns"])):
            text = "a = 1".ljust(length, "1") + "\n"
            assert [name for _, name, _ in findings(pathlib.Path(file), text)] == expected, f"{file}: {length} columns"
    print(f"{len(PATTERNS) + 14} passed, 0 failed")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    found = [(path, *finding) for path in [pathlib.Path(name) for name in sys.argv[1:]] or tracked()
             for finding in findings(path, (ROOT / path).read_text())]
    for path, line, name, remedy in found:
        print(f"{path}:{line}: {name}: {remedy}")
    return 1 if found else None


if __name__ == "__main__":
    sys.exit(main())
