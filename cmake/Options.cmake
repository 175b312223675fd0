# Options of the configuration. AUTO builds a backend if its dependencies are found.
foreach(backend IN LISTS WARPALIGN_BACKENDS)
  string(TOUPPER ${backend} upper)
  set(WARPALIGN_${upper} AUTO CACHE STRING "Build the ${backend} backend: AUTO, ON or OFF")
  set_property(CACHE WARPALIGN_${upper} PROPERTY STRINGS AUTO ON OFF)
endforeach()
option(WARPALIGN_BUILD_PROGRAM "Build the warpalign command line program" ${PROJECT_IS_TOP_LEVEL})
option(WARPALIGN_BUILD_TESTS "Build the tests and examples" ${PROJECT_IS_TOP_LEVEL})
option(WARPALIGN_BUILD_PYTHON "Build the Python package (script/python-test does)" OFF)
option(WARPALIGN_OPENCL_LINK
       "Link the OpenCL backend to the ICD loader; OFF: it opens the loader when it is used" ON)
option(WARPALIGN_CLFFT "Let the configuration select clFFT for the OpenCL backend" ON)
option(WARPALIGN_WERROR "Treat compiler warnings as errors" OFF)
option(WARPALIGN_COVERAGE "Count executed lines of core and the program (script/coverage)" OFF)
option(WARPALIGN_PRECOMPILE
       "Precompile headers; OFF: a source that lacks an #include fails to compile" ON)
option(WARPALIGN_FOLDER_UNITS
       "Compile the sources of a folder together; OFF: each alone, for changing them" ON)
option(WARPALIGN_BENCHMARKS
       "Build the program's commands bench and experiment; tests need them" ON)
set(WARPALIGN_SANITIZE "" CACHE STRING "Sanitizers for host code, e.g. address,undefined")

set(WARPALIGN_CUDA_ARCHITECTURES "" CACHE STRING
    "Like CMAKE_CUDA_ARCHITECTURES; released: all of a release; empty: of this machine's GPUs")

if(WARPALIGN_BUILD_PROGRAM AND WARPALIGN_BUILD_TESTS AND NOT WARPALIGN_BENCHMARKS)
  message(FATAL_ERROR "WARPALIGN_BUILD_TESTS needs WARPALIGN_BENCHMARKS=ON: tests run bench.")
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
