// The tests' main function: doctest's, with a closing line that counts the test cases.
#define DOCTEST_CONFIG_IMPLEMENT
#include "support/devices.hpp"

#include <doctest/doctest.h>

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int status = context.run();
  test::close_devices();  // before static objects of the drivers go
  return status;
}
