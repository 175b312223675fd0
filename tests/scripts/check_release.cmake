# The source archive of a commit is the same, byte by byte, whenever it is made, and what it holds can be
# configured.
cmake_policy(VERSION 3.25)
find_program(GIT git)
if(NOT GIT)
  message(STATUS "skipped: test_release: git is not installed")
  return()
endif()
execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse HEAD RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
if(failed)
  message(STATUS "skipped: test_release: this is no git checkout")
  return()
endif()

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGN}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
set(ENV{TZ} UTC)
run(${SOURCE}/script/release --source-only HEAD ${WORK}/first)
execute_process(COMMAND ${CMAKE_COMMAND} -E sleep 1.1)  # another second, and
set(ENV{TZ} Asia/Tokyo)                                 # another place
run(${SOURCE}/script/release --source-only HEAD ${WORK}/second)
file(GLOB archives RELATIVE ${WORK}/first ${WORK}/first/*.tar.gz)
list(LENGTH archives count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "there is not one archive, but: ${archives}")
endif()
foreach(folder first second)
  file(SHA256 ${WORK}/${folder}/${archives} of_${folder})
endforeach()
if(NOT of_first STREQUAL of_second)
  message(FATAL_ERROR "two archives of one commit differ: ${of_first}, ${of_second}")
endif()

# A folder that holds something is not written to, and a wrong name is refused.
foreach(arguments "HEAD;${WORK}/first" "no-such-tag;${WORK}/third")
  execute_process(COMMAND ${SOURCE}/script/release --source-only ${arguments}
                  RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
  if(result EQUAL 0)
    message(FATAL_ERROR "accepted: script/release --source-only ${arguments}")
  endif()
endforeach()
run(${CMAKE_CURRENT_LIST_DIR}/check_release_parts.sh ${SOURCE} ${WORK}/parts)
message(STATUS "both archives have ${of_first}")
