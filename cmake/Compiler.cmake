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
  # By default, ccache does not cache compilations with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      ${CMAKE_CXX_COMPILER_LAUNCHER})
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()

# C++ warnings, which only our own targets link, privately.
add_library(warpalign_warnings INTERFACE)
target_compile_options(warpalign_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${WARPALIGN_WERROR}>>:-Werror>)

# -O2 for host code that only launches kernels, reads files and writes reports: it compiles 10 %
# faster than -O3. Core computes on the host and keeps -O3.
add_library(warpalign_light_code INTERFACE)
target_compile_options(warpalign_light_code INTERFACE
  "$<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<CONFIG:Release>>:-O2;-fvect-cost-model=dynamic>")

# -O1 for code that runs once per call: command lines, help texts, reports.
add_library(warpalign_cold_code INTERFACE)
target_compile_options(warpalign_cold_code INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)

# GCC 12 warns wrongly about the short buffer of std::string when strings are joined (GCC bug
# 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(warpalign_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread>)
endif()

# Counts the executed lines of the targets that link this: core and the program. -O1, because more
# optimisation would merge lines of several branches.
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
