# EPSFLOW_CUDA: AUTO builds gpu/ where there is a CUDA compiler that works, ON insists, OFF leaves the folder out. Sets
# epsflow_with_cuda.
set(EPSFLOW_CUDA "AUTO" CACHE STRING "Build the GPU backend: AUTO, ON or OFF")
set_property(CACHE EPSFLOW_CUDA PROPERTY STRINGS AUTO ON OFF)
# 90 is machine code and PTX: later GPUs compile the latter when the program starts.
set(architectures "80-real;90")
if(DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(architectures "${CMAKE_CUDA_ARCHITECTURES}")
elseif(DEFINED ENV{CUDAARCHS})
  set(architectures "$ENV{CUDAARCHS}")
endif()
set(EPSFLOW_CUDA_ARCHITECTURES "${architectures}" CACHE STRING "GPU architectures, as in CMAKE_CUDA_ARCHITECTURES")

set(epsflow_with_cuda OFF)
if(NOT EPSFLOW_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "EPSFLOW_CUDA is '${EPSFLOW_CUDA}'; it is one of AUTO, ON, OFF")
endif()
if(NOT EPSFLOW_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS /usr/local/cuda/bin/nvcc)
    set(ENV{CUDACXX} /usr/local/cuda/bin/nvcc)  # where it is installed, though seldom on the PATH
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_ARCHITECTURES "${EPSFLOW_CUDA_ARCHITECTURES}")
    enable_language(CUDA)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
      set(epsflow_with_cuda ON)
      find_package(CUDAToolkit REQUIRED)
    endif()
  endif()
  if(NOT epsflow_with_cuda)
    set(problem "no CUDA compiler of version 12 or later works here (found: '${CMAKE_CUDA_COMPILER_VERSION}')")
    if(EPSFLOW_CUDA STREQUAL "ON")
      message(FATAL_ERROR "EPSFLOW_CUDA is ON, but ${problem}: install the CUDA Toolkit 12 or 13, put nvcc on the "
                          "PATH, or set EPSFLOW_CUDA=OFF")
    elseif(CMAKE_CUDA_COMPILER)
      message(WARNING "Without the GPU backend: ${problem}")
    endif()
  endif()
endif()

# What kernels are compiled with. CMake 3.25 does not know C++20 for nvcc; contraction would round a*b+c once instead of
# twice; packed GPU code is a fifth of a program.
set(epsflow_cuda_options -std=c++20 --fmad=false -Xfatbin=-compress-all -Xcompiler=-ffp-contract=off)
if(epsflow_with_cuda AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
  list(APPEND epsflow_cuda_options --compress-mode=size)
endif()
