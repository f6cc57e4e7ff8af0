#!/usr/bin/env bash
# Installs what epsflow needs on Debian 12 or Ubuntu 24.04, and does nothing where it is all there.
#   scripts/install_deps.sh [program | tests | dev]
# program: to build the program. tests, the default: also its tests and benchmarks. dev: also the checks of .ci/run.
# EPSFLOW_SKIP_DEPS=1: trust that everything is there.
set -euo pipefail

level=${1:-tests}
packages=(g++ cmake ninja-build pkg-config libtbb-dev libhwy-dev zlib1g-dev libboost-program-options-dev libcfitsio-dev
          libhdf5-dev libzip-dev nlohmann-json3-dev libfmt-dev)
[[ "$level" == program ]] || packages+=(build-essential catch2 git python3)
[[ "$level" != dev ]] || packages+=(clang-14 libclang-rt-14-dev clang-format-14 clang-tidy-14 python3-venv python3-dev
                                     libopenmpi-dev openmpi-bin libmpich-dev mpich doxygen ccache)
# Of Ubuntu both are no packages of its own; there the tests that need them are skipped.
[[ "$level" != dev ]] || ! grep -qs '^ID=debian' /etc/os-release || packages+=(chromium chromium-driver)
if [[ $# -gt 1 || ! "$level" =~ ^(program|tests|dev)$ ]]; then
  echo "usage: install_deps.sh [program | tests | dev]" >&2
  exit 2
fi
[[ -z "${EPSFLOW_SKIP_DEPS:-}" ]] || exit 0

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "install_deps.sh: this system has no apt-get. Install the counterparts of these Debian packages, then set" \
       "EPSFLOW_SKIP_DEPS=1: ${packages[*]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  [[ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=(env DEBIAN_FRONTEND=noninteractive)
if [[ $EUID -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "install_deps.sh: neither root nor sudo; ask for these packages to be installed: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo "${as_root[@]}")
fi
echo "Installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null || {
  echo "install_deps.sh: apt-get could not install: ${missing[*]} (known to work on Debian 12 and Ubuntu 24.04)" >&2
  exit 1
}
