// Separates the pixels of a pattern that is fixed to the sensor from those of a scene that moves.
#include "registration/patterns/fixed_pattern.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/upper_median.hpp"
#include "registration/patterns/aligned_residual.hpp"
#include "registration/tasks/lanes.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// Of one motion at a pixel, as a fraction of the other's: the mean squared difference from which
// the pixel votes for it.
constexpr float voting_ratio = 0.5F;
// Where there is nothing to see the differences are rounding errors. This fraction of the mean is
// added to both.
constexpr float added_difference = 0.02F;
// The radii of the boxes whose means are compared, and subtracted before.
constexpr std::int64_t compared_radius = 2;
constexpr std::int64_t offset_radius = 10;
constexpr std::int64_t pattern_margin = 2;

// The shift of a decoy in pixels, and as a fraction of the smaller side.
constexpr double min_decoy = 8;
constexpr double max_decoy = 0.5;
// For images of which nothing else is known: the radius of the mean that leaves their structure,
// the fraction of its median from which structure is more than noise, and the fractions of the
// structure up to which a difference is none and from which it is a change. The difference of
// unrelated images is twice the structure.
constexpr std::int64_t structure_radius = 4;
constexpr float min_structure = 0.25F;
constexpr float same_difference = 0.4F;
constexpr float changed_difference = 1.0F;

// A binomial filter of five samples.
float binomial(float a, float b, float c, float d, float e) {
  return (a + e) * 0.0625F + (b + d) * 0.25F + c * 0.375F;
}

// Filters along both axes. Beyond the edges the values are those at the edge.
void smooth_slightly(std::span<const float> from, std::int64_t width, std::int64_t height,
                     std::vector<float>& between, std::vector<float>& to) {
  between.resize(from.size());
  to.resize(from.size());
  for (std::int64_t y = 0; y < height; ++y) {
    const float* row = from.data() + y * width;
    float* result = between.data() + y * width;
    const auto at_edge = [&](std::int64_t x) {
      const auto value = [&](std::int64_t i) {
        return row[std::clamp<std::int64_t>(i, 0, width - 1)];
      };
      result[x] = binomial(value(x - 2), value(x - 1), value(x), value(x + 1), value(x + 2));
    };
    for (std::int64_t x = 0; x < std::min<std::int64_t>(2, width); ++x) at_edge(x);
    for (std::int64_t x = 2; x < width - 2; ++x) {
      result[x] = binomial(row[x - 2], row[x - 1], row[x], row[x + 1], row[x + 2]);
    }
    for (std::int64_t x = std::max<std::int64_t>(2, width - 2); x < width; ++x) at_edge(x);
  }
  for (std::int64_t y = 0; y < height; ++y) {
    const auto row = [&](std::int64_t i) {
      return between.data() + std::clamp<std::int64_t>(y + i, 0, height - 1) * width;
    };
    const float* a = row(-2);
    const float* b = row(-1);
    const float* c = row(0);
    const float* d = row(1);
    const float* e = row(2);
    float* result = to.data() + y * width;
    for (std::int64_t x = 0; x < width; ++x) result[x] = binomial(a[x], b[x], c[x], d[x], e[x]);
  }
}

// The standard deviation, by the weights of pixels.
template <class Weight>
double weighted_deviation(const std::vector<float>& values, const Weight& weight) {
  Lanes weights{}, sums{}, squares{};
  for_each_in_lanes(values.size(), [&](std::size_t i, std::size_t lane) {
    weights[lane] += weight(i);
    sums[lane] += weight(i) * static_cast<double>(values[i]);
  });
  if (!(total(weights) > 0)) return 0;
  const double mean = total(sums) / total(weights);
  for_each_in_lanes(values.size(), [&](std::size_t i, std::size_t lane) {
    squares[lane] += weight(i) * square(static_cast<double>(values[i]) - mean);
  });
  return std::sqrt(total(squares) / total(weights));
}

// Over the pixels that are 1 in `valid`, or over all if that is empty.
double deviation(const std::vector<float>& values, const std::vector<float>& valid) {
  if (valid.empty()) return weighted_deviation(values, [](std::size_t) { return 1.0; });
  return weighted_deviation(values, [&](std::size_t i) { return static_cast<double>(valid[i]); });
}

}  // namespace

void FixedPattern::take(const SensorImages& images) {
  width_ = images.width;
  height_ = images.height;
  find_valid(images);
  smooth(images.reference, reference_);
  smooth(images.moving, moving_);
  const double spread = deviation(reference_, valid_);
  gain_ = spread > 0 ? static_cast<float>(deviation(moving_, valid_) / spread) : 1.0F;
}

void FixedPattern::find_valid(const SensorImages& images) {
  valid_.clear();
  if (images.reference_weight.empty() && images.moving_weight.empty()) return;
  const auto is_full = [](std::span<const float> weight, std::size_t i) {
    return weight.empty() || weight[i] >= full_weight;
  };
  valid_.resize(images.reference.size());
  for (std::size_t i = 0; i < valid_.size(); ++i) {
    const bool known = is_full(images.reference_weight, i) && is_full(images.moving_weight, i);
    valid_[i] = known ? 1.0F : 0.0F;
  }
  smooth_slightly(valid_, width_, height_, residual_, support_);
}

// Only pixels that count have a part in the result; it is 0 at others.
void FixedPattern::smooth(std::span<const float> image, std::vector<float>& smoothed) {
  if (valid_.empty()) return smooth_slightly(image, width_, height_, residual_, smoothed);
  known_.resize(image.size());
  for (std::size_t i = 0; i < image.size(); ++i) known_[i] = counts(i) ? image[i] : 0;
  smooth_slightly(known_, width_, height_, residual_, smoothed);
  for (std::size_t i = 0; i < image.size(); ++i) {
    smoothed[i] = counts(i) ? smoothed[i] / support_[i] : 0;
  }
}

// Whether all pixels count that have a part in a value of an image.
bool FixedPattern::counts(const ImageCell& cell) const {
  return valid_.empty() || cell.sample(valid_, width_) >= full_weight;
}

void FixedPattern::mean_within(std::vector<float>& values, std::int64_t radius) {
  if (valid_.empty()) return mean_.apply(values, width_, height_, radius);
  mean_.apply(values, valid_, width_, height_, radius);
}

// The mean squared differences gain * image(p) + offset - other(map(p)) about every step-th pixel
// p of `image`, or -1 where there is none.
void FixedPattern::compare(std::span<const float> image, std::span<const float> other,
                           const Homography& map, float gain, std::int64_t step,
                           std::vector<float>& differences) {
  const std::int64_t columns = (width_ + step - 1) / step;
  const std::int64_t rows = (height_ + step - 1) / step;
  const auto count = static_cast<std::size_t>(columns * rows);
  residual_.assign(count, 0);
  known_.assign(count, 0);
  std::size_t i = 0;
  for (std::int64_t y = 0; y < rows; ++y) {
    const CellsOfRow cells(map, y * step, width_, height_);
    for (std::int64_t x = 0; x < columns; ++x, ++i) {
      const auto from = static_cast<std::size_t>(y * step * width_ + x * step);
      if (!counts(from)) continue;
      const auto cell = cells.at(x * step);
      if (!cell || !counts(*cell)) continue;
      residual_[i] = cell->sample(other, width_) - gain * image[from];
      known_[i] = 1;
    }
  }
  const auto mean_of_known = [&](std::vector<float>& values, std::int64_t radius) {
    mean_.apply(values, known_, columns, rows, std::max<std::int64_t>(radius / step, 1));
  };
  differences = residual_;
  mean_of_known(differences, offset_radius);
  for (std::size_t k = 0; k < count; ++k) {
    differences[k] = known_[k] * (residual_[k] - differences[k]) * (residual_[k] - differences[k]);
  }
  mean_of_known(differences, compared_radius);
  for (std::size_t k = 0; k < count; ++k) {
    if (known_[k] == 0) differences[k] = -1;
  }
}

void FixedPattern::compare_motions(const Homography& scene, std::int64_t step) {
  compare(reference_, moving_, Homography{}, gain_, step, at_sensor_);
  compare(reference_, moving_, scene, gain_, step, at_scene_);
  double sum = 0;
  double number = 0;
  for (const float value : at_sensor_) {
    if (value < 0) continue;
    sum += static_cast<double>(value);
    ++number;
  }
  added_ = number > 0 ? added_difference * static_cast<float>(sum / number) : 0;
}

// Whether the difference `a` is much smaller than `b`.
bool FixedPattern::is_much_smaller(float a, float b) const {
  return a >= 0 && b >= 0 && a + added_ < voting_ratio * (b + added_);
}

// A shift that the scene's motion is halfway to from no motion. What looks alike along the motion,
// and what noise makes look alike, does so there as often.
Homography FixedPattern::decoy_of(const Homography& scene) const {
  const Point centre{static_cast<double>(width_ - 1) / 2, static_cast<double>(height_ - 1) / 2};
  const Point at = LocalMap(scene, centre).place;
  Point shift{2 * (at.x - centre.x), 2 * (at.y - centre.y)};
  const double most = max_decoy * static_cast<double>(std::min(width_, height_));
  const double far = length(shift);
  if (far < min_decoy) {
    shift = {min_decoy, 0};
  } else if (far > most) {
    shift = {-shift.y * most / far, shift.x * most / far};
  }
  return Affine::translation(shift.x, shift.y);
}

MotionVotes FixedPattern::votes(const Homography& scene, std::int64_t step, double least_part) {
  compare_motions(scene, step);
  MotionVotes result;
  for (std::size_t i = 0; i < at_scene_.size(); ++i) {
    if (is_much_smaller(at_scene_[i], at_sensor_[i])) ++result.scene;
    if (is_much_smaller(at_sensor_[i], at_scene_[i])) ++result.sensor;
  }
  if (result.sensor < least_part * (result.sensor + result.scene)) return result;
  compare(reference_, moving_, decoy_of(scene), gain_, step, at_decoy_);
  double compared = 0;
  double compared_with_decoy = 0;
  for (std::size_t i = 0; i < at_scene_.size(); ++i) {
    if (is_much_smaller(at_decoy_[i], at_scene_[i])) ++result.chance;
    if (at_scene_[i] < 0) continue;
    ++compared;
    if (at_decoy_[i] >= 0) ++compared_with_decoy;
  }
  result.chance *= compared / std::max(compared_with_decoy, 1.0);
  return result;
}

// What is fixed to the sensor covers other parts of the scene in either image.
std::span<const std::uint8_t> FixedPattern::pattern(const Homography& scene) {
  compare_motions(scene, 1);
  compare(moving_, reference_, scene.inverse(), 1 / gain_, 1, from_moving_);
  pattern_.assign(at_scene_.size(), 0);
  for (std::size_t i = 0; i < pattern_.size(); ++i) {
    const float seen_from_moving = from_moving_[i] < 0 ? -1 : from_moving_[i] * gain_ * gain_;
    const bool is_fixed = is_much_smaller(at_sensor_[i], at_scene_[i]) ||
                          is_much_smaller(at_sensor_[i], seen_from_moving);
    pattern_[i] = is_fixed ? 1 : 0;
  }
  apply_square(1, Square::full);  // leaves out what is narrower than three pixels
  apply_square(1 + pattern_margin, Square::touched);
  return pattern_;
}

// The mean squared differences of the images' structure about each pixel, and its mean square.
void FixedPattern::compare_still() {
  const auto find_structure = [&](const std::vector<float>& image, float gain,
                                  std::vector<float>& structure) {
    structure = image;
    mean_within(structure, structure_radius);
    for (std::size_t i = 0; i < structure.size(); ++i) {
      structure[i] = counts(i) ? gain * (image[i] - structure[i]) : 0;
    }
  };
  find_structure(reference_, gain_, residual_);
  find_structure(moving_, 1, known_);
  structure_.resize(residual_.size());
  at_sensor_.resize(residual_.size());
  for (std::size_t i = 0; i < residual_.size(); ++i) {
    const float difference = residual_[i] - known_[i];
    structure_[i] = 0.5F * (residual_[i] * residual_[i] + known_[i] * known_[i]);
    at_sensor_[i] = difference * difference;
  }
  mean_within(structure_, compared_radius);
  mean_within(at_sensor_, compared_radius);
  for (std::size_t i = 0; i < at_sensor_.size(); ++i) {
    if (!counts(i)) at_sensor_[i] = -1;
  }
  residual_ = structure_;
  if (!valid_.empty()) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < structure_.size(); ++i) {
      if (counts(i)) residual_[count++] = structure_[i];
    }
    residual_.resize(count);
  }
  structure_floor_ = residual_.empty() ? 0 : min_structure * upper_median(std::span(residual_));
}

std::span<const std::uint8_t> FixedPattern::still_pattern() {
  compare_still();
  pattern_.assign(structure_.size(), 0);
  for (std::size_t i = 0; i < pattern_.size(); ++i) {
    const bool is_still = at_sensor_[i] >= 0 && structure_[i] > structure_floor_ &&
                          at_sensor_[i] < same_difference * structure_[i];
    pattern_[i] = is_still ? 1 : 0;
  }
  apply_square(1, Square::touched);
  return pattern_;
}

double FixedPattern::changed_part() {
  compare_still();
  double structured = 0;
  double changed = 0;
  for (std::size_t i = 0; i < structure_.size(); ++i) {
    if (at_sensor_[i] < 0 || !(structure_[i] > structure_floor_)) continue;
    ++structured;
    if (at_sensor_[i] > changed_difference * structure_[i]) ++changed;
  }
  return structured > 0 ? changed / structured : 0;
}

// Sets a pixel if the square about it is full of the pattern, or touches it.
void FixedPattern::apply_square(std::int64_t radius, Square square) {
  residual_.resize(pattern_.size());
  for (std::size_t i = 0; i < pattern_.size(); ++i) residual_[i] = pattern_[i];
  box_.apply(residual_, width_, height_, radius);
  const auto full = static_cast<float>((2 * radius + 1) * (2 * radius + 1));
  for (std::size_t i = 0; i < pattern_.size(); ++i) {
    pattern_[i] = residual_[i] > (square == Square::full ? full - 0.5F : 0.5F) ? 1 : 0;
  }
}

}  // namespace warpalign::detail
