// Spline tasks on devices, and by the CPU implementations that the papers time.
#pragma once

#include "bench/spline_problem.hpp"

#include <string>

namespace warpalign::program::bench {

struct SplineCase {
  std::string suite;
  std::string name;
  std::string yardstick{};
  std::string unit = "pixels";
  bool on_host = false;   ///< also on one thread; cubic, exact, full precision only
  bool with_rms = false;  ///< its RMS error over (a part of) the pixels is a figure of merit
};

/// The case of a problem whose input is noise.
[[nodiscard]] Case spline_case(const SplineCase& what, const SplineProblem& problem);

}  // namespace warpalign::program::bench
