#!/usr/bin/env bash
# Installs what is missing and builds a preset into build/PRESET; shared by demo.sh, test.sh and pack.sh.
#   scripts/build.sh PRESET [options of cmake …]     PRESET: program, release (the program and all tests), cuda (the
#                                                    same) or bundle
# CUDA: the presets program and release have it if there are a GPU and a CUDA compiler, cuda always, and bundle if there
# is a compiler. Vector code is compiled for this machine alone, but for a bundle.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=$1
have_gpu() { [[ -e /dev/nvidia0 ]] || nvidia-smi -L >/dev/null 2>&1; }
have_nvcc() { [[ -n "${CUDACXX:-}" || -x /usr/local/cuda/bin/nvcc ]] || command -v nvcc >/dev/null; }
options=(-DEPSFLOW_INSTRUCTION_SETS=native)
cuda=OFF
case "$preset" in
  program | release) ! have_gpu || ! have_nvcc || cuda=ON ;;
  cuda)
    cuda=ON
    have_gpu || options+=(-DEPSFLOW_CUDA_ARCHITECTURES=90-real)  # no GPU here runs the tests
    ;;
  bundle)
    ! have_nvcc || cuda=ON
    options=()
    ;;
esac
options+=("-DEPSFLOW_CUDA=$cuda")
if [[ "$preset" == program ]]; then scripts/install_deps.sh program; else scripts/install_deps.sh tests; fi
cmake --preset "$preset" "${options[@]}" "${@:2}"
cmake --build --preset "$preset"
