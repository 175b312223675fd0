// The bounds of the points of a box.
#include "tiles/point_bounds.hpp"

#include "device/lanes.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace warpalign::detail {
namespace {

constexpr std::int64_t block_width = 32;
constexpr std::int64_t block_height = 16;
constexpr float infinity = std::numeric_limits<float>::infinity();

/// The intersection of two regions.
Region common(const Region& a, const Region& b) {
  const auto along = [](std::int64_t begin_a, std::int64_t length_a, std::int64_t begin_b,
                        std::int64_t length_b) {
    const std::int64_t begin = std::max(begin_a, begin_b);
    return std::pair{begin, std::min(begin_a + length_a, begin_b + length_b) - begin};
  };
  const auto x = along(a.begin[0], a.shape.width, b.begin[0], b.shape.width);
  const auto y = along(a.begin[1], a.shape.height, b.begin[1], b.shape.height);
  const auto z = along(a.begin[2], a.shape.depth, b.begin[2], b.shape.depth);
  return {{x.first, y.first, z.first}, {x.second, y.second, z.second}};
}

}  // namespace

PointBounds::PointBounds(const float* coordinates, const Shape& output, std::size_t threads)
    : coordinates_(coordinates),
      output_(output),
      blocks_{(output.width + block_width - 1) / block_width,
              (output.height + block_height - 1) / block_height, output.depth},
      extremes_(static_cast<std::size_t>(blocks_.pixels())) {
  const auto rows = static_cast<std::size_t>(blocks_.height * blocks_.depth);
  run_in_lanes(threads, rows, [this](std::size_t, std::size_t row) {
    const std::int64_t y = static_cast<std::int64_t>(row) % blocks_.height;
    const std::int64_t z = static_cast<std::int64_t>(row) / blocks_.height;
    for (std::int64_t x = 0; x < blocks_.width; ++x) {
      extremes_[index_of(x, y, z)] = read(block(x, y, z));
    }
  });
}

std::size_t PointBounds::index_of(std::int64_t x, std::int64_t y, std::int64_t z) const {
  return static_cast<std::size_t>((z * blocks_.height + y) * blocks_.width + x);
}

Region PointBounds::block(std::int64_t x, std::int64_t y, std::int64_t z) const {
  return common({{x * block_width, y * block_height, z}, {block_width, block_height, 1}},
                {{}, output_});
}

// Compares by columns, so that the compiler can vectorize. A comparison with NaN is false.
PointBounds::Extremes PointBounds::read(const Region& part_of_block) const {
  std::array<float, block_width> low{}, high{};
  low.fill(infinity);
  high.fill(-infinity);
  const auto width = static_cast<std::size_t>(part_of_block.shape.width);
  for (std::int64_t y = 0; y < part_of_block.shape.height; ++y) {
    const std::int64_t line = part_of_block.begin[2] * output_.height + part_of_block.begin[1] + y;
    const float* from = coordinates_ + line * output_.width + part_of_block.begin[0];
    for (std::size_t x = 0; x < width; ++x) {
      low[x] = from[x] < low[x] ? from[x] : low[x];
      high[x] = from[x] > high[x] ? from[x] : high[x];
    }
  }
  return {*std::min_element(low.begin(), low.end()), *std::max_element(high.begin(), high.end())};
}

Interval PointBounds::of(const Region& region) const {
  Extremes all{infinity, -infinity};
  const std::int64_t end_x = region.begin[0] + region.shape.width;
  const std::int64_t end_y = region.begin[1] + region.shape.height;
  const std::int64_t end_z = region.begin[2] + region.shape.depth;
  for (std::int64_t z = region.begin[2]; z < end_z; ++z) {
    for (std::int64_t y = region.begin[1] / block_height; y * block_height < end_y; ++y) {
      for (std::int64_t x = region.begin[0] / block_width; x * block_width < end_x; ++x) {
        const Region whole = block(x, y, z);
        const Region part = common(whole, region);
        const Extremes some = part == whole ? extremes_[index_of(x, y, z)] : read(part);
        all = {std::min(all.low, some.low), std::max(all.high, some.high)};
      }
    }
  }
  return all.low <= all.high ? Interval{all.low, all.high} : Interval{};
}

}  // namespace warpalign::detail
