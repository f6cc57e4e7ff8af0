# epsflow_module(FOLDER TARGET <target> [PUBLIC_HEADERS <…>] [HEADERS <…>] [SOURCES <…>] [KERNELS <…>]): adds a folder, as io or
# io/read/text, to a target. Every header is reached as <epsflow/FOLDER/file.hpp> through a link in the build tree; the public
# ones are installed, and are reached under the same spelling there. A unity build compiles each folder as one file, but for
# KERNELS: sources that Highway includes again for each instruction set.
function(epsflow_module folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TARGET" "PUBLIC_HEADERS;HEADERS;SOURCES;KERNELS")
  set(include_root "${PROJECT_BINARY_DIR}/include")
  string(REGEX REPLACE "/.*" "" top "${folder}")
  file(MAKE_DIRECTORY "${include_root}/epsflow")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${top}" "${include_root}/epsflow/${top}" SYMBOLIC)
  list(TRANSFORM arg_PUBLIC_HEADERS PREPEND "${include_root}/epsflow/${folder}/")
  list(TRANSFORM arg_HEADERS PREPEND "${include_root}/epsflow/${folder}/")
  list(TRANSFORM arg_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/${folder}/")
  list(TRANSFORM arg_KERNELS PREPEND "${PROJECT_SOURCE_DIR}/${folder}/")
  target_sources(${arg_TARGET} PRIVATE ${arg_SOURCES} ${arg_KERNELS})
  set_target_properties(${arg_TARGET} PROPERTIES UNITY_BUILD_MODE GROUP)
  string(MAKE_C_IDENTIFIER "${folder}" group)
  set_source_files_properties(${arg_SOURCES} TARGET_DIRECTORY ${arg_TARGET} PROPERTIES UNITY_GROUP ${group})
  target_include_directories(${arg_TARGET} PRIVATE "${include_root}")
  if(arg_PUBLIC_HEADERS)
    string(MAKE_C_IDENTIFIER "${folder}_headers" set)
    target_sources(${arg_TARGET} PUBLIC FILE_SET "${set}" TYPE HEADERS BASE_DIRS "${include_root}" FILES ${arg_PUBLIC_HEADERS})
    # install() needs the name of every file set; see EpsflowInstall.cmake.
    set_property(TARGET ${arg_TARGET} APPEND PROPERTY EPSFLOW_HEADER_SETS "${set}")
  endif()
  set_property(GLOBAL APPEND PROPERTY EPSFLOW_INTERNAL_HEADERS ${arg_HEADERS})
endfunction()
