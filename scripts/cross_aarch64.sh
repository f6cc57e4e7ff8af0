#!/usr/bin/env bash
# Builds the program for 64-bit ARM on another machine, without the formats that need a library of their own, and runs
# the sets whose labels are known under QEMU. Needs Debian 12's g++-12-aarch64-linux-gnu, qemu-user-static and
# mmdebstrap; the libraries come from Debian, too.
#   scripts/cross_aarch64.sh [options of cmake --build …]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$PWD/build/aarch64
root=$build/root
mkdir -p "$build"
if [[ ! -d "$root/usr" ]]; then
  mmdebstrap --architectures=arm64 --variant=extract bookworm "$root" \
    --include=libc6-dev,libstdc++-12-dev,linux-libc-dev,libtbb-dev,libhwy-dev,nlohmann-json3-dev,zlib1g-dev \
    --include=libfmt-dev,libboost-program-options-dev
fi
cat >"$build/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc-12)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++-12)
set(CMAKE_SYSROOT "$root")
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH "$root")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;$root")
set(ENV{PKG_CONFIG_LIBDIR} "$root/usr/lib/aarch64-linux-gnu/pkgconfig:$root/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "$root")
END
cmake -S . -B "$build/program" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$build/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_SKIP_RPATH=ON \
  -DEPSFLOW_CUDA=OFF -DEPSFLOW_BUILD_TESTS=OFF -DEPSFLOW_BUILD_EXAMPLES=OFF
cmake --build "$build/program" --target programs "$@"

# As the tests start it.
cat >"$build/epsflow" <<END
#!/bin/sh
exec qemu-aarch64-static -L "$root" "$build/program/bin/epsflow" "\$@"
END
chmod +x "$build/epsflow"
file -b "$build/program/bin/epsflow"
EPSFLOW_BINARY=$build/epsflow python3 tests/cli/small_golden_test.py tests/golden
