# Creates a stage in a copy of the tree's folders, and checks its number of files and which names
# are refused.
#
#   cmake -D SOURCE=. -D WORK=a/folder -D CXX=c++ -D GENERATED=build/core/include -P check_new_stage.cmake
cmake_policy(VERSION 3.25)
set(interface core/backend_interface/warpalign/backend)
file(REMOVE_RECURSE "${WORK}")
file(GLOB_RECURSE copied RELATIVE "${SOURCE}" "${SOURCE}/${interface}/*" "${SOURCE}/kernels_cl/*.cl")
foreach(file IN LISTS copied)
  get_filename_component(folder "${WORK}/${file}" DIRECTORY)
  file(COPY "${SOURCE}/${file}" DESTINATION "${folder}")
endforeach()

function(snapshot result)
  file(GLOB_RECURSE files RELATIVE "${WORK}" "${WORK}/*")
  set(state "")
  foreach(file IN LISTS files)
    file(SHA256 "${WORK}/${file}" hash)
    list(APPEND state "${file}=${hash}")
  endforeach()
  set(${result} "${state}" PARENT_SCOPE)
endfunction()

function(new_stage name category wanted)
  execute_process(COMMAND "${SOURCE}/script/new-stage" ${name} ${category} "${WORK}"
                  RESULT_VARIABLE result ERROR_VARIABLE said OUTPUT_QUIET)
  string(REGEX MATCHALL "\n" lines "${said}")
  list(LENGTH lines lines)
  if(wanted STREQUAL "" AND NOT result EQUAL 0)
    message(FATAL_ERROR "new-stage ${name} ${category} failed: ${said}")
  elseif(NOT wanted STREQUAL "" AND (result EQUAL 0 OR NOT said MATCHES "${wanted}" OR lines GREATER 1))
    message(FATAL_ERROR "new-stage '${name}' '${category}' should refuse with one line of '${wanted}', said: ${said}")
  endif()
endfunction()

snapshot(before)
new_stage(Gamma filter "is no name for a stage")
new_stage(9lives filter "is no name for a stage")
new_stage("../gamma" filter "is no name for a stage")
new_stage(sobel filter "there is a stage Sobel already")
new_stage(resample_two kitchen "there is no category 'kitchen'")
new_stage(prefilter_axes spline "prefilter_axes.cl already")
snapshot(after)
if(NOT before STREQUAL after)
  message(FATAL_ERROR "a refused name has changed files")
endif()

new_stage(gamma_correction filter "")
snapshot(after)
set(new 0)
set(changed 0)
foreach(entry IN LISTS after)
  string(REGEX REPLACE "=.*" "" file "${entry}")
  if(entry IN_LIST before)
    continue()
  elseif(";${before}" MATCHES ";${file}=")
    math(EXPR changed "${changed} + 1")
  else()
    math(EXPR new "${new} + 1")
  endif()
endforeach()
math(EXPR files "${new} + ${changed}")
message(STATUS "a stage costs ${files} files, ${changed} of them existing")
if(files GREATER 7 OR changed GREATER 1 OR new EQUAL 0)
  message(FATAL_ERROR "more than 7 files, or more than 1 existing one")
endif()
new_stage(gamma_correction filter "there is a stage GammaCorrection already")

# The created files compile: core's source, the launch on OpenCL with its embedded kernel, and the
# test. (CI's machine may have no compiler for CUDA.)
file(GLOB_RECURSE headers RELATIVE "${SOURCE}" "${SOURCE}/kernels_cl/*.h")
foreach(file IN LISTS headers)
  get_filename_component(folder "${WORK}/${file}" DIRECTORY)
  file(COPY "${SOURCE}/${file}" DESTINATION "${folder}")
endforeach()
execute_process(
  COMMAND "${CMAKE_COMMAND}" -D NAMESPACE=warpalign::opencl::kernels -D "FOLDER=${WORK}/kernels_cl"
          -D "OUTPUT=${WORK}/embedded_kernels" -P "${SOURCE}/cmake/EmbedKernels.cmake"
  RESULT_VARIABLE result ERROR_VARIABLE said)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the kernel that new-stage lays out cannot be embedded: ${said}")
endif()
set(includes "-I${WORK}" "-I${WORK}/core/backend_interface")
foreach(folder core/include core/src backend_common backend_opencl tests .)
  list(APPEND includes "-I${SOURCE}/${folder}")
endforeach()
file(WRITE "${WORK}/gamma_correction_on_opencl.cpp"
     "#include \"backend_common/filter/gamma_correction.hpp\"\n")
foreach(source core/src/stages/filter/gamma_correction.cpp gamma_correction_on_opencl.cpp
               tests/stages/filter/test_gamma_correction.cpp)
  execute_process(
    COMMAND "${CXX}" -std=c++20 -fsyntax-only -DWARPALIGN_BUILDING -DCL_TARGET_OPENCL_VERSION=120
            ${includes} "-I${GENERATED}" "${WORK}/${source}"
    RESULT_VARIABLE result ERROR_VARIABLE said)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${source}, as new-stage lays it out, does not compile:\n${said}")
  endif()
endforeach()
