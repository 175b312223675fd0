// The cubic B-spline through samples.
#include "transforms/bspline_filter.hpp"

#include "device/lanes.hpp"

#include <cmath>

namespace warpalign::detail {

namespace {

const double pole = std::sqrt(3.0) - 2;
constexpr double gain = 6;
// The pole to this power is below the rounding of double precision.
constexpr std::size_t horizon = 30;

/// Filters one line of n numbers, n >= 2.
void filter_line(double* c, std::size_t n, std::size_t stride) {
  const auto at = [&](std::size_t i) -> double& { return c[i * stride]; };
  for (std::size_t i = 0; i < n; ++i) at(i) *= gain;
  // The causal sum over the mirrored samples.
  double first = at(0);
  double power = pole;
  const std::size_t period = 2 * (n - 1);
  for (std::size_t k = 1; k <= horizon; ++k) {
    const std::size_t i = k % period;
    first += power * at(i < n ? i : period - i);
    power *= pole;
  }
  at(0) = first;
  for (std::size_t i = 1; i < n; ++i) at(i) += pole * at(i - 1);
  at(n - 1) = pole / (pole * pole - 1) * (at(n - 1) + pole * at(n - 2));
  for (std::size_t i = n - 1; i > 0; --i) at(i - 1) = pole * (at(i) - at(i - 1));
}

}  // namespace

void filter_bspline(std::vector<double>& values, const std::array<std::size_t, 3>& extent,
                    std::size_t components) {
  std::size_t stride = components;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t n = extent[axis];
    if (n > 1) {
      const std::size_t block = stride * n;
      const std::size_t blocks = values.size() / block;
      // Lines of one block begin next to each other.
      const std::size_t parts = axis == 2 ? stride / components / extent[0] : blocks;
      run_in_lanes(host_threads(), parts, [&](std::size_t /*lane*/, std::size_t part) {
        const std::size_t lines = axis == 2 ? components * extent[0] : stride;
        double* first = values.data() + (axis == 2 ? part * lines : part * block);
        for (std::size_t line = 0; line < lines; ++line) filter_line(first + line, n, stride);
      });
    }
    stride *= n;
  }
}

}  // namespace warpalign::detail
