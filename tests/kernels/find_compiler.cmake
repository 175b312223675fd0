# Finds the clang and the libclc that check_compile.cmake uses.

# find_compiler(CLANG LIBRARY REASON): the newest clang that reads the bitcode of libclc, or the
# one named in the variable CLANG. If there is none, CLANG is empty and REASON says why. A clang
# that is older than libclc cannot read it.
function(find_compiler clang_variable library_variable reason_variable)
  set(${clang_variable} "" PARENT_SCOPE)
  find_file(LIBCLC amdgcn--amdhsa.bc PATHS /usr/lib /usr/share /usr/local/share PATH_SUFFIXES clc)
  if(NOT LIBCLC)
    set(${reason_variable} "libclc is not installed" PARENT_SCOPE)
    return()
  endif()
  set(names ${CLANG})
  if(NOT names)
    set(names clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 clang)
  endif()
  set(reason "clang is not installed")
  file(MAKE_DIRECTORY "${WORK}")
  file(WRITE "${WORK}/probe.cl" "kernel void probe(global float* x) { *x = fma(*x, *x, *x); }\n")
  foreach(name IN LISTS names)
    find_program(CANDIDATE ${name} NO_CACHE)
    set(candidate "${CANDIDATE}")
    unset(CANDIDATE)
    if(NOT candidate)
      continue()
    endif()
    execute_process(
      COMMAND ${candidate} -x cl -Xclang -finclude-default-header -target amdgcn-amd-amdhsa
              -mcpu=gfx906 -nogpulib -Xclang -mlink-builtin-bitcode -Xclang "${LIBCLC}" -S
              "${WORK}/probe.cl" -o "${WORK}/probe.s"
      RESULT_VARIABLE result ERROR_VARIABLE messages OUTPUT_QUIET)
    if(result EQUAL 0)
      execute_process(COMMAND ${candidate} --version OUTPUT_VARIABLE version)
      string(REGEX MATCH "[^\n]*clang version [0-9.]+" version "${version}")
      message(STATUS "${candidate}: ${version}, with ${LIBCLC}")
      set(${clang_variable} "${candidate}" PARENT_SCOPE)
      set(${library_variable} "${LIBCLC}" PARENT_SCOPE)
      return()
    endif()
    message(STATUS "${candidate} cannot be used: ${messages}")
    set(reason "no clang here reads ${LIBCLC}")
  endforeach()
  set(${reason_variable} "${reason}" PARENT_SCOPE)
endfunction()
