# SPDX-License-Identifier: BSL-1.0
#
# Read by tools/demo, tools/test and .ci/run: what they need is installed here, and the number of jobs chosen.
# shellcheck shell=bash

# install_missing WORD...: installs the Debian packages behind the words, if they are missing.
# Words: build, clang, format, tidy, ccache, gdb, docs, interop, mdspan, clangd, valgrind.
install_missing() {
  local packages=() word
  need() { # need PACKAGE COMMAND-THAT-SUCCEEDS-WHEN-IT-IS-THERE...
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || packages+=("$package")
  }
  for word in "$@"; do
    case $word in
      build)
        need g++ command -v "${CXX:-g++}"
        need cmake command -v cmake
        need ninja-build command -v ninja
        need python3 command -v python3
        need libboost-dev has_header boost/hana.hpp
        need libboost-test-dev has_header boost/test/unit_test.hpp
        need libxsimd-dev has_header xsimd/xsimd.hpp
        need nlohmann-json3-dev has_header nlohmann/json.hpp
        ;;
      clang)
        need clang command -v clang++
        need libomp-dev clang_has_openmp
        ;;
      format) need clang-format command -v clang-format ;;
      tidy) need clang-tidy command -v clang-tidy ;;
      ccache) need ccache command -v ccache ;;
      gdb) need gdb command -v gdb ;;
      docs) need doxygen command -v doxygen ;;
      interop) # the libraries whose arrays heed/interop knows
        need libeigen3-dev has_header eigen3/Eigen/Core
        need libxtensor-dev has_header xtensor
        need libdlpack-dev has_header dlpack/dlpack.h
        need python3-numpy python3 -c 'import numpy'
        ;;
      mdspan) # a standard library that has std::mdspan
        need clang-19 command -v clang++-19
        need libc++-19-dev has_header ../lib/llvm-19/include/c++/v1/mdspan
        need libc++abi-19-dev has_header ../lib/llvm-19/lib/libc++abi.a
        ;;
      clangd) need clangd command -v clangd ;;
      valgrind)
        need valgrind command -v valgrind
        need libc6-dbg test -e /usr/share/doc/libc6-dbg # without it valgrind cannot follow strlen and its kin
        ;;
    esac
  done
  [ ${#packages[@]} -eq 0 ] && return 0

  if ! command -v apt-get >/dev/null; then
    echo "heed needs what Debian calls: ${packages[*]}. Please install them; there is no apt-get here." >&2
    return 1
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "Please install as root: apt-get install ${packages[*]}" >&2; return 1; }
    as_root=(sudo)
  fi
  echo "Installing: ${packages[*]}"
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
}

# Looks where a compiler looks without flags, and where CMAKE_PREFIX_PATH points.
has_header() {
  local prefix prefixes=${CMAKE_PREFIX_PATH:-}
  for prefix in ${prefixes//:/ } /usr /usr/local; do
    [ -e "$prefix/include/$1" ] && return 0
  done
  return 1
}

clang_has_openmp() {
  echo '#include <omp.h>' | clang++ -fopenmp -fsyntax-only -x c++ -
}

# One compilation of fused kernels may take more than a gigabyte.
job_count() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ {print int($2 / 1024 / 1024 / 2)}' /proc/meminfo)
  [ "${memory:-1}" -lt 1 ] && memory=1
  echo $((cores < memory ? cores : memory))
}

# Uses ccache where it is there. -march=native means another machine elsewhere, so each kind has its own space.
use_ccache() {
  command -v ccache >/dev/null || return 0
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  CCACHE_NAMESPACE=heed-$(grep -m1 '^flags' /proc/cpuinfo | cksum | cut -d' ' -f1)
  export CCACHE_NAMESPACE
  export CCACHE_SLOPPINESS=pch_defines,time_macros # precompiled headers
}

# build_preset PRESET [CMAKE-ARGUMENT...] [-- TARGET...]
build_preset() {
  local preset=$1 configure=() targets=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    configure+=("$1")
    shift
  done
  [ "${1:-}" = -- ] && shift
  [ $# -gt 0 ] && targets=(--target "$@")
  cmake --preset "$preset" "${configure[@]}" --log-level=WARNING &&
    cmake --build --preset "$preset" --parallel "$(job_count)" "${targets[@]}"
}
