// Tiles without the distortion that they have in common.
#include "mosaic/undistorted_tiles.hpp"

#include "mosaic/distorted_pixel.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

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
      coordinates_(device.make_image(PixelType::f32, {whole_.width, whole_.height, 2})),
      output_(device.make_image(PixelType::f32, whole_)) {
  for (const MosaicTile& tile : tiles) {
    tiles_.push_back({{whole_.width - 2 * border_, whole_.height - 2 * border_, 1}, tile.position});
  }
  const std::vector<float> field = undistorted_coordinates(distortion, whole_, {});
  stream_.upload(field.data(), field.size() * sizeof(float), coordinates_.buffer());
}

TilePixels UndistortedTiles::read(std::size_t tile) {
  const TilePixels given = cache_.get(tile);
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
    stream_.upload(given.image, input);
    plan->second.execute(stream_, input, coordinates_, output_);
    stream_.download(output_, pixels->data(), pixels->size() * sizeof(float));
  }
  const Shape& shape = tiles_[tile].shape;
  const float* first = pixels->data() + border_ * whole_.width + border_;
  return {{first, PixelType::f32, shape.width, shape.height,
           whole_.width * static_cast<std::int64_t>(sizeof(float))},
          pixels};
}

}  // namespace warpalign::detail
