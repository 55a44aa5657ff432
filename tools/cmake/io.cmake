# SPDX-License-Identifier: BSL-1.0
#
# heed::io is heed::heed with what include/heed/io/safetensors.hpp needs beside it; there is no such target where
# nlohmann-json is not found. The build includes this file, and so does the installed package.
if(NOT TARGET heed::io)
  if(NOT TARGET nlohmann_json::nlohmann_json)
    find_package(nlohmann_json 3.7.3 QUIET)
  endif()
  if(TARGET nlohmann_json::nlohmann_json)
    add_library(heed::io INTERFACE IMPORTED GLOBAL)
    target_link_libraries(heed::io INTERFACE heed::heed nlohmann_json::nlohmann_json)
  endif()
endif()
