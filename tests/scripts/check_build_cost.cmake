# script/build-cost: costs are divided by the reference's, the limit is the budget plus a quarter,
# and an error says what exceeds it, by how much, and what to do. script/record-cost counts a
# child's time.
#
#   cmake -D SOURCE=... -D WORK=... -P check_build_cost.cmake
cmake_policy(VERSION 3.25)
find_program(PYTHON python3)
if(NOT PYTHON)
  message(STATUS "skipped: test_build_cost: python3 is not installed")
  return()
endif()
file(REMOVE_RECURSE ${WORK})
file(WRITE ${WORK}/budget.json [[{"demo": 10.0, "everything": 20.0, "tests": 30.0}]])

# check(COSTS STATUS [EXPRESSION...]): judges these lines; the output must match every expression.
function(check costs status)
  string(REPLACE "," "\n" lines "${costs}")
  file(WRITE ${WORK}/costs "${lines}\n")
  execute_process(COMMAND ${SOURCE}/script/build-cost --check ${WORK}/costs --budget ${WORK}/budget.json
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT result EQUAL status)
    message(FATAL_ERROR "${costs}: exit status ${result}, not ${status}: ${output}${errors}")
  endif()
  foreach(expression IN LISTS ARGN)
    if(NOT "${output}${errors}" MATCHES "${expression}")
      message(FATAL_ERROR "${costs}: no '${expression}' in: ${output}${errors}")
    endif()
  endforeach()
endfunction()

# The reference is the mean of 9 and 11 seconds.
check("reference 9,demo 100,rest 100,reference 11" 0
  "demo +10\\.0 +10\\.0 +100 " "everything +20\\.0 +20\\.0 +200 " "tests .*not measured")
check("reference 10,demo 125" 0)
check("reference 10,demo 126" 1 "demo: 12\\.6 is 26 % over its budget of 10\\.0"
  "raise the value in script/build-budget\\.json")
check("reference 10,demo 90,rest 161" 1 "everything: 25\\.1 is 26 % over")
# A machine of half the speed has the same budget.
check("reference 20,demo 240" 0)
check("reference 10,tests 300,tests 100" 1 "tests: 40\\.0 is 33 % over")
check("reference 10,cuda 5" 1 "cuda: has no budget")
check("reference 10,dem 5" 1 "unknown cost: dem")
check("demo 5" 1 "no line 'reference'")

# Every recorded cost has a budget.
file(READ ${SOURCE}/script/build-budget.json budget)
foreach(name demo everything cuda tests first_use second_use)
  string(JSON value ERROR_VARIABLE problem GET "${budget}" ${name})
  if(problem OR NOT value GREATER 0)
    message(FATAL_ERROR "script/build-budget.json: ${name}: ${value} ${problem}")
  endif()
endforeach()

set(ENV{WARPALIGN_COST_FILE} ${WORK}/recorded/costs)
execute_process(COMMAND ${SOURCE}/script/record-cost demo bash -c "for i in {1..300000}; do :; done"
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${SOURCE}/script/record-cost rest bash -c "exit 3" RESULT_VARIABLE result)
file(READ ${WORK}/recorded/costs recorded)
if(NOT recorded MATCHES "^demo ([0-9.]+)\n$" OR NOT CMAKE_MATCH_1 GREATER 0.05 OR NOT result EQUAL 3)
  message(FATAL_ERROR "script/record-cost: wrote '${recorded}', exit status ${result}")
endif()
