#!/usr/bin/env bash
# Makes the Debian packages of the last commit in FOLDER: the source package, epsflow (the program) and libepsflow-dev.
#   scripts/deb.sh FOLDER [options of dpkg-buildpackage …]
# Needs dpkg-dev, debhelper and the Build-Depends of packaging/debian/control. The version is that of CMakeLists.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ $# -ge 1 ]] || { echo "usage: deb.sh FOLDER [options of dpkg-buildpackage …]" >&2; exit 2; }
version=$(scripts/version.sh)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
source=$folder/epsflow-$version

rm -rf "$source"
git archive --prefix="epsflow-$version/" HEAD | gzip -9n >"$folder/epsflow_$version.orig.tar.gz"
tar -xzf "$folder/epsflow_$version.orig.tar.gz" -C "$folder"
cp -r packaging/debian "$source/debian"
# Of the commit's time, so that the same commit gives the same package.
cat >"$source/debian/changelog" <<END
epsflow ($version-1) unstable; urgency=medium

  * Version $version. See CHANGELOG.md.

 -- $(sed -n 's/^Maintainer: //p' packaging/debian/control)  $(git log -1 --format=%cD)
END
cd "$source"
dpkg-buildpackage -us -uc "${@:2}"
