#!/usr/bin/env bash
# Installs what is missing and builds everything into build/release; shared by test.sh and demo.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/install_deps.sh
cmake --preset release
cmake --build --preset release
