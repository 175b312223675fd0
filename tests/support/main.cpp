// The tests' main function: doctest's, with closing lines that count the cases that were skipped.
#define DOCTEST_CONFIG_IMPLEMENT
#include "support/devices.hpp"
#include "support/skipped.hpp"

#include <doctest/doctest.h>

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int status = context.run();
  test::print_skipped();
  test::close_devices();  // before static objects of the drivers go
  return status;
}
