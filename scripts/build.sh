#!/usr/bin/env bash
# Installs what is missing and builds a preset into build/PRESET; shared by test.sh and demo.sh.
#   scripts/build.sh PRESET [options of cmake …]     PRESET: release (everything) or program
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=$1
case "$preset" in
  program) scripts/install_deps.sh program ;;
  *) scripts/install_deps.sh tests ;;
esac
cmake --preset "$@"
cmake --build --preset "$preset"
