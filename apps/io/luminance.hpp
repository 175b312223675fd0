// Colour to gray.
#pragma once

#include "io/image_file.hpp"

#include <optional>

namespace warpalign::program {

/// An image's luminance: 0.2126 red + 0.7152 green + 0.0722 blue (ITU-R BT.709) of the stored
/// samples, or the mean of channels that are no colours. In its own pixel type, but float32 for
/// half precision.
class Luminance {
 public:
  /// `image` must outlive this object, which refers to it if it is gray.
  explicit Luminance(const LoadedImage& image);
  explicit Luminance(LoadedImage&&) = delete;

  [[nodiscard]] const LoadedImage& image() const { return converted_ ? *converted_ : *image_; }

 private:
  const LoadedImage* image_;
  std::optional<LoadedImage> converted_;
};

}  // namespace warpalign::program
