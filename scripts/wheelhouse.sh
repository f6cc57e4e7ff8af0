#!/usr/bin/env bash
# Shows that the wheels in FOLDER install without a network and without a compiler: adds what they need to FOLDER, from
# PyPI, and then, for each Python, installs epsflow from FOLDER alone into an environment in which nothing but Python is
# found, and labels points.
#   scripts/wheelhouse.sh FOLDER [PYTHON …]      FOLDER: as scripts/wheels.sh makes it; PYTHON: python3 unless given
# NUMPY, such as 'numpy<2': what else to ask pip for.
set -euo pipefail
[[ $# -ge 1 ]] || { echo "usage: wheelhouse.sh FOLDER [PYTHON …]" >&2; exit 2; }
folder=$(cd "$1" && pwd)
pythons=("${@:2}")
[[ ${#pythons[@]} -gt 0 ]] || pythons=("${PYTHON:-python3}")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
wanted=("epsflow==$("$root/scripts/version.sh")" ${NUMPY:+"$NUMPY"})
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH PYTHONHOME

for python in "${pythons[@]}"; do
  "$python" -m pip download -q --disable-pip-version-check --only-binary :all: --find-links "$folder" -d "$folder" \
    "${wanted[@]}"
  rm -rf "$work/bare"
  "$python" -m venv "$work/bare"
  start=$(date +%s.%N)
  env -i PATH="$work/bare/bin" HOME="$work" pip install -q --disable-pip-version-check --no-index \
    --find-links "$folder" "${wanted[@]}"
  (cd "$work" && env -i PATH="$work/bare/bin" HOME="$work" python - "$start") <<'END'
import sys, time

import numpy

import epsflow

labels = epsflow.DBSCAN(eps=0.3, min_samples=4).fit_predict(numpy.random.default_rng(1).normal(size=(2000, 2)).round(3))
found = epsflow.DBSCAN(eps=1.5, min_samples=2).fit_predict([[0.0], [1.0], [9.0]])
assert list(found) == [0, 0, -1], found
print(f"Python {sys.version.split()[0]}, NumPy {numpy.__version__}, epsflow {epsflow.__version__}: {labels.max() + 1} "
      f"clusters of 2,000 points, {time.time() - float(sys.argv[1]):.1f} s after pip was started")
END
done
