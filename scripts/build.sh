#!/usr/bin/env bash
# Installs what is missing and builds a preset into build/PRESET; shared by demo.sh, test.sh and pack.sh.
#   scripts/build.sh PRESET [options of cmake …]     PRESET: program, release (the program and all tests) or bundle
# CUDA: insisted on where there is a compiler for it, left out of the program where there is no GPU. Tests that no GPU here can
# run are built for one architecture.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=$1
have_gpu() { [[ -e /dev/nvidia0 ]] || nvidia-smi -L >/dev/null 2>&1; }
have_nvcc() { [[ -n "${CUDACXX:-}" || -x /usr/local/cuda/bin/nvcc ]] || command -v nvcc >/dev/null; }
cuda=()
! have_nvcc || cuda=(-DEPSFLOW_CUDA=ON)
case "$preset" in
  program) have_gpu || cuda=(-DEPSFLOW_CUDA=OFF) ;;
  release) have_gpu || ! have_nvcc || cuda+=(-DEPSFLOW_CUDA_ARCHITECTURES=90-real) ;;
esac
if [[ "$preset" == program ]]; then scripts/install_deps.sh program; else scripts/install_deps.sh tests; fi
cmake --preset "$preset" "${cuda[@]}" "${@:2}"
cmake --build --preset "$preset"
