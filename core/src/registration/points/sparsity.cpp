// How sparse an image is: how much of it is brighter than an even background.
#include "registration/points/sparsity.hpp"

#include "registration/points/robust_deviation.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace warpalign::detail {

namespace {

// The maximum of an image with few highlights is this many standard deviations above the mean.
constexpr double min_maximum = 5;
// The limits of the background, in its own standard deviations, and as a fraction of the maximum.
constexpr double background_deviations = 5;
constexpr double min_background = 0.01;
constexpr double max_dark = 0.005;

}  // namespace

double bright_fraction(const SparsityInput& image) {
  if (!(image.maximum - image.mean > min_maximum * image.deviation)) return 1;
  std::vector<float> values;
  values.reserve(image.values.size());
  for (std::size_t i = 0; i < image.values.size(); ++i) {
    if (image.weights.empty() || image.weights[i] > 0.5F) values.push_back(image.values[i]);
  }
  if (values.empty()) return 1;
  std::vector<float> copy = values;
  const auto [median, deviation] = robust_statistics(copy);
  const double limit =
      std::max(background_deviations * deviation, min_background * (image.maximum - median));
  double bright = 0;
  double dark = 0;
  for (const float value : values) {
    const double above = static_cast<double>(value) - median;
    bright += above > limit ? 1 : 0;
    dark += above < -limit ? 1 : 0;
  }
  const auto all = static_cast<double>(values.size());
  return dark > max_dark * all ? 1 : bright / all;
}

}  // namespace warpalign::detail
