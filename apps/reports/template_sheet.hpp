// A picture of the images of a template, of their mean, and of the template.
#pragma once

#include "io/image_file.hpp"
#include "io/npy.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::program {

/// Takes the images one by one, and keeps the first ones and the mean of all.
class TemplateSheet {
 public:
  /// The sides of the template; images are cut or extended to them.
  TemplateSheet(std::int64_t width, std::int64_t height);

  /// `plane`: f32 of two dimensions.
  void add(const Array& plane);
  /// The first images, the mean of all before the registration, each with the same mean and
  /// deviation, and the template. `used`: whether each image is part of it. 8-bit gray; black where
  /// there is no image.
  [[nodiscard]] LoadedImage draw(const Array& found, const std::vector<bool>& used) const;

 private:
  /// On the template's sides; NaN elsewhere.
  [[nodiscard]] std::vector<float> placed(const Array& plane) const;
  void add_to_mean(const std::vector<float>& samples);
  [[nodiscard]] LoadedImage picture_of(const std::vector<float>& samples) const;

  std::int64_t width_, height_;
  std::vector<LoadedImage> first_;
  std::vector<double> sum_;
  std::vector<double> count_;
};

}  // namespace warpalign::program
