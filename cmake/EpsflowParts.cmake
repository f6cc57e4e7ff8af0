# The parts that a build may leave out.
include(CMakeDependentOption)
option(EPSFLOW_BUILD_IO "Build epsflow::io, which reads and writes files" ${PROJECT_IS_TOP_LEVEL})
cmake_dependent_option(EPSFLOW_BUILD_CLI "Build the program" ${PROJECT_IS_TOP_LEVEL} EPSFLOW_BUILD_IO OFF)
cmake_dependent_option(EPSFLOW_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL} EPSFLOW_BUILD_IO OFF)
cmake_dependent_option(EPSFLOW_BUILD_BENCHMARKS "Build the benchmarks" OFF EPSFLOW_BUILD_IO OFF)
cmake_dependent_option(EPSFLOW_BUILD_FUZZERS "Build the fuzz targets (needs clang)" OFF EPSFLOW_BUILD_IO OFF)
option(EPSFLOW_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(EPSFLOW_WITH_MPI "Build epsflow::mpi, sweeps over the processes of MPI, and its tests" OFF)
option(EPSFLOW_BUILD_PYTHON "Build the module of the Python package; what pip does" OFF)

# epsflow_file_format(NAME MODULE PACKAGE): the option EPSFLOW_WITH_<NAME>, for a file format that a library of its own
# reads and writes. AUTO takes it in where pkg-config knows MODULE (parquet, or parquet>=21), ON insists, OFF leaves it
# out. Sets epsflow_with_<NAME>; the target is PkgConfig::<NAME>. epsflow_formats lists what was asked about, for the
# summary, epsflow_format_modules what was taken in, as <NAME>=<MODULE>, for the package files.
function(epsflow_file_format name module package)
  set(option EPSFLOW_WITH_${name})
  set(${option} AUTO CACHE STRING "Read and write ${name} through ${module}: AUTO, ON or OFF")
  set_property(CACHE ${option} PROPERTY STRINGS AUTO ON OFF)
  if(NOT ${option} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "${option} is '${${option}}'; it is one of AUTO, ON, OFF")
  endif()
  set(found OFF)
  if(NOT ${option} STREQUAL "OFF")
    pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
    if(${name}_FOUND)
      set(found ON)
    elseif(${option} STREQUAL "ON")
      message(FATAL_ERROR "${option} is ON, but pkg-config does not find ${module}: install it (Debian package "
                          "${package}), or set ${option}=OFF")
    endif()
  endif()
  set(epsflow_with_${name} ${found} PARENT_SCOPE)
  set(epsflow_formats ${epsflow_formats} ${name} PARENT_SCOPE)
  if(found)
    set(epsflow_format_modules ${epsflow_format_modules} ${name}=${module} PARENT_SCOPE)
  endif()
endfunction()
