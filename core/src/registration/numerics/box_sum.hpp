// Sums and means over boxes of an image in host memory.
#pragma once

#include <algorithm>
#include <array>
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
  // Several rows together, whose sums do not wait for one another.
  void along_rows(const std::vector<float>& image, std::int64_t width, std::int64_t height,
                  std::int64_t radius) {
    constexpr std::int64_t together = 4;
    std::int64_t y = 0;
    for (; y + together <= height; y += together) {
      along_some_rows<together>(image.data() + y * width, width, radius, sums_.data() + y * width);
    }
    for (; y < height; ++y) {
      along_some_rows<1>(image.data() + y * width, width, radius, sums_.data() + y * width);
    }
  }

  template <std::int64_t rows>
  static void along_some_rows(const float* from, std::int64_t width, std::int64_t radius,
                              float* to) {
    std::array<double, rows> sums{};
    const auto add = [&](std::int64_t x, double sign) {
      for (std::int64_t row = 0; row < rows; ++row) {
        sums[static_cast<std::size_t>(row)] += sign * static_cast<double>(from[row * width + x]);
      }
    };
    for (std::int64_t x = 0; x < std::min(radius, width); ++x) add(x, 1);
    for (std::int64_t x = 0; x < width; ++x) {
      if (x + radius < width) add(x + radius, 1);
      if (x - radius > 0) add(x - radius - 1, -1);
      for (std::int64_t row = 0; row < rows; ++row) {
        to[row * width + x] = static_cast<float>(sums[static_cast<std::size_t>(row)]);
      }
    }
  }

  std::vector<float> sums_;
  std::vector<double> line_;
};

/// Means over the pixels of the same boxes that are within the image. Reuses its memory between
/// calls.
class BoxMean {
 public:
  void apply(std::vector<float>& image, std::int64_t width, std::int64_t height,
             std::int64_t radius) {
    box_.apply(image, width, height, radius);
    columns_.resize(static_cast<std::size_t>(width));
    for (std::int64_t x = 0; x < width; ++x) {
      columns_[static_cast<std::size_t>(x)] = 1 / pixels_within(x, width, radius);
    }
    for (std::int64_t y = 0; y < height; ++y) {
      const float row = 1 / pixels_within(y, height, radius);
      float* to = image.data() + y * width;
      for (std::int64_t x = 0; x < width; ++x) to[x] *= row * columns_[static_cast<std::size_t>(x)];
    }
  }

  /// Of pixels that are known: 1 in `known`, else 0, where `image` is 0 too. The mean of none is 0.
  void apply(std::vector<float>& image, const std::vector<float>& known, std::int64_t width,
             std::int64_t height, std::int64_t radius) {
    if (std::find(known.begin(), known.end(), 0.0F) == known.end()) {
      return apply(image, width, height, radius);
    }
    box_.apply(image, width, height, radius);
    counted_ = known;
    box_.apply(counted_, width, height, radius);
    for (std::size_t i = 0; i < image.size(); ++i) {
      image[i] = counted_[i] > 0.5F ? image[i] / counted_[i] : 0;
    }
  }

 private:
  static float pixels_within(std::int64_t at, std::int64_t size, std::int64_t radius) {
    return static_cast<float>(std::min(at + radius, size - 1) -
                              std::max<std::int64_t>(at - radius, 0) + 1);
  }

  BoxSum box_;
  std::vector<float> columns_, counted_;
};

/// Subtracts from an image a mean about each pixel that is nearly Gaussian, of a deviation of about
/// `radius` pixels.
inline void subtract_local_mean(std::vector<float>& image, std::int64_t width, std::int64_t height,
                                std::int64_t radius) {
  BoxMean box;
  std::vector<float> mean = image;
  for (int pass = 0; pass < 2; ++pass) box.apply(mean, width, height, radius);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] -= mean[i];
}

}  // namespace warpalign::detail
