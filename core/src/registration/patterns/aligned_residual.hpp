// The residual of two images of one shape after the alignment by a motion, in host memory.
#pragma once

#include "registration/numerics/plane_geometry.hpp"
#include "registration/patterns/fixed_pattern.hpp"

#include <warpalign/geometry.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The four pixels about a point of an image, and its position among them.
struct ImageCell {
  std::size_t first;  ///< index of the upper left pixel
  float u, v;

  /// The value at the point, interpolated bilinearly.
  [[nodiscard]] float sample(std::span<const float> image, std::int64_t width) const {
    const float* above = image.data() + first;
    const float* below = above + width;
    const float upper = above[0] + u * (above[1] - above[0]);
    const float lower = below[0] + u * (below[1] - below[0]);
    return upper + v * (lower - upper);
  }
};

/// The cells to which the pixels of row y map.
class CellsOfRow {
 public:
  CellsOfRow(const Homography& map, std::int64_t y, std::int64_t width, std::int64_t height)
      : h_(map.h),
        affine_(map.is_affine()),
        x0_(h_[1] * static_cast<double>(y) + h_[2]),
        y0_(h_[4] * static_cast<double>(y) + h_[5]),
        w0_(h_[7] * static_cast<double>(y) + h_[8]),
        end_x_(static_cast<double>(width - 1)),
        end_y_(static_cast<double>(height - 1)),
        width_(width) {}

  /// Nothing outside the image.
  [[nodiscard]] std::optional<ImageCell> at(std::int64_t column) const {
    const auto x = static_cast<double>(column);
    Point to{h_[0] * x + x0_, h_[3] * x + y0_};
    if (!affine_) {
      const double w = h_[6] * x + w0_;
      if (!(w * h_[8] > 0)) return std::nullopt;
      to = {to.x / w, to.y / w};
    }
    if (!(to.x >= 0 && to.y >= 0 && to.x < end_x_ && to.y < end_y_)) return std::nullopt;
    const auto left = static_cast<std::int32_t>(to.x);
    const auto top = static_cast<std::int32_t>(to.y);
    return ImageCell{static_cast<std::size_t>(top * width_ + left), static_cast<float>(to.x - left),
                     static_cast<float>(to.y - top)};
  }

 private:
  std::array<double, 9> h_;
  bool affine_;  // then the divisor is 1
  double x0_, y0_, w0_, end_x_, end_y_;
  std::int64_t width_;
};

/// moving(T x) - gain * reference(x). Reuses its memory between calls.
struct AlignedResidual {
  /// `motion`: T, reference -> moving pixels.
  void take(const SensorImages& images, const Homography& motion, float gain);

  std::int64_t width = 0, height = 0;
  std::vector<float> values;  ///< 0 where nothing is known
  std::vector<float> known;   ///< 1 where both images are, with full weights; else 0
};

}  // namespace warpalign::detail
