// Small pictures of a mosaic and its seams.
#include "reports/mosaic_overview.hpp"

#include "io/array_file.hpp"
#include "reports/overlay.hpp"
#include "reports/tile_places.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace warpalign::program {
namespace {

/// The gray levels of a tile as numbers.
struct GrayTile {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<float> values;

  GrayTile(TileFiles& files, std::size_t tile) {
    const TilePixels pixels = files.gray(tile);
    if (pixels.image.data == nullptr) return;
    width = pixels.image.width;
    height = pixels.image.height;
    const std::size_t bytes = static_cast<std::size_t>(width * height) * size_of(pixels.image.type);
    const auto* first = static_cast<const std::byte*>(pixels.image.data);
    const Array array = to_float({{height, width}, pixels.image.type, {first, first + bytes}});
    values.assign(array.samples<float>().begin(), array.samples<float>().end());
  }
  /// Bilinear interpolation, with the edges continued.
  [[nodiscard]] float between(const Point& p) const {
    const double x = std::clamp(p.x, 0.0, static_cast<double>(width - 1));
    const double y = std::clamp(p.y, 0.0, static_cast<double>(height - 1));
    const auto i = std::min(static_cast<std::int64_t>(x), width - 2);
    const auto j = std::min(static_cast<std::int64_t>(y), height - 2);
    const auto u = static_cast<float>(x - static_cast<double>(i));
    const auto v = static_cast<float>(y - static_cast<double>(j));
    const float* above = values.data() + j * width + i;
    const float* below = above + width;
    const float upper = above[0] + u * (above[1] - above[0]);
    const float lower = below[0] + u * (below[1] - below[0]);
    return upper + v * (lower - upper);
  }
};

/// The range that most finite values share.
std::pair<float, float> usual_range(std::vector<float> values) {
  std::erase_if(values, [](float value) { return !std::isfinite(value); });
  if (values.empty()) return {0, 1};
  constexpr double rare = 0.005;
  const auto quantile = [&](double part) {
    const auto at = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<std::size_t>(at)];
  };
  const float low = quantile(rare);
  const float high = quantile(1 - rare);
  return {low, high > low ? high : low + 1};
}

/// The pixel of a tile at a point of the mosaic.
Point in_tile(const MosaicReport& report, std::size_t tile, const Point& point) {
  constexpr int steps = 4;
  const Point target = report.mosaic.tiles[tile].matrix.inverse()(point);
  Point p = target;
  for (int i = 0; i < steps; ++i) {
    const Point d = report.mosaic.distortion.displacement(p);
    p = {target.x - d.x, target.y - d.y};
  }
  return p;
}

/// The mosaic's columns or rows between two coordinates, at most `longest` of them: the first one
/// and their number.
std::pair<std::int64_t, std::int64_t> shared_interval(double least, double largest,
                                                      std::int64_t longest) {
  auto first = static_cast<std::int64_t>(std::ceil(least));
  auto last = static_cast<std::int64_t>(std::floor(largest));
  if (last - first + 1 > longest) {
    first += (last - first + 1 - longest) / 2;
    last = first + longest - 1;
  }
  return {first, last - first + 1};
}

/// The overview's column or row of a coordinate of the mosaic, which is not negative but for
/// rounding.
std::int64_t cell_of(double position, std::int64_t step) { return std::llround(position) / step; }

}  // namespace

MosaicOverview draw_overview(const MosaicReport& report, TileFiles& files) {
  constexpr std::int64_t longest = 1100;
  const Shape& shape = report.mosaic.shape;
  const std::int64_t step =
      std::max<std::int64_t>(1, (std::max(shape.width, shape.height) + longest - 1) / longest);
  const std::int64_t width = (shape.width + step - 1) / step;
  const std::int64_t height = (shape.height + step - 1) / step;
  const auto pixels = static_cast<std::size_t>(width * height);
  std::vector<float> values(pixels, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const GrayTile tile(files, i);
    if (tile.values.empty()) continue;
    const Homography& matrix = report.mosaic.tiles[i].matrix;
    const auto& [least, largest] = bounds_of(report.mosaic.tiles[i], report.tile);
    const std::int64_t first_column = cell_of(least.x, step);
    const std::int64_t first_row = cell_of(least.y, step);
    const std::int64_t columns = cell_of(largest.x, step) - first_column + 1;
    const std::int64_t rows = cell_of(largest.y, step) - first_row + 1;
    std::vector<float> sums(static_cast<std::size_t>(columns * rows), 0);
    std::vector<float> counts(sums.size(), 0);
    for (std::int64_t y = 0; y < tile.height; ++y) {
      for (std::int64_t x = 0; x < tile.width; ++x) {
        const float value = tile.values[static_cast<std::size_t>(y * tile.width + x)];
        if (!std::isfinite(value)) continue;
        const Point p = matrix({static_cast<double>(x), static_cast<double>(y)});
        const auto at = static_cast<std::size_t>((cell_of(p.y, step) - first_row) * columns +
                                                 cell_of(p.x, step) - first_column);
        sums[at] += value;
        counts[at] += 1;
      }
    }
    for (std::size_t at = 0; at < sums.size(); ++at) {
      const std::int64_t row = first_row + static_cast<std::int64_t>(at) / columns;
      const std::int64_t column = first_column + static_cast<std::int64_t>(at) % columns;
      if (!(counts[at] > 0) || row >= height || column >= width) continue;
      values[static_cast<std::size_t>(row * width + column)] = sums[at] / counts[at];
    }
  }
  const auto [low, high] = usual_range(values);
  MosaicOverview overview{make_image(width, height, 1, PixelType::u8), static_cast<double>(step)};
  const std::span<std::uint8_t> to = overview.picture.samples<std::uint8_t>();
  for (std::size_t i = 0; i < pixels; ++i) {
    const float part = std::isfinite(values[i]) ? (values[i] - low) / (high - low) : 0;
    to[i] = static_cast<std::uint8_t>(255 * std::clamp(part, 0.0F, 1.0F) + 0.5F);
  }
  return overview;
}

std::optional<LoadedImage> draw_seam(const MosaicReport& report, TileFiles& files,
                                     const MosaicPair& pair) {
  constexpr std::int64_t longest = 360;
  constexpr std::int64_t shortest = 8;
  const TileBounds a = bounds_of(report.mosaic.tiles[pair.reference], report.tile);
  const TileBounds b = bounds_of(report.mosaic.tiles[pair.moving], report.tile);
  const auto [left, width] =
      shared_interval(std::max(a.least.x, b.least.x), std::min(a.largest.x, b.largest.x), longest);
  const auto [top, height] =
      shared_interval(std::max(a.least.y, b.least.y), std::min(a.largest.y, b.largest.y), longest);
  if (width < shortest || height < shortest) return {};
  std::array<LoadedImage, 2> images;
  std::size_t next = 0;
  for (const std::size_t i : {pair.reference, pair.moving}) {
    const GrayTile tile(files, i);
    if (tile.values.empty()) return {};
    LoadedImage image = make_image(width, height, 1, PixelType::f32);
    const std::span<float> to = image.samples<float>();
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        const Point p =
            in_tile(report, i, {static_cast<double>(left + x), static_cast<double>(top + y)});
        to[static_cast<std::size_t>(y * width + x)] = tile.between(p);
      }
    }
    images[next++] = std::move(image);
  }
  return draw_overlay(images[0], images[1], {}, {width, height, 1});
}

}  // namespace warpalign::program
