# A test that skips itself prints a line "skipped: NAME: why".

# The expression matches only at the beginning of a line and with the test's own name, so that
# output of programs which the test runs does not match. CMake's message(STATUS) puts two dashes
# before it.
function(warpalign_skip_expression name variable)
  set(${variable} "(^|\n)(-- )?skipped: ${name}: " PARENT_SCOPE)
endfunction()

# Lets ctest count these tests as skipped if they print that line.
function(warpalign_may_skip)
  foreach(name IN LISTS ARGN)
    warpalign_skip_expression(${name} expression)
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "${expression}")
  endforeach()
endfunction()
