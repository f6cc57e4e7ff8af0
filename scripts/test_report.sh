#!/usr/bin/env bash
# Opens reports in headless Chromium: tests/report/page_test.py, against the program in build/release. Without Chromium
# and its driver the tests are skipped. Needs PyPI, or what pip is set up to use in its place.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v chromedriver >/dev/null; then
  echo "Reports are not opened in a browser: there is no chromedriver (Debian package chromium-driver)"
  echo "1 more were skipped"
  echo "100% tests passed, 0 tests failed out of 0"
  exit 0
fi
venv=build/report-browser
[[ -x $venv/bin/python ]] || python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check selenium axe-selenium-python
export EPSFLOW_BINARY=${EPSFLOW_BINARY:-$PWD/build/release/bin/epsflow} CHROMEDRIVER=$(command -v chromedriver)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
"$venv/bin/python" tests/report/page_test.py "$@" 2>&1 | tee "$log" || status=$?
# In ctest's words, which .ci/run counts.
ran=$(sed -nE 's/^Ran ([0-9]+) tests? in .*/\1/p' "$log")
bad=$(grep -cE '^(FAIL|ERROR): ' "$log" || true)
skipped=$(grep -cE '\.\.\. skipped ' "$log" || true)
echo "$skipped more were skipped"
echo "$((100 * (ran - bad) / (ran > 0 ? ran : 1)))% tests passed, $bad tests failed out of $((ran - skipped))"
exit "$status"
