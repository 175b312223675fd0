// The mean of several images, each warped to a common grid.
#pragma once

#include "templates/equal_images.hpp"

#include <warpalign/device.hpp>
#include <warpalign/stages/resample.hpp>
#include <warpalign/transform.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace warpalign::detail {

/// Warps images by their cubic splines. Keeps plans and memory from one image to the next.
class ArrayWarper {
 public:
  /// `output`: the shape of all results.
  ArrayWarper(const Device& device, const Shape& output, int dimensions);

  /// NaN outside of the image, and where less than half of the spline's support is known. Samples
  /// of the image that are not finite are unknown; not all may be.
  [[nodiscard]] std::vector<float> warp(const FloatArray& image, const Transform& transform);

 private:
  struct Plan {
    Plan(const Device& device, const ResampleSpec& spec);
    ResamplePlan resample;
    Image input;
  };
  [[nodiscard]] ResampleSpec spec_for(const Shape& image, PixelType type) const;
  /// The results are in `samples` after this.
  void run(Plan& plan, const void* image, std::vector<float>& samples);
  void mark_unknown(const std::vector<std::uint8_t>& known, const Shape& image,
                    std::vector<float>& warped);

  Device device_;
  Shape output_;
  int dimensions_;
  Stream stream_;
  Image coordinates_, result_;
  Shape planned_;  // the shape of the image for which `values_` and `mask_` are
  std::optional<Plan> values_, mask_;
};

/// The mean of images on a grid, at each pixel over those that are known there.
class MeanImage {
 public:
  explicit MeanImage(const Shape& shape);

  /// NaN: unknown.
  void add(const std::vector<float>& image);
  /// NaN where no image is known.
  [[nodiscard]] FloatArray mean() const;

 private:
  Shape shape_;
  std::vector<double> sum_;
  std::vector<std::uint32_t> count_;
};

}  // namespace warpalign::detail
