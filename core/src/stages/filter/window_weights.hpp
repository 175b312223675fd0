// The weights of a window function along one axis.
#pragma once

#include <warpalign/window.hpp>

#include <cstdint>
#include <vector>

namespace warpalign::detail {

/// The weight of each of `n` pixels.
[[nodiscard]] std::vector<float> window_weights(Window window, std::int64_t n);

}  // namespace warpalign::detail
