# EPSFLOW_CUDA: AUTO builds gpu/ where there is a CUDA compiler, ON insists, OFF leaves the folder out. Sets
# epsflow_with_cuda.
set(EPSFLOW_CUDA "AUTO" CACHE STRING "Build the GPU backend: AUTO, ON or OFF")
set_property(CACHE EPSFLOW_CUDA PROPERTY STRINGS AUTO ON OFF)
# 90 is machine code and PTX: later GPUs compile the latter when the program starts.
set(EPSFLOW_CUDA_ARCHITECTURES "80-real;90" CACHE STRING "GPU architectures, as in CMAKE_CUDA_ARCHITECTURES")

set(epsflow_with_cuda OFF)
if(NOT EPSFLOW_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)  # where it is installed, though seldom on the PATH
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(epsflow_with_cuda ON)
  elseif(EPSFLOW_CUDA STREQUAL "ON")
    message(FATAL_ERROR "EPSFLOW_CUDA is ON, but there is no CUDA compiler: install the CUDA Toolkit (12 or 13), put nvcc "
                        "on the PATH, or set EPSFLOW_CUDA=OFF")
  endif()
endif()

if(epsflow_with_cuda)
  set(CMAKE_CUDA_ARCHITECTURES "${EPSFLOW_CUDA_ARCHITECTURES}")
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12)
    message(FATAL_ERROR "CUDA ${CMAKE_CUDA_COMPILER_VERSION} is too old: epsflow needs 12 or later; or set EPSFLOW_CUDA=OFF")
  endif()
endif()
