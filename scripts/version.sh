#!/usr/bin/env bash
# Prints the version of this checkout, which stands in CMakeLists.txt and nowhere else.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
sed -nE 's/^project\(epsflow VERSION ([0-9]+\.[0-9]+\.[0-9]+) .*/\1/p' CMakeLists.txt
