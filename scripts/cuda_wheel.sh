#!/usr/bin/env bash
# Makes the wheel of epsflow-cuda12 or epsflow-cuda13 (by the version of nvcc that is found) for one Python: the
# compiled module of the Python package with the GPU backend, which epsflow of the same version finds beside it.
#   scripts/cuda_wheel.sh FOLDER [options of pip wheel …]     PYTHON names the Python, CUDACXX the compiler
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ $# -ge 1 ]] || { echo "usage: cuda_wheel.sh FOLDER [options of pip wheel …]" >&2; exit 2; }
folder=$1
python=${PYTHON:-python3}
fail() {
  echo "cuda_wheel.sh: $1" >&2
  exit 1
}

nvcc=${CUDACXX:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[[ -x "$nvcc" ]] || fail "no CUDA compiler at $nvcc: install the CUDA Toolkit 12 or 13, or let CUDACXX name nvcc"
cuda=$("$nvcc" --version | sed -nE 's/.*release ([0-9]+)\..*/\1/p')
[[ "$cuda" == 12 || "$cuda" == 13 ]] || fail "$nvcc is of CUDA '$cuda', and there are packages for 12 and 13"

source=$PWD/build/python/cuda$cuda
mkdir -p "$source/epsflow_cuda$cuda"
for file in pyproject.toml README.md; do
  sed "s|@CUDA@|$cuda|g; s|@VERSION@|$(scripts/version.sh)|g; s|@SOURCE@|../../..|g" "packaging/cuda/$file.in" \
    >"$source/$file"
done
cp packaging/cuda/__init__.py "$source/epsflow_cuda$cuda/"
cp LICENSE THIRD_PARTY_LICENSES.txt "$source/"
CUDACXX=$nvcc "$python" -m pip wheel --disable-pip-version-check --no-deps -w "$folder" "${@:2}" "$source"
