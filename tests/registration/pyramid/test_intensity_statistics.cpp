// The statistics of an image's intensities.
#include "registration/pyramid/intensity_statistics.hpp"

#include "registration/fitting/random_values.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace {

using test::random_values;
using warpalign::detail::intensity_statistics;
using warpalign::detail::IntensityStatistics;

// Computes the statistics by definition, pixel by pixel.
void compare(const IntensityStatistics& levels, const std::vector<float>& values,
             const std::vector<float>& weights) {
  long double weight = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    weight += weights[i];
    sum += static_cast<long double>(weights[i]) * values[i];
  }
  const long double mean = sum / weight;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += weights[i] * (values[i] - mean) * (values[i] - mean);
  }
  // 1e-12: some thousand additions in double precision.
  CHECK(levels.weight == doctest::Approx(static_cast<double>(weight)).epsilon(1e-12));
  CHECK(levels.mean == doctest::Approx(static_cast<double>(mean)).epsilon(1e-12));
  CHECK(levels.deviation ==
        doctest::Approx(static_cast<double>(std::sqrt(squares / weight))).epsilon(1e-12));
  CHECK(levels.minimum == *std::min_element(values.begin(), values.end()));
  CHECK(levels.maximum == *std::max_element(values.begin(), values.end()));
}

}  // namespace

TEST_CASE("grey levels: statistics of any number of pixels, with and without weights") {
  for (const std::size_t n : {2U, 7U, 8U, 9U, 16U, 1003U}) {
    CAPTURE(n);
    const std::vector<float> values = random_values(n, -3, 900);
    const std::vector<float> weights = random_values(n, 0, 1);
    compare(intensity_statistics(values), values, std::vector<float>(n, 1.0F));
    compare(intensity_statistics(values, weights), values, weights);
  }
}

TEST_CASE("grey levels: NaN and pixels of weight 0 do not count") {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    for (const std::size_t at : {0U, 5U, 8U, 16U}) {
      std::vector<float> values(17, 4.0F);
      values[at] = bad;
      CHECK_FALSE(std::isfinite(intensity_statistics(values).mean));
      CHECK_FALSE(std::isfinite(intensity_statistics(values, std::vector<float>(17, 0.0F)).mean));
    }
  }
  const std::vector<float> largest(40, std::numeric_limits<float>::max());
  CHECK(std::isfinite(intensity_statistics(largest).mean));
  CHECK(intensity_statistics(largest).deviation == 0);
  const IntensityStatistics nothing = intensity_statistics(largest, std::vector<float>(40, 0.0F));
  CHECK(nothing.weight == 0);
  CHECK(nothing.mean == 0);
}
