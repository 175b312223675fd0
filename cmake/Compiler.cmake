# Language standard, warnings and sanitizers, for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT WARPALIGN_PRECOMPILE)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
elseif(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache$")
  # By default ccache keeps nothing that was compiled with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      ${CMAKE_CXX_COMPILER_LAUNCHER})
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()

# C++ warnings; linked privately by our own targets only.
add_library(warpalign_warnings INTERFACE)
target_compile_options(warpalign_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${WARPALIGN_WERROR}>>:-Werror>)

# Host code that only launches kernels, reads files and writes reports: -O2, which costs a tenth less to
# compile than -O3. Core computes on the host too, and has -O3.
add_library(warpalign_light_code INTERFACE)
target_compile_options(warpalign_light_code INTERFACE
  "$<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<CONFIG:Release>>:-O2;-fvect-cost-model=dynamic>")

# Code that runs once a call: command lines, help texts, reports.
add_library(warpalign_cold_code INTERFACE)
target_compile_options(warpalign_cold_code INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)

# GCC 12 takes the short buffer of a std::string for too small where strings are joined (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(warpalign_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread>)
endif()

# Lines that run are counted, in whatever links this: core and the program. Optimisation would join
# lines of several branches.
add_library(warpalign_coverage INTERFACE)
if(WARPALIGN_COVERAGE)
  target_compile_options(warpalign_coverage INTERFACE $<$<COMPILE_LANGUAGE:CXX>:--coverage;-O1>)
  target_link_options(warpalign_coverage INTERFACE --coverage)
endif()

if(WARPALIGN_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${WARPALIGN_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${WARPALIGN_SANITIZE})
endif()
