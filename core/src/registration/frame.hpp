// The constant frame around a picture's content: black corners, a padded border.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace warpalign::detail {

/// A coarse view's grey levels, row-major.
struct GreyView {
  std::int64_t width = 0;
  std::int64_t height = 0;
  const std::vector<float>& values;
  float lowest = 0;  ///< of the values
  float highest = 0;
};

/// 1 where the view shows content, 0 where it shows a frame: areas of one exact grey level that
/// reach in from the edge, with `grow` pixels around. Nothing where there is no frame, or where
/// what it would leave is mostly edges: letters on a white page are content, and so is the page.
std::optional<std::vector<std::uint8_t>> content_within_frame(const GreyView& view, int grow);

}  // namespace warpalign::detail
