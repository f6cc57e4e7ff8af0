#!/usr/bin/env bash
# Packs a build into a folder that runs on a machine without development packages (x86-64 Linux with glibc 2.36 or later;
# for the GPU, its driver): epsflow, the tests that search on a GPU and the benchmarks in bin/, the libraries that they need
# in lib/. Writes FOLDER and FOLDER.tar.gz.
#   scripts/pack.sh FOLDER [BUILD]     BUILD: build/release unless given
set -euo pipefail
[[ $# -ge 1 ]] || { echo "usage: pack.sh FOLDER [BUILD]" >&2; exit 2; }
folder=$1
build=${2:-"$(dirname "${BASH_SOURCE[0]}")/../build/release"}
most_mib=60

rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/lib"
cmake --install "$build" --prefix "$folder/install" >/dev/null
mv "$folder"/install/bin/* "$folder/bin/"
rm -rf "$folder/install"
for program in "$build"/tests/test_gpu "$build"/tests/test_pipeline "$build"/bin/bench_*; do
  if [[ -f "$program" ]]; then cp "$program" "$folder/bin/"; fi
done
strip "$folder"/bin/*

# The C and C++ runtimes belong to the system: the driver's libraries use them too.
system='/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv|util|gcc_s|stdc\+\+))\.so[^/]*$'
for program in "$folder"/bin/*; do
  missing=$(ldd "$program" | awk '/not found/ {print $1}')
  [[ -z "$missing" ]] || { echo "pack.sh: $program needs $missing, which this system does not have" >&2; exit 1; }
  ldd "$program" | awk '$3 ~ /^\// {print $3}'
done | sort -u | grep -Ev "$system" | while read -r library; do cp -L "$library" "$folder/lib/"; done
strip --strip-unneeded "$folder"/lib/*

mib=$(du -sm --apparent-size "$folder" | cut -f1)
if [[ $mib -ge $most_mib ]]; then
  echo "pack.sh: $folder has $mib MiB; less than $most_mib are wanted" >&2
  exit 1
fi
tar -C "$(dirname "$folder")" -czf "$folder.tar.gz" "$(basename "$folder")"
echo "$folder: $mib MiB, $(find "$folder/lib" -type f | wc -l) libraries; $folder.tar.gz: $(du -m --apparent-size "$folder.tar.gz" | cut -f1) MiB"
