#!/usr/bin/env bash
# Builds the site of docs/ into build/docs/html; warnings are errors. It runs the tutorials, so it needs the package and
# the program:
#   scripts/docs.sh              the wheel that scripts/test_python.sh made, or a new one if sources have changed since
#   scripts/docs.sh linkcheck    checks the links to other sites, and builds nothing
# EPSFLOW_WHEEL and EPSFLOW_PROGRAM name others. Needs PyPI, or what pip is set up to use in its place.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

builder=${1:-html}
if [[ $# -gt 1 || ! "$builder" =~ ^(html|linkcheck)$ ]]; then
  echo "usage: docs.sh [linkcheck]" >&2
  exit 2
fi
scripts/install_deps.sh dev

work=$PWD/build/docs
venv=$work/venv
export PIP_DISABLE_PIP_VERSION_CHECK=1 EPSFLOW_PROGRAM=${EPSFLOW_PROGRAM:-}
unset PYTHONPATH PYTHONHOME

if [[ -z "$EPSFLOW_PROGRAM" ]]; then
  for build in build/release build/program; do
    [[ -n "$EPSFLOW_PROGRAM" || ! -x $build/bin/epsflow ]] || EPSFLOW_PROGRAM=$PWD/$build/bin/epsflow
  done
fi
if [[ -z "$EPSFLOW_PROGRAM" ]]; then
  echo "docs.sh: no program, of which the site has a page: build it with scripts/test.sh or scripts/demo.sh" >&2
  exit 1
fi

# The wheel, unless a source is newer than it.
sources=(CMakeLists.txt pyproject.toml core sky index clustering catalog cpu stages tracks pipeline windows parts io
         report python)
is_current() {  # WHEEL
  [[ -f "$1" && -z "$(find "${sources[@]}" -newer "$1" -type f -not -path '*/__pycache__/*' -print -quit)" ]]
}
wheel=${EPSFLOW_WHEEL:-}
if [[ -z "$wheel" ]]; then
  for made in build/python/test/dist/epsflow-*manylinux*.whl "$work"/wheel/epsflow-*.whl; do
    [[ -n "$wheel" ]] || ! is_current "$made" || wheel=$made
  done
fi
if [[ -z "$wheel" ]]; then
  rm -rf "$work/wheel"
  python3 -m pip wheel -q --no-deps -w "$work/wheel" --config-settings=cmake.define.EPSFLOW_CUDA=OFF .
  wheel=$(echo "$work"/wheel/epsflow-*.whl)
fi

# Installed once for each list of requirements, and each wheel.
install() {  # STAMP pip's arguments …
  [[ ! -f "$work/$1" ]] || ! cmp -s <(stamp "$2") "$work/$1" || return 0
  "$venv/bin/pip" install -q "${@:3}"
  stamp "$2" >"$work/$1"
}
stamp() { sha256sum <"$1"; }
mkdir -p "$work"
[[ -x "$venv/bin/python" ]] || { rm -f "$work"/*.installed; python3 -m venv "$venv"; }
install requirements.installed docs/requirements.txt -r docs/requirements.txt
install wheel.installed "$wheel" --force-reinstall --no-deps "$wheel"

# Tutorials run without a user's own settings of IPython. The kernel warns that it talks to us over TCP.
export IPYTHONDIR=$work/ipython
mkdir -p "$IPYTHONDIR/profile_default"
echo 'get_config().IPKernelApp.log_level = "ERROR"' >"$IPYTHONDIR/profile_default/ipython_kernel_config.py"

options=(-q -W --keep-going -n -j 2 -b "$builder" -c docs -d "$work/doctrees-$builder")
[[ "$builder" != linkcheck ]] || options+=(-D nb_execution_mode=off -D suppress_warnings=myst-nb.lexer)
"$venv/bin/sphinx-build" "${options[@]}" . "$work/$builder"
[[ "$builder" != html ]] || echo "the site: $work/html/index.html"
