# epsflow_module(FOLDER TARGET <target> HEADERS <…> [SOURCES <…>]): adds one top-level folder to a library. Headers are
# reached as <epsflow/FOLDER/file.hpp> through a link in the build tree, and are installed under the same spelling.
function(epsflow_module folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TARGET" "HEADERS;SOURCES")
  set(include_root "${PROJECT_BINARY_DIR}/include")
  file(MAKE_DIRECTORY "${include_root}/epsflow")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${folder}" "${include_root}/epsflow/${folder}" SYMBOLIC)
  list(TRANSFORM arg_HEADERS PREPEND "${include_root}/epsflow/${folder}/")
  list(TRANSFORM arg_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/${folder}/")
  target_sources(${arg_TARGET} PRIVATE ${arg_SOURCES})
  target_sources(${arg_TARGET} PUBLIC FILE_SET "${folder}_headers" TYPE HEADERS BASE_DIRS "${include_root}"
                                      FILES ${arg_HEADERS})
  # install() needs the name of every file set; see EpsflowInstall.cmake.
  set_property(TARGET ${arg_TARGET} APPEND PROPERTY EPSFLOW_HEADER_SETS "${folder}_headers")
  set_property(GLOBAL APPEND PROPERTY EPSFLOW_PUBLIC_HEADERS ${arg_HEADERS})
endfunction()
