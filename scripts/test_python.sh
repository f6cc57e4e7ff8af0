#!/usr/bin/env bash
# Tests the Python package as its users get it: builds an sdist, and from it alone the wheel without CUDA, makes that a
# manylinux wheel, installs it into an environment without a compiler, and runs there the Python of README and docs/,
# python/tests and, beside them, scikit-learn's own tests of DBSCAN. Options go to pytest:
#   scripts/test_python.sh -k sweep
# Needs PyPI, or the index that pip is set up to use. Compiles through ccache if CMAKE_CXX_COMPILER_LAUNCHER names it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/install_deps.sh dev

root=$PWD
work=$root/build/python/test
python=${PYTHON:-python3}
# Results folders are exchanged with the program, where it is built.
[[ ! -x build/release/bin/epsflow ]] || export EPSFLOW_PROGRAM=${EPSFLOW_PROGRAM:-$root/build/release/bin/epsflow}
export EPSFLOW_TEST_DATA=${EPSFLOW_TEST_DATA:-$root/../shared/data}
unset PYTHONPATH PYTHONHOME
passed=0

say() { echo "--- $1 ($SECONDS s)"; }
done_with() { passed=$((passed + 1)); }
report() {  # FAILED PASSED, in ctest's words, which .ci/run counts
  local total=$(($1 + $2))
  echo "$((100 * $2 / total))% tests passed, $1 tests failed out of $total"
}
fail() {
  echo "test_python.sh: $1" >&2
  report 1 "$passed"
  exit 1
}
# In the clean environment: nothing but Python is found.
clean() { env -u CC -u CXX PATH="$work/clean/bin" "$@"; }

rm -rf "$work"
mkdir -p "$work/dist" "$work/empty"

say "sdist and wheel"
scripts/wheels.sh "$work/dist" "$python" || fail "there is no wheel that is fit to be published"
source=$root/build/python/source
wheel=$(echo "$work/dist"/epsflow-*manylinux*.whl)
done_with wheel

say "types"
# Beside no source: what is checked is what was installed.
"$python" -m venv "$work/tools"
"$work/tools/bin/pip" install -q --disable-pip-version-check mypy
"$python" -m venv "$work/clean"
clean pip install -q --disable-pip-version-check "$wheel"
(cd "$work/empty" &&
  "$work/tools/bin/mypy" --config-file "$source/pyproject.toml" --python-executable "$work/clean/bin/python" \
    -p epsflow) || fail "types are wrong"
done_with types

say "Python of README and docs/ with NumPy alone"
for tool in cc c++ gcc g++ clang cmake; do
  [[ -z "$(PATH="$work/clean/bin" command -v "$tool")" ]] || fail "$tool is found in the clean environment"
done
(cd "$work/empty" && clean python "$source/python/tests/test_readme.py") ||
  fail "the Python of README and docs/ does not run"
done_with quick_start

say "tests"
clean pip install -q --disable-pip-version-check "${wheel}[test]"
status=0
# Those of the sdist, which are of one state with what was installed.
(cd "$work/empty" &&
  clean python -m pytest -q -rsx -n auto -p no:cacheprovider --junit-xml="$work/tests.xml" \
    "$source/python/tests" "$@") || status=$?
read -r tests bad without < <("$python" - "$work/tests.xml" <<'EOF'
import sys, xml.etree.ElementTree as tree
suites = tree.parse(sys.argv[1]).getroot().findall("testsuite")
count = lambda *names: sum(int(suite.get(name)) for suite in suites for name in names)
print(count("tests") - count("skipped"), count("failures", "errors"), count("skipped"))
EOF
) || fail "pytest did not run"
[[ $status -eq 0 || $bad -gt 0 ]] || fail "pytest ended with $status"
say "all"
echo "$without more were skipped"
report "$bad" "$((passed + tests - bad))"
exit "$status"
