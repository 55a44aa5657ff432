# SPDX-License-Identifier: BSL-1.0
#
# What heed::heed stands on. The build includes this file, and so does the installed package: one list, so that the
# two can't disagree. Targets after it: Boost::headers, heed::xsimd, OpenMP::OpenMP_CXX.
if(NOT TARGET Boost::headers)
  if(POLICY CMP0167)
    cmake_policy(SET CMP0167 NEW) # Boost's own package file, not CMake's old search module
  endif()
  find_package(Boost 1.74 REQUIRED)
endif()

# The headers are looked for by hand: xsimd's own package refuses every major version but the one that is named, and
# Debian 12's links a library (xtl) that neither heed needs nor Debian installs with it.
if(NOT TARGET heed::xsimd)
  add_library(heed::xsimd INTERFACE IMPORTED GLOBAL)
  if(TARGET xsimd)
    target_link_libraries(heed::xsimd INTERFACE xsimd)
  else()
    find_path(HEED_XSIMD_INCLUDE_DIR xsimd/xsimd.hpp REQUIRED)
    mark_as_advanced(HEED_XSIMD_INCLUDE_DIR)
    file(STRINGS ${HEED_XSIMD_INCLUDE_DIR}/xsimd/config/xsimd_config.hpp heed_xsimd_version
         REGEX "define XSIMD_VERSION_(MAJOR|MINOR) [0-9]+")
    list(TRANSFORM heed_xsimd_version REPLACE ".* ([0-9]+).*" "\\1")
    list(JOIN heed_xsimd_version . heed_xsimd_version)
    if(heed_xsimd_version VERSION_LESS 8.1)
      message(FATAL_ERROR "heed needs xsimd 8.1 or newer, found ${heed_xsimd_version} in ${HEED_XSIMD_INCLUDE_DIR}")
    endif()
    target_include_directories(heed::xsimd INTERFACE ${HEED_XSIMD_INCLUDE_DIR})
  endif()
endif()

if(NOT TARGET OpenMP::OpenMP_CXX)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
endif()
