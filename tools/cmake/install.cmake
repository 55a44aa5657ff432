# SPDX-License-Identifier: BSL-1.0
#
# `cmake --install` puts the headers in include/heed and a package that `find_package(heed)` finds in share/heed/cmake.
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
              ${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake DESTINATION ${heed_package_dir})
install(FILES tools/gdb/heed.py DESTINATION ${CMAKE_INSTALL_DATADIR}/heed/gdb)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
