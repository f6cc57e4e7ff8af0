#!/usr/bin/env bash
# Builds the program alone, for this machine, into build/program, sweeps nine variants over a file of points, or over
# generated ones, and shows the summary; the labels go to demo_results. The GPU backend, which takes longer to build, is
# built where there is a GPU.
#   scripts/demo.sh [FILE …] [-- options of `epsflow sweep`]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/scripts/build.sh" program
epsflow=$root/build/program/bin/epsflow

files=()
options=()
while [[ $# -gt 0 && "$1" != -- ]]; do
  files+=("$1")
  shift
done
[[ $# -eq 0 ]] || shift
if [[ ${#files[@]} -eq 0 ]]; then
  tmp=$(mktemp -d)
  trap 'rm -rf "$tmp"' EXIT
  "$epsflow" generate tec --n 200000 --out "$tmp/tec.npy"
  files=("$tmp/tec.npy")
  options=(--columns 0,1)  # lon and lat; the third column is the electron content
fi

# A default stands aside where the caller gives the option.
options+=("$@")
[[ " $* " =~ \ --(eps|variants)[\ =] ]] || options+=(--eps 0.1:0.3:0.1)
[[ " $* " =~ \ --(minpts|variants)[\ =] ]] || options+=(--minpts "4,16,64")
"$epsflow" sweep "${files[@]}" "${options[@]}" --out demo_results --overwrite
