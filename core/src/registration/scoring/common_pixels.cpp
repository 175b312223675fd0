// Finds the pixels of the overlap of two images under two transforms.
#include "registration/scoring/common_pixels.hpp"

#include "registration/numerics/mapped_row.hpp"
#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace warpalign::detail {

namespace {

// The number of pixels of a row that are processed together.
constexpr std::size_t block = 32;
using PixelRow = MappedRow<block>;

std::size_t nearest_pixel(Point q, const Shape& shape) {
  return static_cast<std::size_t>(std::llround(q.y) * shape.width + std::llround(q.x));
}

// Whether pixel `i` of the coarse image and both positions in the fine image have full weight.
bool have_full_weight(const WeightedPair& pair, std::size_t i, Point q0, Point q1) {
  return pair.coarse_weight[i] >= full_weight &&
         pair.fine_weight[nearest_pixel(q0, pair.fine)] >= full_weight &&
         pair.fine_weight[nearest_pixel(q1, pair.fine)] >= full_weight;
}

// Sets `counts` to 1 for each pixel of a block whose two positions are at least one pixel inside
// the border of the fine image, and to 0 for the others.
void mark_inside(const PixelRow& q0, const PixelRow& q1, const Shape& fine,
                 std::span<std::uint8_t> counts) {
  const auto right = static_cast<double>(fine.width - 2);
  const auto bottom = static_cast<double>(fine.height - 2);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const bool inside = (q0.x[i] >= 1) & (q0.y[i] >= 1) & (q0.x[i] < right) & (q0.y[i] < bottom) &
                        (q1.x[i] >= 1) & (q1.y[i] >= 1) & (q1.x[i] < right) & (q1.y[i] < bottom);
    counts[i] = inside ? 1 : 0;
  }
}

}  // namespace

double find_common(const WeightedPair& pair, const Homography& simpler, const Homography& richer,
                   std::vector<std::uint8_t>& counts) {
  counts.resize(static_cast<std::size_t>(pair.coarse.plane()));
  const auto width = static_cast<std::size_t>(pair.coarse.width);
  PixelRow::Numbers along{};
  PixelRow::Numbers squares{};  // lane sums: of every block's first pixel, second pixel, ...
  PixelRow::Numbers pixels{};
  for (std::size_t i = 0; i < counts.size(); i += std::min(block, width - i % width)) {
    const std::size_t first = i % width;
    const auto of_block = std::span(counts).subspan(i, std::min(block, width - first));
    const auto y = static_cast<double>(i / width);
    for (std::size_t k = 0; k < block; ++k) along[k] = static_cast<double>(first + k);
    const PixelRow q0(simpler, along, y);
    const PixelRow q1(richer, along, y);
    mark_inside(q0, q1, pair.fine, of_block);
    if (!pair.coarse_weight.empty()) {
      for (std::size_t k = 0; k < of_block.size(); ++k) {
        if (of_block[k] == 0) continue;
        of_block[k] = have_full_weight(pair, i + k, {q0.x[k], q0.y[k]}, {q1.x[k], q1.y[k]}) ? 1 : 0;
      }
    }
    for (std::size_t k = 0; k < of_block.size(); ++k) {
      const double apart = square(q0.x[k] - q1.x[k]) + square(q0.y[k] - q1.y[k]);
      squares[k] += of_block[k] != 0 ? apart : 0;
      pixels[k] += of_block[k];
    }
  }
  const double count = std::accumulate(pixels.begin(), pixels.end(), 0.0);
  return count > 0 ? std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0) / count) : 0;
}

}  // namespace warpalign::detail
