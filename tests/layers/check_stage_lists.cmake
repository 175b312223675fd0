# Fails if a page that lists the stages, folder by folder, lacks one of them, and names it. First
# tests itself on a made-up page.
cmake_policy(VERSION 3.25)

set(stages core/backend_interface/warpalign/backend/stages)
set(pages docs/architecture.md kernels_cl/README.md backend_cuda/README.md backend_opencl/README.md)
set(no_stages filter/axis_weights)  # tables of weights that stages share

# Appends each stage ("folder/stage") that is not in the row of its folder to the caller's list
# `missing`.
function(check_page page text)
  foreach(name IN LISTS ARGN)
    string(REGEX REPLACE "/.*" "" folder "${name}")
    string(REGEX REPLACE ".*/" "" stage "${name}")
    string(REGEX MATCH "\n\\| `${folder}/` \\|[^\n]*" row "${text}")
    if(row STREQUAL "")
      list(APPEND missing "${page} has no row for ${folder}/")
    elseif(NOT stage STREQUAL folder AND NOT row MATCHES "[^a-z_](real_)?${stage}[^a-z_]")
      list(APPEND missing "${page}: ${stage} is not in the row of ${folder}/")
    endif()
  endforeach()
  set(missing "${missing}" PARENT_SCOPE)
endfunction()

set(missing "")
check_page(a.md "\n| `filter/` | `sobel`, `smoother` |\n| `fft/` | transforms |\n"
           filter/sobel filter/smooth fft/fft volume/pad)
if(NOT missing STREQUAL "a.md: smooth is not in the row of filter/;a.md has no row for volume/")
  message(FATAL_ERROR "the check itself is wrong: ${missing}")
endif()

file(GLOB names RELATIVE ${SOURCE}/${stages} ${SOURCE}/${stages}/*/*.hpp)
list(TRANSFORM names REPLACE "\\.hpp$" "")
list(REMOVE_ITEM names ${no_stages})
list(LENGTH names seen)
if(seen LESS 40)
  message(FATAL_ERROR "only ${seen} stages were seen in ${stages}")
endif()
set(missing "")
foreach(page IN LISTS pages)
  file(READ ${SOURCE}/${page} text)
  check_page(${page} "${text}" ${names})
endforeach()
if(missing)
  list(JOIN missing "\n  " lines)
  message(FATAL_ERROR "stages that a list lacks:\n  ${lines}")
endif()
message(STATUS "${seen} stages are in the lists of all pages")
