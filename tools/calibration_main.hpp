// The arguments and the exit status of the programs that calibrate volumes.
#pragma once

#include <warpalign/error.hpp>

#include <cstdio>
#include <cstdlib>

namespace test {

/// Calls `calibrate(device, pairs)` with what `PROGRAM DEVICE PAIRS` says.
template <class Calibrate>
int calibration_main(int argc, char** argv, const char* program, Calibrate calibrate) {
  if (argc != 3 || std::atoi(argv[2]) < 1) {
    std::fprintf(stderr, "usage: %s DEVICE PAIRS\n", program);
    return 2;
  }
  try {
    calibrate(argv[1], std::atoi(argv[2]));
  } catch (const warpalign::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
  return 0;
}

}  // namespace test
