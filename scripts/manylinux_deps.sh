#!/usr/bin/env bash
# Builds what the module of the Python package needs into PREFIX, for where the system has it too old or not at all:
# oneTBB, Highway and nlohmann_json. What cibuildwheel runs first inside a manylinux_2_28 image, which has CMake, a
# compiler and git.
#   scripts/manylinux_deps.sh PREFIX
# EPSFLOW_DEPS_SOURCES names a folder with the sources onetbb, highway and json, where they are not to be fetched.
set -euo pipefail
[[ $# -eq 1 ]] || { echo "usage: manylinux_deps.sh PREFIX" >&2; exit 2; }
prefix=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

source_of() {  # NAME REPOSITORY TAG
  [[ -z "${EPSFLOW_DEPS_SOURCES:-}" ]] || { echo "$EPSFLOW_DEPS_SOURCES/$1"; return; }
  git clone -q --depth 1 --branch "$3" "https://github.com/$2.git" "$work/$1" >&2
  echo "$work/$1"
}
build() {  # SOURCE [options of cmake …]
  cmake -S "$1" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_TESTING=OFF "${@:2}" >/dev/null
  cmake --build "$work/build" --parallel "${JOBS:-$(nproc)}" >/dev/null
  cmake --install "$work/build" >/dev/null
  rm -rf "$work/build"
}

build "$(source_of onetbb uxlfoundation/oneTBB v2022.1.0)" -DTBB_TEST=OFF -DTBB_STRICT=OFF -DTBBMALLOC_BUILD=OFF
build "$(source_of highway google/highway 1.2.0)" -DHWY_ENABLE_TESTS=OFF -DHWY_ENABLE_EXAMPLES=OFF \
  -DHWY_ENABLE_CONTRIB=OFF -DBUILD_SHARED_LIBS=OFF
build "$(source_of json nlohmann/json v3.11.3)" -DJSON_BuildTests=OFF
