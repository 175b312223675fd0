// The mean of the frames of a stack that have been aligned so far, computed on the host.
#include "commands/running_mean.hpp"

#include "io/gray_levels.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::program {
namespace {

/// Replaces masked pixels by the mean of the others, so that their values do not spread through the
/// spline.
void fill_masked(std::span<float> levels, std::span<const std::uint8_t> mask) {
  double sum = 0;
  double count = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (mask[i] == 0) continue;
    sum += static_cast<double>(levels[i]);
    count += 1;
  }
  const auto mean = static_cast<float>(sum / count);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (mask[i] == 0) levels[i] = mean;
  }
}

}  // namespace

RunningMean::RunningMean(const Shape& shape, const std::optional<LoadedImage>& mask)
    : shape_(shape),
      frame_mask_(mask),
      sums_(static_cast<std::size_t>(shape.plane())),
      counts_(static_cast<std::size_t>(shape.plane())) {}

void RunningMean::add(const LoadedImage& frame, GridMap& map) {
  LoadedImage gray = make_image(shape_.width, shape_.height, 1, PixelType::f32);
  const std::vector<float> levels = gray_levels(frame);
  std::copy(levels.begin(), levels.end(), gray.samples<float>().begin());
  if (frame_mask_) fill_masked(gray.samples<float>(), frame_mask_->samples<std::uint8_t>());
  const LoadedImage aligned = map.warp(gray);
  const auto values = aligned.samples<float>();
  std::size_t i = 0;
  for (std::int64_t y = 0; y < shape_.height; ++y) {
    for (std::int64_t x = 0; x < shape_.width; ++x, ++i) {
      if (!std::isfinite(values[i]) || !counts_at(map.at(x, y))) continue;
      sums_[i] += static_cast<double>(values[i]);
      ++counts_[i];
    }
  }
}

void RunningMean::add_unmoved(const LoadedImage& frame) {
  const std::vector<float> levels = gray_levels(frame);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (!std::isfinite(levels[i])) continue;
    sums_[i] += static_cast<double>(levels[i]);
    ++counts_[i];
  }
}

bool RunningMean::counts_at(Point in_frame) const {
  const bool inside = in_frame.x >= 0 && in_frame.y >= 0 &&
                      in_frame.x <= static_cast<double>(shape_.width - 1) &&
                      in_frame.y <= static_cast<double>(shape_.height - 1);
  return inside && (!frame_mask_ || unmasked_around(in_frame));
}

// Whether all 4 x 4 pixels around the point, which the cubic spline uses, are unmasked.
bool RunningMean::unmasked_around(Point in_frame) const {
  const auto mask = frame_mask_->samples<std::uint8_t>();
  const auto left = static_cast<std::int64_t>(std::floor(in_frame.x)) - 1;
  const auto top = static_cast<std::int64_t>(std::floor(in_frame.y)) - 1;
  for (std::int64_t y = std::max<std::int64_t>(top, 0); y < std::min(top + 4, shape_.height); ++y) {
    for (std::int64_t x = std::max<std::int64_t>(left, 0); x < std::min(left + 4, shape_.width);
         ++x) {
      if (mask[static_cast<std::size_t>(y * shape_.width + x)] == 0) return false;
    }
  }
  return true;
}

LoadedImage RunningMean::mean() const {
  LoadedImage image = make_image(shape_.width, shape_.height, 1, PixelType::f32);
  const auto values = image.samples<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (counts_[i] > 0) values[i] = static_cast<float>(sums_[i] / counts_[i]);
  }
  return image;
}

std::optional<LoadedImage> RunningMean::mask() const {
  if (!frame_mask_) return {};
  LoadedImage image = make_image(shape_.width, shape_.height, 1, PixelType::u8);
  const auto marks = image.samples<std::uint8_t>();
  for (std::size_t i = 0; i < marks.size(); ++i) marks[i] = counts_[i] > 0 ? 255 : 0;
  return image;
}

}  // namespace warpalign::program
