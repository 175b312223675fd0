// Runs the tests of the program, isolated from the user's own settings.
#define DOCTEST_CONFIG_IMPLEMENT
#include "support/skipped.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  ::setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
  ::unsetenv("WARPALIGN_DEVICE");
  const int status = doctest::Context(argc, argv).run();
  test::print_skipped();
  return status;
}
