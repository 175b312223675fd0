# Tests that may skip themselves say so in a line of their own: "skipped: NAME: why".

# The same words elsewhere, of a program that a test runs or in the middle of a line, skip nothing.
# CMake's message(STATUS) puts two dashes before a line.
function(warpalign_skip_expression name variable)
  set(${variable} "(^|\n)(-- )?skipped: ${name}: " PARENT_SCOPE)
endfunction()

# Lets ctest count these tests as skipped where they say so.
function(warpalign_may_skip)
  foreach(name IN LISTS ARGN)
    warpalign_skip_expression(${name} expression)
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "${expression}")
  endforeach()
endfunction()
