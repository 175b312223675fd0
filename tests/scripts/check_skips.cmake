# A test counts as skipped if it prints so on a separate line, and not if it merely mentions
# skipping.
cmake_policy(VERSION 3.25)
include(${SOURCE}/cmake/SkippedTests.cmake)
warpalign_skip_expression(test_one expression)

foreach(output "skipped: test_one: no tool" "-- skipped: test_one: no tool\n"
        "[device] cpu\nskipped: test_one: no tool\n")
  if(NOT output MATCHES "${expression}")
    message(FATAL_ERROR "is no skip: ${output}")
  endif()
endforeach()
foreach(output "it was not skipped: test_one: fine" "\n  skipped: test_one: no tool"
        "skipped: test_two: no tool" "skipped: 3 cases: no GPU" "skipped: python-test")
  if(output MATCHES "${expression}")
    message(FATAL_ERROR "counts as a skip: ${output}")
  endif()
endforeach()

# These files set the expression of each test.
file(GLOB_RECURSE lists ${SOURCE}/tests/CMakeLists.txt ${SOURCE}/examples/CMakeLists.txt)
foreach(file IN LISTS lists)
  file(STRINGS ${file} lines REGEX "SKIP_REGULAR_EXPRESSION")
  if(lines)
    message(FATAL_ERROR "${file}: ${lines}; use warpalign_may_skip")
  endif()
endforeach()
