# epsflow_folder(NAME [USES <folders>]): the target epsflow_NAME of a top-level folder of the library. The library takes
# its objects. It is also an archive of its own, so that a test which links one folder builds no more than that folder
# and those it uses.
function(epsflow_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES")
  list(TRANSFORM arg_USES PREPEND "epsflow_")
  add_library(epsflow_${name} STATIC)
  target_compile_features(epsflow_${name} PUBLIC cxx_std_20)
  target_include_directories(epsflow_${name} PUBLIC "${PROJECT_BINARY_DIR}/include")
  target_link_libraries(epsflow_${name} PUBLIC ${arg_USES} PRIVATE epsflow_options)
  set_target_properties(epsflow_${name} PROPERTIES EPSFLOW_LIBRARY epsflow)
  target_sources(epsflow PRIVATE $<TARGET_OBJECTS:epsflow_${name}>)
endfunction()

# epsflow_module(FOLDER TARGET <target> [PUBLIC_HEADERS <…>] [HEADERS <…>] [SOURCES <…>] [KERNELS <…>]): adds a folder,
# as io or io/read/text, to a target. Every header is reached as <epsflow/FOLDER/file.hpp> through a link in the build
# tree; the public ones are installed, and are reached under the same spelling there. A unity build compiles each folder
# as one file, but for KERNELS: sources that Highway includes again for each instruction set, and which are optimised
# more than others.
function(epsflow_module folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TARGET" "PUBLIC_HEADERS;HEADERS;SOURCES;KERNELS")
  set(include_root "${PROJECT_BINARY_DIR}/include")
  string(REGEX REPLACE "/.*" "" top "${folder}")
  file(MAKE_DIRECTORY "${include_root}/epsflow")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${top}" "${include_root}/epsflow/${top}" SYMBOLIC)
  list(TRANSFORM arg_PUBLIC_HEADERS PREPEND "${include_root}/epsflow/${folder}/")
  list(TRANSFORM arg_HEADERS PREPEND "${include_root}/epsflow/${folder}/")
  foreach(header IN LISTS arg_PUBLIC_HEADERS arg_HEADERS)
    if(NOT EXISTS "${header}")
      message(FATAL_ERROR "${folder}/CMakeLists.txt lists ${header}, which is not there")
    endif()
  endforeach()
  list(TRANSFORM arg_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/${folder}/")
  list(TRANSFORM arg_KERNELS PREPEND "${PROJECT_SOURCE_DIR}/${folder}/")
  target_include_directories(${arg_TARGET} PRIVATE "${include_root}")
  string(MAKE_C_IDENTIFIER "${folder}" group)
  epsflow_unite_cuda(arg_SOURCES "${group}")
  epsflow_unite(${arg_TARGET} "${group}" ${arg_SOURCES})
  target_sources(${arg_TARGET} PRIVATE ${arg_SOURCES} ${arg_KERNELS})
  set_property(SOURCE ${arg_KERNELS} TARGET_DIRECTORY ${arg_TARGET}
               APPEND PROPERTY COMPILE_OPTIONS ${epsflow_kernel_options})
  if(arg_PUBLIC_HEADERS)
    set(library ${arg_TARGET})
    get_target_property(of_library ${arg_TARGET} EPSFLOW_LIBRARY)
    if(of_library)
      set(library ${of_library})
    endif()
    set(set "${group}_headers")
    target_sources(${library} PUBLIC
                   FILE_SET "${set}" TYPE HEADERS BASE_DIRS "${include_root}" FILES ${arg_PUBLIC_HEADERS})
    # install() needs the name of every file set; see EpsflowInstall.cmake.
    set_property(TARGET ${library} APPEND PROPERTY EPSFLOW_HEADER_SETS "${set}")
  endif()
  set_property(GLOBAL APPEND PROPERTY EPSFLOW_INTERNAL_HEADERS ${arg_HEADERS})
endfunction()

set(EPSFLOW_UNITY_KIB 0 CACHE STRING
    "Begin another file of a unity build after so many KiB of a folder's sources; 0: one for each folder")

# epsflow_unite(TARGET GROUP SOURCES…): sources that a unity build compiles as one file, or as several of some
# EPSFLOW_UNITY_KIB.
function(epsflow_unite target group)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  set(number 0)
  set(bytes 0)
  foreach(source IN LISTS ARGN)
    set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP "${group}_${number}")
    file(SIZE "${source}" size)
    math(EXPR bytes "${bytes} + ${size}")
    if(EPSFLOW_UNITY_KIB GREATER 0 AND bytes GREATER_EQUAL "${EPSFLOW_UNITY_KIB}000")
      math(EXPR number "${number} + 1")
      set(bytes 0)
    endif()
  endforeach()
endfunction()

# epsflow_unite_cuda(SOURCES GROUP): replaces the .cu files of the list by one file that includes them, unless
# EPSFLOW_UNITY_KIB asks for small ones. CMake itself unites CUDA sources since 3.31 only. The headers that kernels
# include take nvcc longer than the kernels.
function(epsflow_unite_cuda list group)
  set(sources ${${list}})
  set(kernels ${sources})
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  list(LENGTH kernels count)
  if(NOT CMAKE_UNITY_BUILD OR EPSFLOW_UNITY_KIB GREATER 0 OR count LESS 2)
    return()
  endif()
  list(FILTER sources EXCLUDE REGEX "\\.cu$")
  list(TRANSFORM kernels REPLACE "(.+)" "#include \"\\1\"\n")
  list(JOIN kernels "" text)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${group}.cu")
  file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
  set(${list} ${sources} "${file}" PARENT_SCOPE)
endfunction()
