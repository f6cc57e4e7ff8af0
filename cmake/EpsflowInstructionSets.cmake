# EPSFLOW_INSTRUCTION_SETS: all compiles the vector code for every instruction set that adds something; the best one is
# chosen when the program runs. native compiles it for the best one of this machine alone, which takes a third as long:
# for checks, and for programs that stay here. Sets epsflow_kernel_options, which KERNELS of epsflow_module() are
# compiled with.
set(EPSFLOW_INSTRUCTION_SETS "all" CACHE STRING "Instruction sets of the vector code: all or native")
set_property(CACHE EPSFLOW_INSTRUCTION_SETS PROPERTY STRINGS all native)
if(NOT EPSFLOW_INSTRUCTION_SETS MATCHES "^(all|native)$")
  message(FATAL_ERROR "EPSFLOW_INSTRUCTION_SETS is '${EPSFLOW_INSTRUCTION_SETS}'; it is one of all, native")
endif()
set(epsflow_kernel_options $<$<CONFIG:Release>:-O3>)
if(EPSFLOW_INSTRUCTION_SETS STREQUAL "native")
  try_run(epsflow_ran epsflow_compiled "${PROJECT_BINARY_DIR}/instruction_sets"
          "${CMAKE_CURRENT_LIST_DIR}/best_instruction_set.cpp"
          CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}" "-DCMAKE_CXX_STANDARD=20"
          LINK_LIBRARIES PkgConfig::HWY RUN_OUTPUT_VARIABLE epsflow_best_target)
  if(NOT epsflow_compiled OR NOT epsflow_ran EQUAL 0)
    message(FATAL_ERROR "Highway does not tell this machine's instruction sets; set EPSFLOW_INSTRUCTION_SETS=all")
  endif()
  add_compile_definitions(EPSFLOW_BEST_TARGET=${epsflow_best_target})
  list(APPEND epsflow_kernel_options -march=native)  # so that there is no code beside it for machines without
endif()
