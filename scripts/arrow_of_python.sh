#!/usr/bin/env bash
# Arrow's C++ libraries where the system has no packages of them, as Debian 12 has none: Python's package pyarrow brings
# its own, with their headers. pip installs it into FOLDER/python, from PyPI or what it is set up to use in its place,
# and FOLDER gets files of pkg-config that describe them:
#   scripts/arrow_of_python.sh ~/arrow
#   PKG_CONFIG_PATH=~/arrow/lib/pkgconfig cmake --preset program -DEPSFLOW_WITH_PARQUET=ON
# What is built so needs FOLDER when it runs.
set -euo pipefail
[[ $# -eq 1 ]] || { echo "usage: arrow_of_python.sh FOLDER" >&2; exit 2; }

mkdir -p "$1/lib/pkgconfig"
folder=$(cd "$1" && pwd)
python=$folder/python/bin/python
[[ -x "$python" ]] || "${PYTHON:-python3}" -m venv "$folder/python"
"$python" -m pip install -q --disable-pip-version-check 'pyarrow>=21'
pyarrow=$("$python" -c 'import pathlib, pyarrow; print(pathlib.Path(pyarrow.__file__).parent)')
version=$("$python" -c 'import pyarrow; print(pyarrow.__version__)')

# The package has its libraries under the names that programs look for when they run; a linker wants them without a
# number.
ln -sfn "$pyarrow/include" "$folder/include"
for name in libarrow libparquet; do
  library=$(echo "$pyarrow/$name".so.*)
  ln -sf "$library" "$folder/lib/"
  ln -sf "$library" "$folder/lib/$name.so"
done
cat >"$folder/lib/pkgconfig/parquet.pc" <<END
Name: Parquet
Description: Apache Arrow and Parquet, of Python's package pyarrow
Version: $version
Libs: -L$folder/lib -lparquet -larrow
Cflags: -I$folder/include
END
echo "Arrow $version: PKG_CONFIG_PATH=$folder/lib/pkgconfig"
