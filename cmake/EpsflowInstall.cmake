# What `cmake --install` puts in place: the libraries, their public headers, the program, and the package files that
# make find_package(epsflow) work. epsflow::io is an export set of its own, so that a user of epsflow::epsflow alone
# needs nothing that reads files.
set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/epsflow")

function(epsflow_install_library target export_set)
  get_target_property(header_sets ${target} EPSFLOW_HEADER_SETS)
  set(header_args)
  foreach(header_set IN LISTS header_sets)
    list(APPEND header_args FILE_SET ${header_set} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  endforeach()
  install(TARGETS ${target} EXPORT ${export_set}
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          ${header_args})
  install(EXPORT ${export_set} NAMESPACE epsflow:: DESTINATION "${config_dir}")
endfunction()

epsflow_install_library(epsflow epsflowTargets)
if(EPSFLOW_WITH_MPI)
  epsflow_install_library(epsflow_mpi epsflowMpiTargets)
endif()
if(EPSFLOW_BUILD_IO)
  epsflow_install_library(epsflow_io epsflowIoTargets)
  install(TARGETS epsflow_reader RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
if(EPSFLOW_BUILD_CLI)
  install(TARGETS epsflow_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/epsflowConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/epsflowConfig.cmake" INSTALL_DESTINATION "${config_dir}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/epsflowConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/epsflowConfig.cmake" "${PROJECT_BINARY_DIR}/epsflowConfigVersion.cmake"
        DESTINATION "${config_dir}")
