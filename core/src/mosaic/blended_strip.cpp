// Blends tiles that lie on the picture's grid.
#include "mosaic/blended_strip.hpp"

#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace warpalign::detail {
namespace {

/// The distance of pixel k of the grid to the nearest edge of the tile without its border, in
/// pixels; 0 outside.
float distance_to_edge(std::int64_t k, std::int64_t size, double fraction, std::int64_t border) {
  // In the tile's own pixels.
  const double position = static_cast<double>(k - border) - fraction;
  const auto last = static_cast<double>(size - 1 - 2 * border);
  if (position < 0 || position > last) return 0;
  return static_cast<float>(std::min(position, last - position) + 0.5);
}

/// The same for a position in the tile's own pixels, along one axis.
double distance_to_edge(double position, std::int64_t size) {
  const double distance = std::min(position, static_cast<double>(size - 1) - position);
  return distance < -grid_tolerance ? 0 : std::max(distance, 0.0) + 0.5;
}

std::vector<float> distances(std::int64_t size, double fraction, std::int64_t border) {
  std::vector<float> result(static_cast<std::size_t>(size));
  for (std::int64_t k = 0; k < size; ++k) {
    result[static_cast<std::size_t>(k)] = distance_to_edge(k, size, fraction, border);
  }
  return result;
}

/// `known`: null if all samples are.
template <typename Sample>
void add_samples(const std::byte* row, const std::uint8_t* known, std::span<const float> weights,
                 float row_weight, float* sums, float* sum_of_weights) {
  const auto* samples = reinterpret_cast<const Sample*>(row);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (known != nullptr && known[i] == 0) continue;
    const float weight = weights[i] * row_weight;
    sums[i] += weight * static_cast<float>(samples[i]);
    sum_of_weights[i] += weight;
  }
}

template <typename Sample>
void divide(std::span<const float> sums, std::span<const float> weights,
            std::optional<double> nodata, std::byte* output) {
  auto* samples = reinterpret_cast<Sample*>(output);
  const auto empty = static_cast<Sample>(nodata.value_or(0));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (!(weights[i] > 0)) {
      samples[i] = empty;
      continue;
    }
    const float value = sums[i] / weights[i];
    if constexpr (std::is_integral_v<Sample>) {
      constexpr Sample largest = std::numeric_limits<Sample>::max();
      constexpr auto most = static_cast<float>(largest);
      samples[i] = static_cast<Sample>(std::min(std::floor(value + 0.5F), most));
      if (nodata && samples[i] == empty) {
        samples[i] = static_cast<Sample>(empty < largest ? empty + 1 : empty - 1);
      }
    } else {
      samples[i] = value;
    }
  }
}

}  // namespace

BlendedStrip::BlendedStrip(std::int64_t width, std::int64_t max_rows, PixelType type,
                           std::optional<double> nodata)
    : width_(width),
      type_(type),
      nodata_(nodata),
      sums_(static_cast<std::size_t>(width * max_rows)),
      weights_(static_cast<std::size_t>(width * max_rows)) {}

void BlendedStrip::add_row(const PlacedTile& tile, std::size_t channel, std::size_t first_pixel,
                           std::size_t first_sum, std::span<const float> weights,
                           float row_weight) {
  const std::byte* row = tile.channels[channel].data() + first_pixel * size_of(type_);
  const std::vector<std::uint8_t>& all_known = tile.known[channel];
  const std::uint8_t* known = all_known.empty() ? nullptr : all_known.data() + first_pixel;
  float* sums = sums_.data() + first_sum;
  float* sum_of_weights = weights_.data() + first_sum;
  if (type_ == PixelType::u8) {
    add_samples<std::uint8_t>(row, known, weights, row_weight, sums, sum_of_weights);
  } else if (type_ == PixelType::u16) {
    add_samples<std::uint16_t>(row, known, weights, row_weight, sums, sum_of_weights);
  } else {
    add_samples<float>(row, known, weights, row_weight, sums, sum_of_weights);
  }
}

void BlendedStrip::add(const PlacedTile& tile, std::size_t channel, std::int64_t plane,
                       std::int64_t top, std::int64_t rows) {
  const auto& [width, height, depth] = tile.shape;
  const auto& [x0, y0, z0] = tile.first;
  // For images this is 1/2, by which the sums and the weights grow alike.
  const float plane_weight = distance_to_edge(plane - z0, depth, tile.fraction.z, 0);
  if (!(plane_weight > 0)) return;
  const std::vector<float> along_x = distances(width, tile.fraction.x, tile.border);
  const std::int64_t left = std::max<std::int64_t>(0, x0);
  const std::int64_t right = std::min(width_, x0 + width);
  if (right <= left) return;
  const auto count = static_cast<std::size_t>(right - left);
  const std::span<const float> weights(along_x.data() + (left - x0), count);
  const std::int64_t first = std::max(top, y0);
  const std::int64_t last = std::min(top + rows, y0 + height);
  for (std::int64_t y = first; y < last; ++y) {
    const float row_weight =
        plane_weight * distance_to_edge(y - y0, height, tile.fraction.y, tile.border);
    const std::int64_t row_of_tile = (plane - z0) * height + y - y0;
    add_row(tile, channel, static_cast<std::size_t>(row_of_tile * width + left - x0),
            static_cast<std::size_t>((y - top) * width_ + left), weights, row_weight);
  }
}

void BlendedStrip::add_rotated(const PlacedTile& tile, std::size_t channel, std::int64_t top,
                               std::int64_t rows) {
  const auto& [width, height, depth] = tile.shape;
  const std::int64_t x0 = tile.first[0];
  const std::int64_t y0 = tile.first[1];
  const Shape& own = tile.rotated->tile;
  const std::int64_t left = std::max<std::int64_t>(0, x0);
  const std::int64_t right = std::min(width_, x0 + width);
  if (right <= left) return;
  std::vector<float> weights(static_cast<std::size_t>(right - left));
  for (std::int64_t y = std::max(top, y0); y < std::min(top + rows, y0 + height); ++y) {
    for (std::int64_t x = left; x < right; ++x) {
      const Point p =
          LocalMap(tile.rotated->to_tile, {static_cast<double>(x), static_cast<double>(y)}).place;
      weights[static_cast<std::size_t>(x - left)] =
          static_cast<float>(distance_to_edge(p.x, own.width) * distance_to_edge(p.y, own.height));
    }
    add_row(tile, channel, static_cast<std::size_t>((y - y0) * width + left - x0),
            static_cast<std::size_t>((y - top) * width_ + left), weights, 1);
  }
}

std::vector<std::byte> BlendedStrip::blend(std::span<const PlacedTile> tiles, std::size_t channel,
                                           std::int64_t plane, std::int64_t top,
                                           std::int64_t rows) {
  const auto pixels = static_cast<std::size_t>(width_ * rows);
  std::fill_n(sums_.begin(), pixels, 0.0F);
  std::fill_n(weights_.begin(), pixels, 0.0F);
  for (const PlacedTile& tile : tiles) {
    if (tile.first[2] > plane || tile.end(2) <= plane) continue;
    if (tile.first[1] >= top + rows || tile.end(1) <= top) continue;
    if (tile.rotated) {
      add_rotated(tile, channel, top, rows);
    } else {
      add(tile, channel, plane, top, rows);
    }
  }
  std::vector<std::byte> output(pixels * size_of(type_));
  const std::span<const float> sums(sums_.data(), pixels);
  const std::span<const float> weights(weights_.data(), pixels);
  if (type_ == PixelType::u8) {
    divide<std::uint8_t>(sums, weights, nodata_, output.data());
  } else if (type_ == PixelType::u16) {
    divide<std::uint16_t>(sums, weights, nodata_, output.data());
  } else {
    divide<float>(sums, weights, nodata_, output.data());
  }
  return output;
}

}  // namespace warpalign::detail
