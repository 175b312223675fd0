// An unbounded scene with a known value at every point.
#include "support/waves.hpp"

#include <cmath>
#include <numbers>
#include <random>

namespace test {

Waves::Waves(std::uint32_t seed, int count) {
  constexpr double two_pi = 2 * std::numbers::pi;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < count; ++i) {
    const double length = 6 * std::pow(10.0, uniform(random));
    const double angle = two_pi * uniform(random);
    const double phase = two_pi * uniform(random);
    waves_.push_back({two_pi / length * std::cos(angle), two_pi / length * std::sin(angle), phase,
                      std::sqrt(length)});
  }
}

double Waves::at(double x, double y) const {
  double sum = 0;
  for (const Wave& w : waves_) sum += w.amplitude * std::sin(w.x * x + w.y * y + w.phase);
  return sum;
}

}  // namespace test
