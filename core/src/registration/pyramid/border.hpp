// Finds the constant border around an image's content, such as black corners or padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The intensities of a coarse pyramid level, row-major.
struct GreyImage {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::span<const float> values;
  float minimum = 0;
  float maximum = 0;
};

/// Reuses its memory from image to image, because touching new memory costs more than the search.
class BorderSearch {
 public:
  /// Returns a mask with 1 for content and 0 for the border. The border consists of the areas of
  /// one exact intensity that touch the image's edge, widened by `margin` pixels. Returns nothing
  /// if there is no border, or if the remaining content would be mostly edges: in an image of
  /// letters on a white page, the page is content too. The result is valid until the next call.
  [[nodiscard]] std::optional<std::span<const std::uint8_t>> content(const GreyImage& level,
                                                                     int margin);

 private:
  void flood_fill(const GreyImage& level, std::size_t seed, float tolerance);
  bool find_border(const GreyImage& level);
  void dilate_border(const GreyImage& level, int radius);

  std::vector<std::uint8_t> visited_, border_, rows_, content_;
  std::vector<std::size_t> area_;
};

}  // namespace warpalign::detail
