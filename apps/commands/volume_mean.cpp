// The mean of the volumes of a series.
#include "commands/volume_mean.hpp"

#include "io/array_file.hpp"

#include <cmath>
#include <limits>

namespace warpalign::program {

void VolumeMean::add(const Array& volume) {
  const Array values = to_float(volume);
  const auto samples = values.samples<float>();
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (!std::isfinite(samples[i])) continue;
    sums_[i] += static_cast<double>(samples[i]);
    ++counts_[i];
  }
  ++volumes_;
}

Array VolumeMean::mean(const std::vector<std::int64_t>& extents, double slope,
                       double intercept) const {
  Array mean = make_array(extents, PixelType::f32);
  const auto values = mean.samples<float>();
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    values[i] =
        counts_[i] > 0
            ? static_cast<float>(slope * (sums_[i] / static_cast<double>(counts_[i])) + intercept)
            : std::numeric_limits<float>::quiet_NaN();
  }
  return mean;
}

}  // namespace warpalign::program
