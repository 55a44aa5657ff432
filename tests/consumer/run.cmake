# SPDX-License-Identifier: BSL-1.0
#
# Uses heed as a stranger would, in three ways: installs it into an empty prefix and finds it there, adds its folder,
# fetches its folder. Each way must configure, build and run.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    string(JOIN " " command ${ARGV})
    message(FATAL_ERROR "${command}\nended with ${code}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${work})
run(${CMAKE_COMMAND} --install ${heed_build} --prefix ${work}/prefix)

foreach(mode find_package add_subdirectory fetch_content)
  set(files ${with_io})
  if(NOT mode STREQUAL "find_package")
    set(files OFF) # once is enough: the target comes from the same file
  endif()
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/${mode} -G ${generator} -D mode=${mode} -D
      CMAKE_CXX_COMPILER=${compiler} -D CMAKE_PREFIX_PATH=${work}/prefix -D heed_source=${heed_source} -D
      with_io=${files})
  run(${CMAKE_COMMAND} --build ${work}/${mode})
  run(${work}/${mode}/consumer)
  message("${mode}: built and ran")
endforeach()
