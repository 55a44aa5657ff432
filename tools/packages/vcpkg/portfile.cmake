# SPDX-License-Identifier: BSL-1.0
#
# An overlay port that builds heed from the checkout that it lies in:
#     vcpkg install heed --overlay-ports=tools/packages/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -D HEED_TESTS=OFF -D HEED_EXAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/heed/cmake)
vcpkg_fixup_pkgconfig()

# Headers only.
set(VCPKG_POLICY_EMPTY_INCLUDE_FOLDER_IN_DEBUG enabled)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug" "${CURRENT_PACKAGES_DIR}/lib")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
