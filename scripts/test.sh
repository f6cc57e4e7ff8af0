#!/usr/bin/env bash
# Builds epsflow and runs its tests. Options go to ctest: scripts/test.sh -R sweep
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/build.sh release
ctest --preset release "$@"
