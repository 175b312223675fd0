// Normalised mutual information of two volumes.
#include "registration/volume/structure/mutual_information.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::detail {

namespace {

constexpr double min_common_share = 0.4;  // of the samples
constexpr std::int64_t box_margin = 4;    // voxels around the object
// The bins cover the intensities of the object up to this quantile, from the darkest 0.5 % of all.
constexpr double darkest = 0.005, brightest = 0.995;

float value_at_share(std::vector<float>& values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

double entropy_term(double p) { return p > 0 ? -p * std::log(p) : 0; }

}  // namespace

float MutualInformation::Binning::operator()(float value) const {
  return std::clamp((value - first) * per_value, 0.0F, static_cast<float>(bins - 1));
}

MutualInformation::Binning MutualInformation::binning_of(const std::vector<float>& values,
                                                         const std::vector<bool>& object) {
  std::vector<float> all, inside;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    all.push_back(values[i]);
    if (object[i]) inside.push_back(values[i]);
  }
  if (inside.empty()) return {};
  Binning binning;
  binning.first = value_at_share(all, darkest);
  const float last = value_at_share(inside, brightest);
  binning.per_value =
      last > binning.first ? static_cast<float>(bins - 1) / (last - binning.first) : 0;
  return binning;
}

MutualInformation::MutualInformation(const OverviewVolume& reference,
                                     const std::vector<bool>& object, const OverviewVolume& moving,
                                     const std::vector<bool>& moving_object, bool sparse)
    : reference_(&reference.grid),
      moving_(&moving),
      binned_{moving.grid, moving.values},
      joint_(bins * bins) {
  const Binning of_moving = binning_of(moving.values, moving_object);
  for (float& value : binned_.values) value = std::isnan(value) ? value : of_moving(value);
  const Binning of_reference = binning_of(reference.values, object);
  const Shape& shape = reference.grid.shape;
  const std::array<std::int64_t, 3> sides{shape.width, shape.height, shape.depth};
  std::array<std::int64_t, 3> first = sides, last{-1, -1, -1};
  for (std::size_t i = 0; i < object.size(); ++i) {
    if (!object[i]) continue;
    const auto at = static_cast<std::int64_t>(i);
    const std::array<std::int64_t, 3> voxel{at % shape.width, at / shape.width % shape.height,
                                            at / (shape.width * shape.height)};
    for (std::size_t a = 0; a < 3; ++a) {
      first[a] = std::min(first[a], voxel[a]);
      last[a] = std::max(last[a], voxel[a]);
    }
  }
  for (std::size_t a = 0; a < 3; ++a) {
    first[a] = std::max<std::int64_t>(first[a] - box_margin, 0);
    last[a] = std::min(last[a] + box_margin, sides[a] - 1);
  }
  for (std::int64_t z = first[2]; z <= last[2]; ++z) {
    for (std::int64_t y = first[1]; y <= last[1]; ++y) {
      for (std::int64_t x = first[0]; x <= last[0]; ++x) {
        if (sparse && (x + y + z) % 2 != 0) continue;
        const float value = reference.values[reference.index(x, y, z)];
        if (std::isnan(value)) continue;
        samples_.push_back({static_cast<float>(x), static_cast<float>(y), static_cast<float>(z),
                            static_cast<std::size_t>(std::lround(of_reference(value)))});
      }
    }
  }
}

double MutualInformation::operator()(const SpatialTransform& transform) {
  const auto rows = voxel_rows(transform, *reference_, moving_->grid);
  std::fill(joint_.begin(), joint_.end(), 0.0);
  double count = 0;
  for (const Sample& sample : samples_) {
    const Vector3 p =
        mapped_voxel(rows, {static_cast<double>(sample.x), static_cast<double>(sample.y),
                            static_cast<double>(sample.z)});
    const float bin = binned_.at(p[0], p[1], p[2]);
    if (std::isnan(bin)) continue;
    // A value counts in both neighbouring bins, so that the measure is continuous.
    const auto lower = std::min(static_cast<std::size_t>(bin), bins - 2);
    const double upper_part = static_cast<double>(bin) - static_cast<double>(lower);
    double* row = joint_.data() + sample.bin * bins;
    row[lower] += 1 - upper_part;
    row[lower + 1] += upper_part;
    count += 1;
  }
  if (count < min_common_share * static_cast<double>(samples_.size()) || count == 0) return 0;
  std::array<double, bins> first{}, second{};
  double both = 0;
  for (std::size_t i = 0; i < bins; ++i) {
    for (std::size_t j = 0; j < bins; ++j) {
      const double p = joint_[i * bins + j] / count;
      first[i] += p;
      second[j] += p;
      both += entropy_term(p);
    }
  }
  double single = 0;
  for (std::size_t i = 0; i < bins; ++i) single += entropy_term(first[i]) + entropy_term(second[i]);
  return both > 0 ? single / both : 0;
}

}  // namespace warpalign::detail
