# Chooses the CUDA architectures to build for. The default is those of this machine's GPUs, which is
# the quickest build. Without a GPU, it is machine code for Turing to Hopper, and PTX for later
# architectures; -DWARPALIGN_CUDA_ARCHITECTURES=released selects these on any machine, for packages.
# A list such as "80-real;90-virtual" selects others.

# warpalign_present_architectures(RESULT): a list such as "86-real;90-real". It is empty if there is
# no GPU, or a GPU that this nvcc does not support.
function(warpalign_present_architectures result)
  set(${result} "" PARENT_SCOPE)
  find_program(NVIDIA_SMI nvidia-smi NO_CACHE)
  if(NOT NVIDIA_SMI)
    return()
  endif()
  execute_process(COMMAND ${NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE capabilities RESULT_VARIABLE failed ERROR_QUIET)
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code
                  OUTPUT_VARIABLE known RESULT_VARIABLE unlisted ERROR_QUIET)
  if(failed OR unlisted)
    return()
  endif()
  string(REGEX MATCHALL "[0-9]+\\.[0-9]+" capabilities "${capabilities}")
  list(REMOVE_DUPLICATES capabilities)
  set(present "")
  foreach(capability IN LISTS capabilities)
    string(REPLACE "." "" number "${capability}")
    if(NOT known MATCHES "sm_${number}(\n|$)")
      return()
    endif()
    list(APPEND present ${number}-real)
  endforeach()
  set(${result} "${present}" PARENT_SCOPE)
endfunction()

# warpalign_choose_architectures(): sets CMAKE_CUDA_ARCHITECTURES for the caller, unless it is set.
function(warpalign_choose_architectures)
  if(DEFINED CMAKE_CUDA_ARCHITECTURES)
    return()
  endif()
  set(chosen "${WARPALIGN_CUDA_ARCHITECTURES}")
  set(released "75-real;80-real;86-real;89-real;90-real;90-virtual")
  set(why "as configured")
  if(chosen STREQUAL "released")
    set(chosen "${released}")
    set(why "for GPUs from Turing on")
  elseif(NOT chosen)
    warpalign_present_architectures(chosen)
    set(why "of this machine's GPUs")
  endif()
  if(NOT chosen)
    set(chosen "${released}")
    set(why "for GPUs from Turing on")
  endif()
  message(STATUS "CUDA architectures: ${chosen} (${why})")
  set(CMAKE_CUDA_ARCHITECTURES "${chosen}" PARENT_SCOPE)
endfunction()
