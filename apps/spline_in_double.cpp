// The cubic spline in double precision, to measure devices against. It shares no formula with the
// library.
#include "spline_in_double.hpp"

#include <cmath>

namespace warpalign::program {
namespace {

/// Unser 1999, equation 1 for n = 3.
double beta3(double x) {
  const double r = std::abs(x);
  if (r < 1) return 2.0 / 3 - r * r + r * r * r / 2;
  if (r < 2) return (2 - r) * (2 - r) * (2 - r) / 6;
  return 0;
}

std::int64_t mirrored(std::int64_t k, std::int64_t n) {
  if (n == 1) return 0;
  const std::int64_t period = 2 * (n - 1);
  const std::int64_t within = (k % period + period) % period;
  return within < n ? within : period - within;
}

}  // namespace

double cubic_spline_at(std::span<const float> coefficients, const Shape& shape, double x,
                       double y) {
  const auto i = static_cast<std::int64_t>(std::floor(x));
  const auto j = static_cast<std::int64_t>(std::floor(y));
  double sum = 0;
  for (std::int64_t v = j - 1; v <= j + 2; ++v) {
    for (std::int64_t u = i - 1; u <= i + 2; ++u) {
      const std::int64_t at = mirrored(v, shape.height) * shape.width + mirrored(u, shape.width);
      sum += static_cast<double>(coefficients[static_cast<std::size_t>(at)]) *
             beta3(x - static_cast<double>(u)) * beta3(y - static_cast<double>(v));
    }
  }
  return sum;
}

}  // namespace warpalign::program
