#!/usr/bin/env python3
"""Checks the include rules: which folder may include which others, that in core/ only core/parallel.cpp includes
oneTBB, and how project headers are spelled. Also checks that every test file is built and that the modules of the
Python package have no import cycles.

    check_includes.py [ROOT]      check the tree (default: the one of this script); exit 1 with one line per violation
    check_includes.py --self-test check on small trees that each violation is found
"""

import ast
import pathlib
import re
import sys
import tempfile

# The folders that a folder may include, besides itself and core, whose types all folders share. None: any folder.
LAYERS = {
    "core": set(),
    "sky": set(),
    "index": set(),
    "clustering": {"index"},
    "catalog": {"index"},
    "trees": {"index", "clustering"},
    "cpu": {"index", "clustering"},
    "gpu": {"index", "clustering", "catalog"},
    "stages": {"index", "clustering"},
    "tracks": {"index", "clustering", "catalog"},
    "pipeline": {"index", "cpu", "gpu", "clustering", "stages", "catalog", "tracks", "trees"},
    "windows": {"index", "clustering", "pipeline"},
    "parts": {"index", "clustering", "stages", "pipeline"},
    "report": {"clustering", "catalog", "pipeline"},
    "mpi": {"parts"},
    "io": {"sky"},
    "cli": {"pipeline", "windows", "catalog", "tracks", "sky", "io", "parts", "mpi", "report"},
    "python": {"pipeline", "windows", "trees", "catalog", "tracks", "sky", "io", "parts", "report"},
    "examples": {"pipeline", "windows", "parts", "catalog", "io"},
    "tests": None,
    "benchmarks": None,
}
CUDA_FOLDERS = {"gpu", "tests", "benchmarks"}
GRAPH_FOLDERS = {"pipeline", "tests", "benchmarks"}
NO_TBB_FOLDERS = {"core", "gpu"}
TBB_FILE = "core/parallel.cpp"  # the only file of these folders that may include oneTBB
SUFFIXES = {".hpp", ".h", ".cpp", ".cc", ".cu", ".cuh", ".inl"}

STANDARD = set(
    "algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes "
    "climits clocale cmath compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef "
    "cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format "
    "forward_list fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits "
    "list locale map memory memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex "
    "scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf "
    "string string_view syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map "
    "unordered_set utility valarray variant vector version".split())
POSIX = re.compile(r"(sys/\w+|unistd|fcntl|pthread|sched|dirent|poll|time|signal|errno|dlfcn|strings|limits)\.h")
CUDA = re.compile(r"(cuda|cub/|thrust/|nv/|nvtx|nvToolsExt|cooperative_groups|device_launch|device_functions|mma\.h|"
                  r"curand|cublas|nccl|vector_types\.h|cutlass/)")
TBB = re.compile(r"(oneapi/)?tbb[/.]")
FLOW_GRAPH = re.compile(r"(oneapi/)?(tbb/flow_graph|tbb/tbb\.h|tbb\.h)")  # tbb.h includes the flow graph

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)"|(\S+))')
# Matches comments, strings and character literals; (?<!\w)' excludes 1'000'000.
COMMENT = r"//[^\n]*|/\*.*?\*/"
LITERAL = r'R"([^()\s\\]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\''
TOKEN = re.compile(f"(?P<comment>{COMMENT})|(?:{LITERAL})", re.S)


def blank(text):
    """Returns the text without comments and literals; line numbers stay."""
    return TOKEN.sub(lambda m: "\n" * m.group().count("\n") or " ", text)


def without_comments(text):
    return TOKEN.sub(lambda m: ("\n" * m.group().count("\n") or " ") if m.group("comment") else m.group(), text)


def check_angled(path, folder, name):
    """Returns the error in `#include <name>` of a file in folder, or None. path: the file's path from the root."""
    if name.startswith("epsflow/"):
        parts = name.split("/")
        target = parts[1]
        if len(parts) < 3 or target not in LAYERS:
            return f"<{name}>: not of the form <epsflow/folder/file.hpp>"
        allowed = LAYERS[folder]
        if allowed is not None and target not in allowed | {folder, "core"}:
            return f"{folder}/ may not include {target}/"
        return None
    if name.split("/")[0] in LAYERS and name.endswith((".hpp", ".cuh", ".h")):
        return f"<{name}>: a project header is spelled <epsflow/{name}>"
    if CUDA.match(name) and folder not in CUDA_FOLDERS:
        return f"<{name}>: CUDA headers belong to gpu/"
    if TBB.match(name) and folder in NO_TBB_FOLDERS and path != TBB_FILE:
        return f"<{name}>: {folder}/ is free of oneTBB"
    if FLOW_GRAPH.match(name) and folder not in GRAPH_FOLDERS:
        return f"<{name}>: the flow graph belongs to pipeline/"
    if folder == "core" and name not in STANDARD and not POSIX.fullmatch(name) and not TBB.match(name):
        return f"<{name}>: core/ includes the standard library and POSIX only"
    return None


def check_quoted(root, folder, name):
    """Accepts helpers of the tests, which are named from tests/ (or benchmarks/), and Python's bindings, which lie in
    one folder. Neither are project headers."""
    base = {"tests": "tests", "benchmarks": "benchmarks", "python": "python/bindings"}.get(folder)
    if base and ".." not in name and (root / base / name).is_file():
        return None
    return f'"{name}": a project header is spelled <epsflow/folder/file.hpp>'


def check_file(root, path, folder):
    text = path.read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(without_comments(text).split("\n"), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        angled, quoted, other = match.groups()
        if angled:
            problem = check_angled(path.relative_to(root).as_posix(), folder, angled)
        elif quoted:
            problem = check_quoted(root, folder, quoted)
        else:
            problem = f"{other}: an include names its header"
        if problem:
            yield number, problem
    if path.suffix != ".cu":
        for number, line in enumerate(blank(text).split("\n"), 1):
            # A template in a .cuh file may launch kernels, and only .cu files include it.
            for token, homes in (("<<<", ".cu and .cuh"), ("__global__", ".cu")):
                if token in line and path.suffix not in homes.split(" and "):
                    yield number, f"{token} belongs to {homes} files only"


def check_tests(root):
    """Finds tests that no list names: they are never compiled, and nobody would notice."""
    lists = sorted((root / "tests").rglob("CMakeLists.txt"))
    listed = "\n".join(file.read_text(encoding="utf-8") for file in lists)
    for path in sorted((root / "tests").rglob("*_test.cpp")):
        if not re.search(rf"\b{re.escape(path.name)}\b", listed):
            yield f"{path.relative_to(root)}: no list of tests/CMakeLists.txt names it"


def imports_of(path, package):
    """Yields the modules of its package that a module imports, also in functions; a package is `__init__`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        folder = path.parents[node.level - 1]
        for name in [node.module] if node.module else [alias.name for alias in node.names]:
            found = folder.joinpath(*name.split("."))
            if not (found.with_suffix(".py").is_file() or name == "_core"):
                found = (found if found.is_dir() else folder) / "__init__"
            yield ".".join(found.relative_to(package).parts)


def check_python(root):
    """Finds an import cycle: with one, the order of imports would decide whether they work."""
    package = root / "python" / "epsflow"
    left = {".".join(path.relative_to(package).with_suffix("").parts): set(imports_of(path, package))
            for path in package.rglob("*.py")}
    while leaves := [name for name, imported in left.items() if not imported & left.keys()]:
        for name in leaves:
            del left[name]
    if left:
        circle = [min(left)]
        while circle[-1] not in circle[:-1]:
            circle.append(min(left[circle[-1]] & left.keys()))
        yield f"python/epsflow: {' imports '.join(circle[circle.index(circle[-1]):])}: a circle"


def check_tree(root):
    errors = [*check_tests(root), *check_python(root)]
    for folder in LAYERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                errors += [f"{path.relative_to(root)}:{number}: {problem}" for number, problem in
                           check_file(root, path, folder)]
    return errors


# Path, text, and the expected error; None: there must be no error.
CASES = [
    ("tests/core/a_test.cpp", "int main() {}", "tests/core/a_test.cpp: no list of tests/CMakeLists.txt names it"),
    ("core/a.hpp", "#include <vector>\n#include <sys/mman.h>\n#include <epsflow/core/b.hpp>", None),
    ("core/a.hpp", "#include <epsflow/index/grid.hpp>", "core/a.hpp:1: core/ may not include index/"),
    ("core/a.hpp", "\n#include <tbb/parallel_for.h>", "core/a.hpp:2: <tbb/parallel_for.h>: core/ is free of oneTBB"),
    ("core/a.hpp", "#include <oneapi/tbb.h>", "free of oneTBB"),
    ("core/a.cpp", "#include <tbb/parallel_for.h>", "core/a.cpp:1: <tbb/parallel_for.h>: core/ is free of oneTBB"),
    ("core/parallel.cpp", "#include <tbb/parallel_for.h>\n#include <oneapi/tbb/parallel_sort.h>", None),
    ("core/parallel.cpp", "#include <tbb/flow_graph.h>", "the flow graph belongs to pipeline/"),
    ("core/parallel.cpp", "#include <fmt/format.h>", "standard library and POSIX only"),
    ("core/parallel.hpp", "#include <tbb/blocked_range.h>", "core/ is free of oneTBB"),
    ("gpu/core/parallel.cpp", "#include <tbb/parallel_for.h>", "gpu/ is free of oneTBB"),
    ("core/a.hpp", "#include <fmt/format.h>", "standard library and POSIX only"),
    ("index/a.cpp", "#include <epsflow/core/b.hpp>\n#include <tbb/parallel_for.h>", None),
    ("index/a.cpp", "#include <epsflow/clustering/b.hpp>", "index/ may not include clustering/"),
    ("gpu/a.cu", "#include <cuda_runtime.h>\n__global__ void k();\nvoid f() { k<<<1, 1>>>(); }", None),
    ("gpu/a.cu", "#include <tbb/task_arena.h>", "gpu/ is free of oneTBB"),
    ("gpu/a.cpp", "#include <epsflow/stages/b.hpp>", "gpu/ may not include stages/"),
    ("gpu/a.hpp", "__global__ void k();", "__global__ belongs to .cu files only"),
    ("gpu/a.cpp", "void f() { k<<<1, 1>>>(); }", "<<< belongs to .cu and .cuh files only"),
    ("gpu/a.cuh", "// k<<<1, 1>>> and __global__\nauto s = \"<<<\"; /* <<<\n */ char c = '\"'; int i = 1'000;", None),
    ("tracks/a.cpp", "#include <tbb/parallel_for.h>\n#include <epsflow/index/b.hpp>", None),
    ("stages/a.cpp", "#include <tbb/flow_graph.h>", "the flow graph belongs to pipeline/"),
    ("stages/a.cpp", "#include <oneapi/tbb/flow_graph.h>", "the flow graph belongs to pipeline/"),
    ("stages/a.cpp", "#include <tbb/tbb.h>", "the flow graph belongs to pipeline/"),
    ("stages/a.cpp", "#include <cuda_runtime.h>", "CUDA headers belong to gpu/"),
    ("stages/a.cpp", "#include <cub/cub.cuh>", "CUDA headers belong to gpu/"),
    ("pipeline/a.cpp", "#include <tbb/flow_graph.h>\n#include <epsflow/gpu/b.hpp>", None),
    ("pipeline/a.cpp", "#include <epsflow/io/b.hpp>", "pipeline/ may not include io/"),
    ("io/a.cpp", "#include <fitsio.h>\n#include <epsflow/core/b.hpp>", None),
    ("cli/a.cpp", "#include <epsflow/pipeline/b.hpp>\n#include <epsflow/io/b.hpp>", None),
    ("cli/a.cpp", "#include <epsflow/clustering/b.hpp>", "cli/ may not include clustering/"),
    ("python/bindings/a.cpp",
     '#include "a.cpp"\n#include <epsflow/io/results/b.hpp>\n#include <epsflow/pipeline/b.hpp>', None),
    ("python/bindings/a.cpp", "#include <epsflow/gpu/b.hpp>", "python/ may not include gpu/"),
    ("python/bindings/a.cpp", '#include "../b.hpp"', "is spelled <epsflow/folder/file.hpp>"),
    ("python/epsflow/_a.py", "from ._core import b\nfrom . import _core", None),
    ("python/epsflow/_a.py", "def f():\n    from ._a import b", "python/epsflow: _a imports _a: a circle"),
    ("python/epsflow/b/_a.py", "from .. import _core\nfrom .._a import b\nfrom . import c", None),
    ("python/epsflow/b/_a.py", "from ..b import _c\nfrom ..b._a import d",
     "python/epsflow: b._a imports b._a: a circle"),
    ("python/epsflow/b/__init__.py", "from .. import b", "python/epsflow: b.__init__ imports b.__init__: a circle"),
    ("examples/a.cpp", "#include <epsflow/stages/b.hpp>", "examples/ may not include stages/"),
    ("tests/core/a.cpp", '#include "support/catch.hpp"\n#include <epsflow/cli/b.hpp>', None),
    ("tests/core/a.cpp", '#include "core/b.hpp"', "is spelled <epsflow/folder/file.hpp>"),
    ("tests/core/a.cpp", '#include "../core/b.hpp"', "is spelled <epsflow/folder/file.hpp>"),
    ("index/a.cpp", '  #  include "grid.hpp"', "is spelled <epsflow/folder/file.hpp>"),
    ("index/a.cpp", "#include <index/grid.hpp>", "is spelled <epsflow/index/grid.hpp>"),
    ("index/a.cpp", "#include <epsflow/grid.hpp>", "not of the form <epsflow/folder/file.hpp>"),
    ("index/a.cpp", '// #include "grid.hpp"\n/*\n#include "grid.hpp"\n*/', None),
    ("index/a.cpp", "#include GRID", "an include names its header"),
]


def self_test():
    failures = 0
    for name, text, expected in CASES:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True)
            path.write_text(text + "\n", encoding="utf-8")
            helper = pathlib.Path(folder, "tests/support/catch.hpp")
            helper.parent.mkdir(parents=True, exist_ok=True)
            helper.touch()
            errors = check_tree(pathlib.Path(folder))
        if [expected in error for error in errors] != [True] if expected else errors:
            failures += 1
            print(f"{name}: {text!r}: expected {expected!r}, got {errors}", file=sys.stderr)
    print(f"{len(CASES) - failures} of {len(CASES)} cases as expected")
    return 1 if failures else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    errors = check_tree(root)
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
