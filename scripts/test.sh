#!/usr/bin/env bash
# Builds epsflow and runs its tests. The GPU backend, which takes longer to build, is built where there is a GPU, and
# with --cuda. Other options go to ctest: scripts/test.sh -R sweep
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=release
if [[ "${1:-}" == --cuda ]]; then
  preset=cuda
  shift
fi
scripts/build.sh "$preset"
ctest --preset "$preset" "$@"
