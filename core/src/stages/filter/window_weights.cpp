// The weights of a window function along one axis.
#include "stages/filter/window_weights.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace warpalign::detail {

std::vector<float> window_weights(Window window, std::int64_t n) {
  std::vector<float> weights(static_cast<std::size_t>(n), 1.0F);
  if (window == Window::none) return weights;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double sine =
        std::sin(std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(n));
    weights[i] = static_cast<float>(sine * sine);
  }
  return weights;
}

}  // namespace warpalign::detail
