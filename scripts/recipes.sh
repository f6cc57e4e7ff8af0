#!/usr/bin/env bash
# Fills in the recipes of conda-forge, Spack and vcpkg for a release: its version and the checksums of its sources.
#   scripts/recipes.sh FOLDER SDIST      SDIST: epsflow-VERSION.tar.gz, as scripts/wheels.sh makes it and a release has
#                                        it
set -euo pipefail
[[ $# -eq 2 ]] || { echo "usage: recipes.sh FOLDER SDIST" >&2; exit 2; }
folder=$1
sdist=$2
name=$(basename "$sdist")
[[ "$name" =~ ^epsflow-([0-9.]+)\.tar\.gz$ && -f "$sdist" ]] ||
  { echo "recipes.sh: $sdist is no file epsflow-VERSION.tar.gz" >&2; exit 1; }
version=${BASH_REMATCH[1]}
sha256=$(sha256sum "$sdist" | cut -d' ' -f1)
sha512=$(sha512sum "$sdist" | cut -d' ' -f1)

packaging=$(dirname "${BASH_SOURCE[0]}")/../packaging
for recipe in conda/recipe.yaml spack/package.py vcpkg/vcpkg.json vcpkg/portfile.cmake; do
  mkdir -p "$folder/$(dirname "$recipe")"
  sed "s/@VERSION@/$version/g; s/@SHA256@/$sha256/g; s/@SHA512@/$sha512/g" "$packaging/$recipe" >"$folder/$recipe"
done
