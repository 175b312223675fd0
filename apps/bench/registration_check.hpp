// Whether a timed registration is correct, and what its device time is made of.
#pragma once

#include "bench/descriptor.hpp"

#include <warpalign/registrar.hpp>

#include <functional>
#include <vector>

namespace warpalign::program::bench {

/// Corners may be off by one per cent of the side: wrong results are off by more, and accuracy is
/// measured elsewhere.
[[nodiscard]] Verdict checked(const RegistrationResult& found, const Homography& truth,
                              std::int64_t side);

/// The median device time of each stage of a registration, which `align` repeats.
[[nodiscard]] std::vector<Part> median_parts(std::size_t runs,
                                             const std::function<RegistrationResult()>& align);

}  // namespace warpalign::program::bench
