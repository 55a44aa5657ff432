# SPDX-License-Identifier: BSL-1.0
#
# How heed builds its own tests, examples and benchmarks: the target heed_build, never installed and never seen by a
# user, who chooses warnings and instruction set for himself.
option(HEED_WARNINGS_AS_ERRORS "Treat warnings in heed's own targets as errors" OFF)
set(HEED_ARCH native CACHE STRING "Instruction set of heed's own targets: native, avx512, avx2 or sse")
set_property(CACHE HEED_ARCH PROPERTY STRINGS native avx512 avx2 sse)
set(HEED_SANITIZE "" CACHE STRING "Sanitizers of heed's own targets, for example address,undefined")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE) # -O3
endif()
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

# The folder of trained weights, which does not belong to the repository. Programs skip what they do not find in it.
set(heed_data_default ${PROJECT_SOURCE_DIR}/../shared/data)
if(DEFINED ENV{HEED_DATA})
  set(heed_data_default $ENV{HEED_DATA})
endif()
set(HEED_DATA ${heed_data_default} CACHE PATH "Folder of trained weights, for the tests and examples that read them")

set(heed_arch_native -march=native)
set(heed_arch_avx512 -march=skylake-avx512 -mprefer-vector-width=512)
set(heed_arch_avx2 -march=haswell)
set(heed_arch_sse "") # what every x86-64 has
if(NOT DEFINED heed_arch_${HEED_ARCH})
  message(FATAL_ERROR "HEED_ARCH is ${HEED_ARCH}; it must be native, avx512, avx2 or sse")
endif()

add_library(heed_build INTERFACE)
target_link_libraries(heed_build INTERFACE heed::heed)
target_compile_options(
  heed_build INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion ${heed_arch_${HEED_ARCH}}
                       $<$<BOOL:${HEED_WARNINGS_AS_ERRORS}>:-Werror>)
# g++ 12 sees overlapping copies in every `"text" + std::string` (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(heed_build INTERFACE -Wno-restrict)
endif()
if(HEED_SANITIZE)
  set(heed_sanitize -fsanitize=${HEED_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(heed_build INTERFACE ${heed_sanitize})
  target_link_options(heed_build INTERFACE ${heed_sanitize})
endif()
# Shared by the programs that link it; the flags of all of heed's own targets are one set.
target_link_libraries(heed_kernels PRIVATE heed_build)
