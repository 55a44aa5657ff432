# SPDX-License-Identifier: BSL-1.0
#
# `cmake --install` puts the headers in include/heed, a package that `find_package(heed)` finds in share/heed/cmake,
# heed.pc for pkg-config and what GDB shows tensors with. `cpack` in the build folder makes a Debian package of them.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(heed_package_dir ${CMAKE_INSTALL_DATADIR}/heed/cmake)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/heedConfig.cmake.in heedConfig.cmake
                              INSTALL_DESTINATION ${heed_package_dir})
write_basic_package_version_file(heedConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

install(DIRECTORY include/heed DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(TARGETS heed EXPORT heedTargets)
install(EXPORT heedTargets NAMESPACE heed:: DESTINATION ${heed_package_dir})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heedConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/heedConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake ${CMAKE_CURRENT_LIST_DIR}/io.cmake ${CMAKE_CURRENT_LIST_DIR}/kernels.cmake
        DESTINATION ${heed_package_dir})
install(FILES tools/gdb/heed.py DESTINATION ${CMAKE_INSTALL_DATADIR}/heed/gdb)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_file(${CMAKE_CURRENT_LIST_DIR}/heed.pc.in heed.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heed.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)

if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME libheed-dev)
  set(CPACK_PACKAGE_CONTACT "the authors of heed <heed@localhost>")
  set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all) # headers
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libboost-dev (>= 1.74), libxsimd-dev (>= 8.1)")
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS nlohmann-json3-dev) # for heed/io/safetensors.hpp
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++ (>= 12) | clang (>= 14)")
  set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
      "header-only C++20 library for attention as typed tensor expressions
 Formulas over named axes, checked at compile time and run as fused, parallel SIMD loops.")
  include(CPack)
endif()
