# The CUDA architectures to build for, where none are named: those of the GPUs of this machine, which
# is quickest to build, or else Turing to Hopper as machine code, and PTX for what comes later.
# -DWARPALIGN_CUDA_ARCHITECTURES=released takes the latter whatever GPUs are here, as packages must;
# "80-real;90-virtual" names some.

# warpalign_present_architectures(RESULT): such as "86-real;90-real"; empty where there is no GPU,
# or one that this nvcc does not know.
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

# warpalign_choose_architectures(): sets CMAKE_CUDA_ARCHITECTURES for the caller, if nobody has.
function(warpalign_choose_architectures)
  if(DEFINED CMAKE_CUDA_ARCHITECTURES)
    return()
  endif()
  set(chosen "${WARPALIGN_CUDA_ARCHITECTURES}")
  set(released "75-real;80-real;86-real;89-real;90-real;90-virtual")
  set(why "as named")
  if(chosen STREQUAL "released")
    set(chosen "${released}")
    set(why "for GPUs from Turing on")
  elseif(NOT chosen)
    warpalign_present_architectures(chosen)
    set(why "of the GPUs here")
  endif()
  if(NOT chosen)
    set(chosen "${released}")
    set(why "for GPUs from Turing on")
  endif()
  message(STATUS "CUDA architectures: ${chosen} (${why})")
  set(CMAKE_CUDA_ARCHITECTURES "${chosen}" PARENT_SCOPE)
endfunction()
