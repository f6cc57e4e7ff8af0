# Warnings and sanitizers of epsflow's own code, on an interface target that users never see.
add_library(epsflow_developer INTERFACE)
set(cxx "$<COMPILE_LANGUAGE:CXX>")
set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Wno-sign-conversion)
target_compile_options(epsflow_developer INTERFACE
                       "$<${cxx}:${warnings}>"
                       "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow>")
# GCC 12 warns of an overlap inside std::string's own operator+ that cannot be (GCC bug 105651).
target_compile_options(epsflow_developer INTERFACE
                       $<$<AND:${cxx},$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
if(EPSFLOW_WARNINGS_AS_ERRORS)
  target_compile_options(epsflow_developer INTERFACE $<${cxx}:-Werror>
                                                     "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>")
endif()
if(EPSFLOW_SANITIZE)
  # UBSan's vptr check fires inside TBB's own headers.
  set(flags -fsanitize=${EPSFLOW_SANITIZE} -fno-omit-frame-pointer)
  if(EPSFLOW_SANITIZE MATCHES "undefined")
    list(APPEND flags -fno-sanitize=vptr -fno-sanitize-recover=undefined)
  endif()
  target_compile_options(epsflow_developer INTERFACE "$<${cxx}:${flags}>")
  target_link_options(epsflow_developer INTERFACE ${flags})
endif()
# Relocations of programs take a fiftieth of them, and a twentieth of that when packed, where linker and loader (glibc
# 2.36) know how. Not of the Python module, whose wheels run on older ones.
if(NOT CMAKE_CROSSCOMPILING)
  include(CheckCXXSourceRuns)
  set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,-z,pack-relative-relocs)
  check_cxx_source_runs("int main() {}" epsflow_packs_relocations)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(epsflow_packs_relocations)
    add_link_options("$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-Wl,-z,pack-relative-relocs>")
  endif()
endif()
