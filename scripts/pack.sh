#!/usr/bin/env bash
# Packs a build into a folder that runs on a machine without development packages (x86-64 Linux with glibc 2.36 or
# later; for the GPU, its driver): epsflow, the tests that search on a GPU and benchmarks that do in bin/, the libraries
# that they need in lib/. Writes FOLDER and FOLDER.tar.gz. A FOLDER that exists is replaced only where it is a bundle
# that this script made, with no file in it that the bundle's own list does not name; it is whole before the old one
# goes.
#   scripts/pack.sh FOLDER [BUILD [BENCHMARK …]]     BUILD: unless given build/bundle, which is built for all GPUs and
#                                                    processors
#                                                    BENCHMARK: of build/bin, besides; each has some 10 MiB
set -euo pipefail
[[ $# -ge 1 ]] || { echo "usage: pack.sh FOLDER [BUILD [BENCHMARK …]]" >&2; exit 2; }
folder=${1%/}
build=${2:-}
benchmarks=("${@:3}")
most_mib=60
list=.epsflow-bundle  # in FOLDER: the files that this script put there
new=$folder.new

# Fails where FOLDER holds anything that is not of a bundle.
check_is_bundle() {  # FOLDER
  [[ -e "$1" || -L "$1" ]] || return 0
  if [[ ! -d "$1" || -L "$1" || ! -f "$1/$list" ]]; then
    echo "pack.sh: $1 exists and is no bundle that pack.sh made; move it away or name another folder" >&2
    exit 1
  fi
  local strange
  strange=$(cd "$1" && find . ! -type d ! -path "./$list" | sort | comm -23 - "$list")
  if [[ -n "$strange" ]]; then
    strange=$(head -n 1 <<<"$strange")
    echo "pack.sh: $1 holds files that pack.sh did not put there, such as $strange; move them away" >&2
    exit 1
  fi
}
write_list() { (cd "$new" && find . ! -type d ! -path "./$list" | sort >"$list"); }

[[ -n "$folder" ]] || { echo "pack.sh: the root is no folder for a bundle" >&2; exit 2; }
export LC_ALL=C  # one order of names for sort and comm
check_is_bundle "$folder"
if [[ ! -d "$folder" && -e "$folder.tar.gz" ]]; then
  echo "pack.sh: $folder.tar.gz exists without its bundle beside it; move it away or name another folder" >&2
  exit 1
fi
check_is_bundle "$new"  # of a run that was broken off
if [[ -z "$build" ]]; then
  scripts=$(dirname "${BASH_SOURCE[0]}")
  "$scripts/build.sh" bundle
  build=$scripts/../build/bundle
fi
rm -rf "$new"
mkdir -p "$new/bin" "$new/lib"
write_list
trap write_list EXIT  # so that whatever is left of a run that fails is known as a bundle's
cmake --install "$build" --prefix "$new/install" >/dev/null
mv "$new"/install/bin/* "$new/bin/"
rm -rf "$new/install"
for program in "$build"/tests/test_gpu "$build"/tests/test_pipeline "${benchmarks[@]/#/$build/bin/}"; do
  if [[ -f "$program" ]]; then cp "$program" "$new/bin/"; fi
done
strip "$new"/bin/*

# The C and C++ runtimes belong to the system: the driver's libraries use them too.
system='/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv|util|gcc_s|stdc\+\+))\.so[^/]*$'
for program in "$new"/bin/*; do
  missing=$(ldd "$program" | awk '/not found/ {print $1}')
  [[ -z "$missing" ]] || { echo "pack.sh: $program needs $missing, which this system does not have" >&2; exit 1; }
  ldd "$program" | awk '$3 ~ /^\// {print $3}'
done | sort -u | grep -Ev "$system" | while read -r library; do cp -L "$library" "$new/lib/"; done
strip --strip-unneeded "$new"/lib/*

mib=$(du -sm --apparent-size "$new" | cut -f1)
if [[ $mib -ge $most_mib ]]; then
  remedy=
  if compgen -G "$new/lib/libarrow*" >/dev/null; then remedy="; a build with EPSFLOW_WITH_PARQUET=OFF takes 60 less"; fi
  echo "pack.sh: $folder has $mib MiB; less than $most_mib are wanted$remedy" >&2
  exit 1
fi
write_list
trap - EXIT
rm -rf "$folder"
mv "$new" "$folder"
tar -C "$(dirname "$folder")" -czf "$folder.tar.gz" "$(basename "$folder")"
libraries=$(find "$folder/lib" -type f | wc -l)
packed_mib=$(du -m --apparent-size "$folder.tar.gz" | cut -f1)
echo "$folder: $mib MiB, $libraries libraries; $folder.tar.gz: $packed_mib MiB"
