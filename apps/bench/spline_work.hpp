// Spline tasks on devices, and with the CPU implementations that the papers time.
#pragma once

#include "bench/spline_problem.hpp"

#include <string>

namespace warpalign::program::bench {

struct SplineCase {
  std::string suite;
  std::string name;
  std::string yardstick{};
  std::string unit = "pixels";
  bool on_host = false;   ///< also run on one thread; cubic, exact, full precision only
  bool with_rms = false;  ///< report the RMS error over (a part of) the pixels
};

/// Makes the case of a problem with noise as input.
[[nodiscard]] Case spline_case(const SplineCase& what, const SplineProblem& problem);

}  // namespace warpalign::program::bench
