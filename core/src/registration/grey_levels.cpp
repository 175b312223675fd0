// What a picture's grey levels are like.
//
// Each picture of a pair is measured while the device waits, so sums and extremes run in lanes that
// compilers make vectors of.
#include "registration/grey_levels.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace warpalign::detail {

namespace {

constexpr std::size_t lanes = 8;

// Of term(0) ... term(n - 1).
template <class Term>
double sum(std::size_t n, Term term) {
  std::array<double, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) sums[k] += term(i + k);
  }
  double total = 0;
  for (; i < n; ++i) total += term(i);
  for (const double lane : sums) total += lane;
  return total;
}

template <class Better>
float extreme(std::span<const float> values, Better better) {
  std::array<float, lanes> extremes;
  extremes.fill(values.front());
  std::size_t i = 0;
  for (; i + lanes <= values.size(); i += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) {
      extremes[k] = better(values[i + k], extremes[k]) ? values[i + k] : extremes[k];
    }
  }
  float most = values.front();
  for (; i < values.size(); ++i) most = better(values[i], most) ? values[i] : most;
  for (const float lane : extremes) most = better(lane, most) ? lane : most;
  return most;
}

// A sum of floats cannot overflow a double, so it is finite where all of them are.
template <class Weight>
GreyLevels levels(std::span<const float> values, Weight weight) {
  GreyLevels levels;
  if (values.empty()) return levels;
  const std::size_t n = values.size();
  const auto value = [&](std::size_t i) { return static_cast<double>(values[i]); };
  levels.weight = sum(n, weight);
  const double total = sum(n, [&](std::size_t i) { return weight(i) * value(i); });
  levels.mean = levels.weight > 0 || !std::isfinite(total) ? total / levels.weight : 0;
  if (!(levels.weight > 0) || !std::isfinite(total)) return levels;
  const double squares = sum(n, [&](std::size_t i) {
    const double d = value(i) - levels.mean;
    return weight(i) * d * d;
  });
  levels.deviation = std::sqrt(squares / levels.weight);
  levels.lowest = extreme(values, [](float a, float b) { return a < b; });
  levels.highest = extreme(values, [](float a, float b) { return a > b; });
  return levels;
}

}  // namespace

GreyLevels grey_levels(std::span<const float> values) {
  return levels(values, [](std::size_t) { return 1.0; });
}

GreyLevels grey_levels(std::span<const float> values, std::span<const float> weights) {
  return levels(values, [&](std::size_t i) { return static_cast<double>(weights[i]); });
}

}  // namespace warpalign::detail
