// The constant frame around a picture's content: black corners, a padded border.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// A coarse view's grey levels, row-major.
struct GreyView {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::span<const float> values;
  float lowest = 0;  ///< of the values
  float highest = 0;
};

/// Keeps its memory from picture to picture: new pages cost more than the search.
class FrameSearch {
 public:
  /// 1 where the view shows content, 0 where it shows a frame: areas of one exact grey level that
  /// reach in from the edge, with `grow` pixels around. Nothing where there is no frame, or where
  /// what it would leave is mostly edges: letters on a white page are content, and so is the page.
  /// Valid until the next call.
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
