// Finds the constant border around an image's content, such as black corners or padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The grey levels of a coarse pyramid level, row-major.
struct GreyView {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::span<const float> values;
  float lowest = 0;   ///< minimum of the values
  float highest = 0;  ///< maximum of the values
};

/// Keeps its memory from image to image, because new memory pages cost more than the search.
class FrameSearch {
 public:
  /// Marks pixels of content by 1 and pixels of the border by 0. The border consists of the areas
  /// of one exact grey level that touch the image's edge, widened by `grow` pixels. Returns nothing
  /// where there is no border, or where the content left would be mostly edges: letters on a white
  /// page are content, and so is the page. The result is valid until the next call.
  [[nodiscard]] std::optional<std::span<const std::uint8_t>> content(const GreyView& level,
                                                                     int grow);

 private:
  void visit_area(const GreyView& level, std::size_t seed, float tolerance);
  void find_frame(const GreyView& level);
  void grow_frame(const GreyView& level, int by);

  std::vector<std::uint8_t> seen_, frame_, rows_, content_;
  std::vector<std::size_t> area_;
};

}  // namespace warpalign::detail
