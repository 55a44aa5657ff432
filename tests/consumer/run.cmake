# SPDX-License-Identifier: BSL-1.0
#
# Uses heed as a stranger would: installs it into an empty prefix and finds it there by CMake and by pkg-config, adds its
# folder, fetches its folder, unpacks its Debian package, includes it as one header. Each way must configure, build and
# run. A way whose tool (pkg-config, dpkg-deb) is missing is left out and says so.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    string(JOIN " " command ${ARGV})
    message(FATAL_ERROR "${command}\nended with ${code}\n${output}")
  endif()
endfunction()

function(try_cmake mode prefix folder)
  set(files ${with_io})
  if(NOT folder MATCHES "/find_package$")
    set(files OFF) # once is enough: heed::io comes from the same file everywhere
  endif()
  set(kernels OFF)
  if(folder MATCHES "/(add_subdirectory|from_deb)$") # once as a folder, once as a package
    set(kernels ON)
  endif()
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${folder} -G ${generator} -D mode=${mode} -D
      CMAKE_CXX_COMPILER=${compiler} -D CMAKE_PREFIX_PATH=${prefix} -D heed_source=${heed_source} -D
      with_io=${files} -D with_kernels=${kernels})
  run(${CMAKE_COMMAND} --build ${folder})
  run(${folder}/consumer)
endfunction()

file(REMOVE_RECURSE ${work})
run(${CMAKE_COMMAND} --install ${heed_build} --prefix ${work}/prefix)

foreach(mode find_package add_subdirectory fetch_content)
  try_cmake(${mode} ${work}/prefix ${work}/${mode})
  message("${mode}: built and ran")
endforeach()

find_program(pkg_config NAMES pkg-config pkgconf)
if(pkg_config)
  set(ENV{PKG_CONFIG_PATH} ${work}/prefix/share/pkgconfig)
  execute_process(COMMAND ${pkg_config} --cflags --libs heed OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE
                          COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND ${flags})
  run(${compiler} ${CMAKE_CURRENT_LIST_DIR}/main.cpp ${CMAKE_CURRENT_LIST_DIR}/other.cpp ${flags} -o
      ${work}/by_pkg_config)
  run(${work}/by_pkg_config)
  message("pkg-config: built and ran")
else()
  message("pkg-config: left out, since it is not installed")
endif()

find_program(dpkg_deb dpkg-deb)
find_program(cpack cpack)
if(dpkg_deb AND cpack)
  run(${cpack} --config ${heed_build}/CPackConfig.cmake -G DEB -B ${work}/deb)
  file(GLOB packages ${work}/deb/*.deb)
  run(${dpkg_deb} --extract ${packages} ${work}/unpacked)
  try_cmake(find_package ${work}/unpacked/usr ${work}/from_deb)
  message("Debian package: unpacked, built and ran")
else()
  message("Debian package: left out, since dpkg-deb is not installed")
endif()

find_program(python python3 REQUIRED)
file(MAKE_DIRECTORY ${work}/single/heed)
run(${python} ${heed_source}/tools/amalgamate ${work}/single/heed/heed.hpp)
run(${compiler} -std=c++20 -fopenmp -I${work}/single ${CMAKE_CURRENT_LIST_DIR}/main.cpp
    ${CMAKE_CURRENT_LIST_DIR}/other.cpp -o ${work}/by_single_header)
run(${work}/by_single_header)
message("single header: built and ran")

# The same with the layers and optional headers in it, which may not stand beside it.
file(MAKE_DIRECTORY ${work}/single_with_more)
run(${python} ${heed_source}/tools/amalgamate ${work}/single_with_more/heed_single.hpp nn.hpp io/print.hpp io/npy.hpp
    interop/mdspan.hpp)
run(${compiler} -std=c++20 -fopenmp -I${work}/single_with_more ${CMAKE_CURRENT_LIST_DIR}/layers.cpp
    ${CMAKE_CURRENT_LIST_DIR}/layers_other.cpp -o ${work}/by_single_header_with_more)
run(${work}/by_single_header_with_more)
foreach(pair "heed_single.hpp heed/heed.hpp" "heed/io/print.hpp heed_single.hpp")
  separate_arguments(pair)
  list(JOIN pair ">\n#include <" includes)
  file(WRITE ${work}/both.cpp "#include <${includes}>\n")
  execute_process(COMMAND ${compiler} -std=c++20 -fsyntax-only -Wfatal-errors -I${work}/single_with_more
                          -I${heed_source}/include ${work}/both.cpp RESULT_VARIABLE code ERROR_VARIABLE output)
  if(code EQUAL 0 OR NOT output MATCHES "heed: the single header and another one of heed define everything twice")
    message(FATAL_ERROR "${pair} in one unit: ended with ${code}\n${output}")
  endif()
endforeach()
message("single header with layers, io and interop: built and ran, and refuses others beside it")
