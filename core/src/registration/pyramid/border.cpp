// Finds the constant border around an image's content.
#include "registration/pyramid/border.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace warpalign::detail {

namespace {

// Fraction of the range, for the rounding of weighted means.
constexpr double value_tolerance = 1e-5;
constexpr double min_area = 0.003;  // fraction of the level; smaller areas arise by chance
constexpr double min_border = 0.01;
constexpr double max_border = 0.7;
constexpr double max_content_loss = 0.35;  // fraction of the content, by widening the border

using Plane = std::vector<std::uint8_t>;

double fraction_of(const Plane& plane) {
  const auto marked = std::count(plane.begin(), plane.end(), std::uint8_t{1});
  return static_cast<double>(marked) / static_cast<double>(plane.size());
}

void mark_where_marked(const std::uint8_t* from, std::uint8_t* to, std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 0; i < count; ++i) to[i] |= from[i];
}

}  // namespace

// Sets area_ to the pixels of the connected area around a seed that have the seed's intensity.
void BorderSearch::flood_fill(const GreyImage& level, std::size_t seed, float tolerance) {
  const auto width = static_cast<std::size_t>(level.width);
  const std::size_t n = level.values.size();
  const float gray = level.values[seed];
  area_.assign(1, seed);
  visited_[seed] = 1;
  for (std::size_t next = 0; next < area_.size(); ++next) {
    const std::size_t at = area_[next];
    const std::size_t x = at % width;
    const auto visit = [&](bool exists, std::size_t neighbour) {
      if (!exists || visited_[neighbour] != 0) return;
      if (!(std::abs(level.values[neighbour] - gray) <= tolerance)) return;
      visited_[neighbour] = 1;
      area_.push_back(neighbour);
    };
    visit(x > 0, at - 1);
    visit(x + 1 < width, at + 1);
    visit(at >= width, at - width);
    visit(at + width < n, at + width);
  }
}

// Returns false if there is no border; sets border_ only if there is one.
bool BorderSearch::find_border(const GreyImage& level) {
  const auto width = static_cast<std::size_t>(level.width);
  const std::size_t n = level.values.size();
  const auto tolerance = static_cast<float>(value_tolerance) * (level.maximum - level.minimum);
  bool found = false;
  visited_.assign(n, 0);
  const auto try_seed = [&](std::size_t seed) {
    if (visited_[seed] != 0) return;
    flood_fill(level, seed, tolerance);
    if (static_cast<double>(area_.size()) < min_area * static_cast<double>(n)) return;
    if (!found) border_.assign(n, 0);
    found = true;
    for (const std::size_t at : area_) border_[at] = 1;
  };
  for (std::size_t x = 0; x < width; ++x) {
    try_seed(x);
    try_seed(n - width + x);
  }
  for (std::size_t y = 0; y < n; y += width) {
    try_seed(y);
    try_seed(y + width - 1);
  }
  return found;
}

// Sets content_ to the border, widened by `radius` pixels. Shifts whole rows, which the compiler
// vectorizes.
void BorderSearch::dilate_border(const GreyImage& level, int radius) {
  const auto n = static_cast<std::ptrdiff_t>(border_.size());
  const auto width = static_cast<std::ptrdiff_t>(level.width);
  rows_ = border_;
  for (std::ptrdiff_t row = 0; row < n; row += width) {
    for (std::ptrdiff_t by = 1; by <= std::min<std::ptrdiff_t>(radius, width - 1); ++by) {
      mark_where_marked(border_.data() + row, rows_.data() + row + by, width - by);
      mark_where_marked(border_.data() + row + by, rows_.data() + row, width - by);
    }
  }
  content_ = rows_;
  for (std::ptrdiff_t by = width; by <= std::min(radius * width, n - width); by += width) {
    mark_where_marked(rows_.data(), content_.data() + by, n - by);
    mark_where_marked(rows_.data() + by, content_.data(), n - by);
  }
}

std::optional<std::span<const std::uint8_t>> BorderSearch::content(const GreyImage& level,
                                                                   int margin) {
  if (level.width < 1 || level.height < 1) return std::nullopt;
  if (!find_border(level)) return std::nullopt;
  const double part = fraction_of(border_);
  if (part < min_border || part > max_border) return std::nullopt;
  dilate_border(level, margin);
  const double lost = (fraction_of(content_) - part) / (1 - part);
  if (lost > max_content_loss) return std::nullopt;
  for (std::uint8_t& pixel : content_) pixel = pixel == 0 ? 1 : 0;
  return content_;
}

}  // namespace warpalign::detail
