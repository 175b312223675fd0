// Sums over boxes of an image in host memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::detail {

/// Replaces each value of an image, row by row, by the sum over the (2 radius + 1)^2 pixels about
/// it; beyond the edges there is nothing to add. Reuses its memory between calls.
class BoxSum {
 public:
  void apply(std::vector<float>& image, std::int64_t width, std::int64_t height,
             std::int64_t radius) {
    sums_.resize(image.size());
    const auto columns = static_cast<std::size_t>(width);
    line_.resize(columns);
    along_rows(image, width, height, radius);
    // Down the columns, all of a row together.
    std::fill(line_.begin(), line_.end(), 0.0);
    const auto row = [&](std::int64_t y) { return sums_.data() + y * width; };
    for (std::int64_t y = 0; y < std::min(radius, height); ++y) {
      for (std::size_t x = 0; x < columns; ++x) line_[x] += static_cast<double>(row(y)[x]);
    }
    for (std::int64_t y = 0; y < height; ++y) {
      if (y + radius < height) {
        for (std::size_t x = 0; x < columns; ++x) {
          line_[x] += static_cast<double>(row(y + radius)[x]);
        }
      }
      if (y - radius > 0) {
        for (std::size_t x = 0; x < columns; ++x) {
          line_[x] -= static_cast<double>(row(y - radius - 1)[x]);
        }
      }
      float* to = image.data() + y * width;
      for (std::size_t x = 0; x < columns; ++x) to[x] = static_cast<float>(line_[x]);
    }
  }

 private:
  void along_rows(const std::vector<float>& image, std::int64_t width, std::int64_t height,
                  std::int64_t radius) {
    for (std::int64_t y = 0; y < height; ++y) {
      const float* from = image.data() + y * width;
      float* to = sums_.data() + y * width;
      double sum = 0;
      for (std::int64_t x = 0; x < std::min(radius, width); ++x)
        sum += static_cast<double>(from[x]);
      for (std::int64_t x = 0; x < width; ++x) {
        if (x + radius < width) sum += static_cast<double>(from[x + radius]);
        if (x - radius > 0) sum -= static_cast<double>(from[x - radius - 1]);
        to[x] = static_cast<float>(sum);
      }
    }
  }

  std::vector<float> sums_;
  std::vector<double> line_;
};

}  // namespace warpalign::detail
