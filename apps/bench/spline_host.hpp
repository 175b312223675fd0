// Spline tasks on one thread of the host, with the CPU implementations that the papers time.
#pragma once

#include "bench/spline_problem.hpp"

namespace warpalign::program::bench {

/// The recursive prefilter, the direct cubic evaluation with 16 or 64 neighbours in single
/// precision, or both. Large volumes are evaluated in part.
[[nodiscard]] std::unique_ptr<HostWork> make_host_spline(const SplineProblem& problem);

}  // namespace warpalign::program::bench
