// The median device time of the stages of a registration over several runs.
#pragma once

#include "bench/descriptor.hpp"

#include <warpalign/registrar.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace warpalign::program::bench {

/// The median of each stage's time over `runs` calls of `timings_of_run`, which must return the
/// same stages each time.
[[nodiscard]] std::vector<Part> median_parts(
    std::size_t runs, const std::function<std::vector<StageTiming>()>& timings_of_run);

}  // namespace warpalign::program::bench
