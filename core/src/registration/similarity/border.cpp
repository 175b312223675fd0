// Finds the constant border around an image's content.
#include "registration/similarity/border.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace warpalign::detail {

namespace {

constexpr double same_level = 1e-5;  // fraction of the range, for the rounding of weighted means
constexpr double min_area = 0.003;   // fraction of the level; smaller areas are chance
constexpr double min_frame = 0.01;
constexpr double max_frame = 0.7;
constexpr double max_lost = 0.35;  // fraction of the content that growing the border may remove

using Plane = std::vector<std::uint8_t>;

double part_of(const Plane& plane) {
  const auto marked = std::count(plane.begin(), plane.end(), std::uint8_t{1});
  return static_cast<double>(marked) / static_cast<double>(plane.size());
}

}  // namespace

// Stores in area_ the pixels of the connected area around a seed that have its grey level.
void FrameSearch::visit_area(const GreyView& level, std::size_t seed, float tolerance) {
  const auto width = static_cast<std::size_t>(level.width);
  const std::size_t n = level.values.size();
  const float gray = level.values[seed];
  area_.assign(1, seed);
  seen_[seed] = 1;
  for (std::size_t next = 0; next < area_.size(); ++next) {
    const std::size_t at = area_[next];
    const std::size_t x = at % width;
    const auto visit = [&](bool exists, std::size_t neighbour) {
      if (!exists || seen_[neighbour] != 0) return;
      if (!(std::abs(level.values[neighbour] - gray) <= tolerance)) return;
      seen_[neighbour] = 1;
      area_.push_back(neighbour);
    };
    visit(x > 0, at - 1);
    visit(x + 1 < width, at + 1);
    visit(at >= width, at - width);
    visit(at + width < n, at + width);
  }
}

void FrameSearch::find_frame(const GreyView& level) {
  const auto width = static_cast<std::size_t>(level.width);
  const std::size_t n = level.values.size();
  const auto tolerance = static_cast<float>(same_level) * (level.highest - level.lowest);
  seen_.assign(n, 0);
  frame_.assign(n, 0);
  const auto try_seed = [&](std::size_t seed) {
    if (seen_[seed] != 0) return;
    visit_area(level, seed, tolerance);
    if (static_cast<double>(area_.size()) < min_area * static_cast<double>(n)) return;
    for (const std::size_t at : area_) frame_[at] = 1;
  };
  for (std::size_t x = 0; x < width; ++x) {
    try_seed(x);
    try_seed(n - width + x);
  }
  for (std::size_t y = 0; y < n; y += width) {
    try_seed(y);
    try_seed(y + width - 1);
  }
}

// Stores the border, widened by `by` pixels, in content_.
void FrameSearch::grow_frame(const GreyView& level, int by) {
  const auto spread = [&](const Plane& from, Plane& to, std::int64_t dx, std::int64_t dy) {
    to.resize(from.size());
    for (std::int64_t y = 0; y < level.height; ++y) {
      for (std::int64_t x = 0; x < level.width; ++x) {
        std::uint8_t any = 0;
        for (std::int64_t k = -by; k <= by && any == 0; ++k) {
          const std::int64_t u = std::clamp<std::int64_t>(x + k * dx, 0, level.width - 1);
          const std::int64_t v = std::clamp<std::int64_t>(y + k * dy, 0, level.height - 1);
          any = from[static_cast<std::size_t>(v * level.width + u)];
        }
        to[static_cast<std::size_t>(y * level.width + x)] = any;
      }
    }
  };
  spread(frame_, rows_, 1, 0);
  spread(rows_, content_, 0, 1);
}

std::optional<std::span<const std::uint8_t>> FrameSearch::content(const GreyView& level, int grow) {
  if (level.width < 1 || level.height < 1) return std::nullopt;
  find_frame(level);
  const double part = part_of(frame_);
  if (part < min_frame || part > max_frame) return std::nullopt;
  grow_frame(level, grow);
  const double lost = (part_of(content_) - part) / (1 - part);
  if (lost > max_lost) return std::nullopt;
  for (std::uint8_t& pixel : content_) pixel = pixel == 0 ? 1 : 0;
  return content_;
}

}  // namespace warpalign::detail
