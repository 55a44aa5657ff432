# SPDX-License-Identifier: BSL-1.0
#
# heed::kernels, for programs of many files: the loops compiled once, and heed::heed without them. It is built only where
# something links it, with the flags of this build: CMAKE_CXX_FLAGS must choose the instruction set of all. The build
# includes this file, and so does the installed package, for which the program that finds it compiles the loops.
if(NOT TARGET heed_kernels)
  set(heed_kernels_source ${CMAKE_CURRENT_BINARY_DIR}/heed_kernels.cpp)
  file(CONFIGURE OUTPUT ${heed_kernels_source} CONTENT "#include <heed/src.hpp>\n")

  add_library(heed_kernels STATIC EXCLUDE_FROM_ALL ${heed_kernels_source})
  add_library(heed::kernels ALIAS heed_kernels)
  target_link_libraries(heed_kernels PUBLIC heed::heed)
  target_compile_definitions(heed_kernels PUBLIC HEED_SEPARATE_COMPILATION)
endif()
