// The tests' main function: doctest's, which finally prints how many cases were skipped.
#define DOCTEST_CONFIG_IMPLEMENT
#include "support/devices.hpp"
#include "support/skipped.hpp"

#include <doctest/doctest.h>

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int status = context.run();
  test::print_skipped();
  test::close_devices();  // before the drivers destroy their static objects
  return status;
}
