# Compiles every kernel for AMD processors of 64 and of 32 lanes and for SPIR, with clang and without
# any card, and fails on a kernel that does not compile or that spills registers to memory.
#
#   cmake -D KERNELS=kernels_cl -D WORK=a/folder -D CLANG=clang -P check_compile.cmake
cmake_policy(VERSION 3.25)
if(NOT CLANG)
  message(STATUS "skipped: clang is not installed")
  return()
endif()

set(common -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -O2 -w "-I${KERNELS}")
# Built-in functions stay unresolved calls, each taken for 16 KiB of stack unless told otherwise.
# Barriers do not: few registers would outlive the call.
set(amd -target amdgcn-amd-amdhsa -nogpulib -mllvm -amdgpu-assume-external-call-stack-size=0 -S
    "-Dbarrier(flags)=__builtin_amdgcn_s_barrier()")
file(MAKE_DIRECTORY "${WORK}")
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/variants.txt" variants REGEX "^[a-z]")
set(failures "")
set(listed "")
set(compiled 0)

# compile(TARGET ARGUMENTS...): the outcome in `result`, and the text in ${WORK}/kernel.s.
macro(compile target)
  execute_process(
    COMMAND ${CLANG} ${common} ${ARGN} ${options} "${KERNELS}/${name}.cl" -o "${WORK}/kernel.s"
    RESULT_VARIABLE result ERROR_VARIABLE messages OUTPUT_QUIET)
  math(EXPR compiled "${compiled} + 1")
  if(NOT result EQUAL 0)
    string(APPEND failures "\n${variant}\n  does not compile for ${target}:\n${messages}")
  endif()
endmacro()

foreach(variant IN LISTS variants)
  separate_arguments(words UNIX_COMMAND "${variant}")
  list(POP_FRONT words name targets)
  set(options ${words})
  list(APPEND listed "${name}")
  compile(spir64 -target spir64 -emit-llvm -S)
  if(NOT targets STREQUAL "gpu")
    continue()
  endif()
  foreach(processor gfx906 gfx1030)
    compile(${processor} ${amd} -mcpu=${processor})
    if(NOT result EQUAL 0)
      continue()
    endif()
    file(STRINGS "${WORK}/kernel.s" scratch REGEX "; ScratchSize: [1-9]")
    if(scratch)
      string(APPEND failures "\n${variant}\n  spills on ${processor}: ${scratch}")
    endif()
    file(STRINGS "${WORK}/kernel.s" kernels REGEX "; ScratchSize:")
    if(NOT kernels)
      string(APPEND failures "\n${variant}\n  no kernel in it for ${processor}")
    endif()
  endforeach()
endforeach()

file(GLOB files "${KERNELS}/*.cl")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME_WE)
  if(NOT name IN_LIST listed)
    string(APPEND failures "\n${name}.cl has no line in tests/kernels/variants.txt")
  endif()
endforeach()
if(failures)
  message(FATAL_ERROR "${failures}")
endif()
message(STATUS "${compiled} compilations, none spills")
