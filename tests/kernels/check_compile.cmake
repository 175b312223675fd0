# Compiles every kernel for AMD processors with 64 and 32 lanes and for SPIR, without any card.
# Fails if a kernel does not compile, spills registers to memory, or calls other functions with
# device/builtin_declarations.cl than with Clang's declarations, or if a kernel in a folder cpu/
# does not say that it computes with vectors. A clang that knows gfx1201 (19 or
# later) compiles for gfx90a, gfx942, gfx1100 and gfx1201, older ones for gfx906 and gfx1030. The
# kernel's own file names the options, in lines such as
#
#   // variant: gpu -DPIXEL_U8 -DGROUP=256
#
# `gpu` means AMD processors and SPIR, and `cpu` SPIR alone. Every kernel needs at least one line.
# A kernel that indexes arrays of its own at run time says how many bytes they take, and why:
#
#   // scratch: 224 bytes: REASON
#
#   cmake -D KERNELS=kernels_cl -D WORK=a/folder [-D CLANG=clang-15] [-D LIBCLC=amdgcn--amdhsa.bc]
#     [-D PROCESSORS=gfx90a;gfx1100] [-D TABLE=kernels.csv] -P check_compile.cmake
#
# TABLE gets a line for each kernel and processor: vector registers, scalar registers, bytes of
# scratch memory, bytes of local memory, and the waves that a SIMD unit can hold.
#
# The check needs clang and libclc, the library of OpenCL's built-in functions. These must be
# inlined, as drivers do: around a call registers are saved to memory, so that a kernel would seem
# to spill. On Debian 12 pocl-opencl-icd installs clang-15, and mesa-opencl-icd libclc-15.
cmake_policy(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/find_compiler.cmake")
find_compiler(clang library reason)
if(NOT clang)
  message(STATUS "skipped: test_kernels_compile: ${reason}")
  return()
endif()

if(NOT PROCESSORS)
  execute_process(COMMAND ${clang} -target amdgcn-amd-amdhsa -nogpulib --print-supported-cpus
    OUTPUT_VARIABLE known ERROR_VARIABLE known)
  set(PROCESSORS gfx906 gfx1030)
  if(known MATCHES "gfx1201")
    set(PROCESSORS gfx90a gfx942 gfx1100 gfx1201)
  endif()
endif()
if(TABLE)
  file(WRITE "${TABLE}" "file,variant,processor,kernel,vgprs,sgprs,scratch,local,waves\n")
endif()

set(common -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -O2 -w "-I${KERNELS}")
# libclc has no image functions. They remain calls, each counted as 16 KiB of stack by default.
# libclc's barrier may not be duplicated, so that loops around it are not unrolled and arrays stay
# in memory; drivers' barriers may be duplicated.
set(amd -target amdgcn-amd-amdhsa -nogpulib -Xclang -mlink-builtin-bitcode -Xclang "${library}"
    -mllvm -amdgpu-assume-external-call-stack-size=0 -S
    "-Dbarrier(flags)=__builtin_amdgcn_s_barrier()")
file(MAKE_DIRECTORY "${WORK}")
set(failures "")
set(compiled 0)

# compile(TARGET ARGUMENTS...): sets `result` to the outcome, and writes ${WORK}/kernel.s.
macro(compile target)
  execute_process(
    COMMAND ${clang} ${common} ${ARGN} ${options} "${kernel}" -o "${WORK}/kernel.s"
    RESULT_VARIABLE result ERROR_VARIABLE messages OUTPUT_QUIET)
  math(EXPR compiled "${compiled} + 1")
  if(NOT result EQUAL 0)
    string(APPEND failures "\n${name}: ${variant}\n  does not compile for ${target}:\n${messages}")
  endif()
endmacro()

# called_functions(VARIABLE ARGUMENTS...): the declarations of the functions that the kernel calls.
macro(called_functions variable)
  execute_process(
    COMMAND ${clang} -x cl -cl-std=CL1.2 -target spir64 -w "-I${KERNELS}" -O0 -S -emit-llvm ${ARGN}
            ${options} "${kernel}" -o "${WORK}/kernel.ll"
    RESULT_VARIABLE result ERROR_VARIABLE messages OUTPUT_QUIET)
  math(EXPR compiled "${compiled} + 1")
  if(result EQUAL 0)
    file(STRINGS "${WORK}/kernel.ll" ${variable} REGEX "^declare .*@_Z")
    list(TRANSFORM ${variable} REPLACE " #[0-9]+$" "")  # attributes
    list(SORT ${variable})
  else()
    set(${variable} "${messages}")
  endif()
endmacro()

# compare_declarations(): checks that the kernel calls the same functions if our own declarations
# replace Clang's. A missing one would let another overload be called, by a silent conversion.
macro(compare_declarations)
  called_functions(clangs -Xclang -finclude-default-header)
  called_functions(ours -include "${KERNELS}/device/builtin_declarations.cl")
  if(NOT clangs STREQUAL ours)
    list(REMOVE_ITEM ours ${clangs})
    string(APPEND failures "\n${name}: ${variant}\n  by device/builtin_declarations.cl: ${ours}")
  endif()
endmacro()

# append_to_table(): what the comments of ${WORK}/kernel.s say about each kernel, as lines of TABLE.
macro(append_to_table)
  set(entry "")
  file(STRINGS "${WORK}/kernel.s" lines REGEX
    "^\t\\.amdhsa_kernel |; (NumSgprs|NumVgprs|TotalNumVgprs|ScratchSize|LDSByteSize|Occupancy): ")
  foreach(line IN LISTS lines)
    if(line MATCHES "amdhsa_kernel (.+)")
      set(entry "${CMAKE_MATCH_1}")
    elseif(line MATCHES "; ([A-Za-z]+): ([0-9]+)")
      set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
      if("${CMAKE_MATCH_1}" STREQUAL "NumVgprs")
        set(TotalNumVgprs ${NumVgprs})
      elseif("${CMAKE_MATCH_1}" STREQUAL "Occupancy")
        file(APPEND "${TABLE}" "${name},${variant},${processor},${entry},${TotalNumVgprs},"
          "${NumSgprs},${ScratchSize},${LDSByteSize},${Occupancy}\n")
      endif()
    endif()
  endforeach()
endmacro()

function(compile_variant kernel variant)
  get_filename_component(name "${kernel}" NAME_WE)
  separate_arguments(options UNIX_COMMAND "${variant}")
  list(POP_FRONT options targets)
  set(allowed 0)
  file(STRINGS "${kernel}" declared REGEX "^// scratch: [0-9]+ bytes: ")
  if(declared)
    string(REGEX MATCH "[0-9]+" allowed "${declared}")
  endif()
  compile(spir64 -target spir64 -emit-llvm -S)
  compare_declarations()
  if(targets STREQUAL "gpu")
    foreach(processor IN LISTS PROCESSORS)
      compile(${processor} ${amd} -mcpu=${processor})
      if(NOT result EQUAL 0)
        continue()
      endif()
      file(STRINGS "${WORK}/kernel.s" scratch REGEX "; ScratchSize: [1-9]")
      foreach(line IN LISTS scratch)
        string(REGEX MATCH "[0-9]+" bytes "${line}")
        if(bytes GREATER allowed)
          string(APPEND failures "\n${name}: ${variant}\n  spills on ${processor}: ${bytes} bytes")
        endif()
      endforeach()
      file(STRINGS "${WORK}/kernel.s" kernels REGEX "; ScratchSize:")
      if(NOT kernels)
        string(APPEND failures "\n${name}: ${variant}\n  no kernel in it for ${processor}")
      endif()
      if(TABLE)
        append_to_table()
      endif()
    endforeach()
  endif()
  set(failures "${failures}" PARENT_SCOPE)
  set(compiled "${compiled}" PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE files "${KERNELS}/*.cl")
foreach(file IN LISTS files)
  file(STRINGS "${file}" variants REGEX "^// variant: ")
  if(NOT variants)
    string(APPEND failures "\n${file} names no variant to compile")
  endif()
  if(file MATCHES "/cpu/")
    file(STRINGS "${file}" undeclared REGEX "^kernel (void|__attribute__)")
    if(undeclared)
      string(APPEND failures "\n${file}: lib/simd_kernel.h declares such kernels: ${undeclared}")
    endif()
  endif()
  foreach(variant IN LISTS variants)
    string(REGEX REPLACE "^// variant: " "" variant "${variant}")
    compile_variant("${file}" "${variant}")
  endforeach()
endforeach()
if(failures)
  message(FATAL_ERROR "${failures}")
endif()
message(STATUS "${compiled} compilations, none spills")
