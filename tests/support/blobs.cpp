// Small images of blobs under a known similarity.
#include "support/blobs.hpp"

#include <array>
#include <cmath>

namespace test {

namespace {

using namespace warpalign;

struct Blob {
  double x, y, radius, height;
};

std::array<Blob, 60> blobs_of(const Shape& shape, std::uint32_t scene) {
  std::uint32_t state = scene;
  const auto next = [&state] {
    state = state * 1664525U + 1013904223U;
    return static_cast<double>(state >> 8U) / (1U << 24U);
  };
  std::array<Blob, 60> blobs{};
  for (Blob& blob : blobs) {
    blob.x = (next() * 1.4 - 0.2) * static_cast<double>(shape.width);
    blob.y = (next() * 1.4 - 0.2) * static_cast<double>(shape.height);
    blob.radius = 2 + 7 * next();
    blob.height = 2 * next() - 1;
  }
  return blobs;
}

template <class Map>
BlobImage draw(const Shape& shape, const Map& to_scene, std::uint32_t scene) {
  const auto blobs = blobs_of(shape, scene);
  BlobImage image{shape, {}};
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const Point p = to_scene({static_cast<double>(x), static_cast<double>(y)});
      double value = 0;
      for (const Blob& blob : blobs) {
        const double dx = p.x - blob.x;
        const double dy = p.y - blob.y;
        value += blob.height * std::exp(-(dx * dx + dy * dy) / (2 * blob.radius * blob.radius));
      }
      image.pixels.push_back(static_cast<std::uint8_t>(std::lround(128 + 80 * std::tanh(value))));
    }
  }
  return image;
}

}  // namespace

BlobImage draw_blobs(const Shape& shape, const Affine& to_scene, std::uint32_t scene) {
  return draw(shape, to_scene, scene);
}

BlobImage draw_blobs_projective(const Shape& shape, const Homography& to_scene,
                                std::uint32_t scene) {
  return draw(shape, to_scene, scene);
}

}  // namespace test
