// Tiles without the distortion that they have in common.
#include "mosaic/undistorted_tiles.hpp"

#include "device/host_rows.hpp"
#include "mosaic/distorted_pixel.hpp"

#include <warpalign/missing.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace warpalign::detail {

std::vector<float> undistorted_coordinates(const TileDistortion& distortion, const Shape& shape,
                                           const Point& offset) {
  constexpr int steps = 5;
  const auto pixels = static_cast<std::size_t>(shape.plane());
  std::vector<float> coordinates(2 * pixels);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const auto i = static_cast<std::size_t>(y * shape.width + x);
      const Point p = distorted_pixel(
          distortion, {static_cast<double>(x) + offset.x, static_cast<double>(y) + offset.y},
          steps);
      coordinates[i] = static_cast<float>(p.x);
      coordinates[pixels + i] = static_cast<float>(p.y);
    }
  }
  return coordinates;
}

std::int64_t undistorted_border(const TileDistortion& distortion, const Shape& shape) {
  double largest = 0;
  const auto right = static_cast<double>(shape.width - 1);
  const auto bottom = static_cast<double>(shape.height - 1);
  constexpr int steps = 64;
  for (int i = 0; i <= steps; ++i) {
    const double x = right * i / steps;
    const double y = bottom * i / steps;
    for (const Point& p : {Point{x, 0}, Point{x, bottom}, Point{0, y}, Point{right, y}}) {
      const Point d = distortion.displacement(p);
      largest = std::max({largest, std::abs(d.x), std::abs(d.y)});
    }
  }
  return static_cast<std::int64_t>(std::ceil(largest));
}

UndistortedTiles::UndistortedTiles(const Device& device, std::span<const MosaicTile> tiles,
                                   TileCache& cache, const TileDistortion& distortion)
    : device_(device),
      cache_(cache),
      whole_(tiles.front().shape),
      border_(undistorted_border(distortion, whole_)),
      stream_(device.make_stream()),
      field_(undistorted_coordinates(distortion, whole_, {})),
      coordinates_(device.make_image(PixelType::f32, {whole_.width, whole_.height, 2})),
      output_(device.make_image(PixelType::f32, whole_)) {
  for (const MosaicTile& tile : tiles) {
    tiles_.push_back({{whole_.width - 2 * border_, whole_.height - 2 * border_, 1}, tile.position});
  }
  stream_.upload(field_.data(), field_.size() * sizeof(float), coordinates_.buffer());
}

namespace {

/// A tile of f32 with values in place of missing pixels, which would spread through the spline's
/// prefilter.
struct FilledTile {
  std::vector<float> values;        ///< empty if no pixel is missing
  std::vector<std::uint8_t> known;  ///< for each pixel 0 if it is missing
};

FilledTile filled(const HostImage& image) {
  FilledTile tile;
  if (image.type != PixelType::f32) return tile;
  KnownSamples samples = known_samples(image);
  if (samples.missing == 0) return tile;
  tile.known = std::move(samples.known);
  tile.values.resize(tile.known.size());
  copy_rows(image, reinterpret_cast<std::byte*>(tile.values.data()));
  fill_missing(tile.values, tile.known, image.shape());
  return tile;
}

}  // namespace

/// Sets pixels to NaN whose nearest pixel in the tile is missing.
void UndistortedTiles::mark(std::span<const std::uint8_t> known, std::vector<float>& pixels) const {
  const auto nearest = [](float position, std::int64_t size) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(std::lround(position), 0, size - 1));
  };
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::size_t x = nearest(field_[i], whole_.width);
    const std::size_t y = nearest(field_[pixels.size() + i], whole_.height);
    if (known[y * static_cast<std::size_t>(whole_.width) + x] == 0) {
      pixels[i] = std::numeric_limits<float>::quiet_NaN();
    }
  }
}

TilePixels UndistortedTiles::read(std::size_t tile) {
  const TilePixels given = cache_.get(tile);
  if (is_absent(given)) return given;
  const FilledTile fill = filled(given.image);
  const HostImage image = fill.values.empty() ? given.image
                                              : HostImage{fill.values.data(), PixelType::f32,
                                                          whole_.width, whole_.height, 0};
  const auto pixels =
      std::make_shared<std::vector<float>>(static_cast<std::size_t>(whole_.plane()));
  {
    const std::lock_guard lock(mutex_);
    auto plan = plans_.find(given.image.type);
    if (plan == plans_.end()) {
      const ResampleSpec spec{
          .images = {.shape = whole_}, .output = whole_, .input = given.image.type};
      plan = plans_.try_emplace(given.image.type, device_, spec).first;
    }
    Image input = device_.make_image(given.image.type, whole_);
    stream_.upload(image, input);
    plan->second.execute(stream_, input, coordinates_, output_);
    stream_.download(output_, pixels->data(), pixels->size() * sizeof(float));
  }
  if (!fill.known.empty()) mark(fill.known, *pixels);
  const Shape& shape = tiles_[tile].shape;
  const float* first = pixels->data() + border_ * whole_.width + border_;
  return {{first, PixelType::f32, shape.width, shape.height,
           whole_.width * static_cast<std::int64_t>(sizeof(float))},
          pixels};
}

}  // namespace warpalign::detail
