// Pairs of images with exactly known truth, both drawn from one photograph.
#include "support/photographs.hpp"

#include "io/image_file.hpp"

#include <algorithm>
#include <cmath>

namespace test {

namespace {

using reference::Plane;
using warpalign::Affine;
using warpalign::Homography;

double bilinear(const Plane& image, double x, double y) {
  x = std::clamp(x, 0.0, static_cast<double>(image.width - 1));
  y = std::clamp(y, 0.0, static_cast<double>(image.height - 1));
  const auto x0 =
      std::min(static_cast<std::int64_t>(x), std::max<std::int64_t>(image.width - 2, 0));
  const auto y0 =
      std::min(static_cast<std::int64_t>(y), std::max<std::int64_t>(image.height - 2, 0));
  const double a = x - static_cast<double>(x0);
  const double b = y - static_cast<double>(y0);
  const auto row = [&](std::int64_t v) {
    return (1 - a) * image.at(x0, v) + a * image.at(std::min(x0 + 1, image.width - 1), v);
  };
  return (1 - b) * row(y0) + b * row(std::min(y0 + 1, image.height - 1));
}

Plane draw(const Plane& photograph, const Homography& to_photograph,
           const warpalign::Shape& shape) {
  constexpr int samples = 4;
  Plane image(shape.width, shape.height);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      double sum = 0;
      for (int k = 0; k < samples * samples; ++k) {
        const double dx = (k % samples + 0.5) / samples - 0.5;
        const double dy = (k / samples + 0.5) / samples - 0.5;
        const auto p = to_photograph({static_cast<double>(x) + dx, static_cast<double>(y) + dy});
        sum += bilinear(photograph, p.x, p.y);
      }
      image.at(x, y) = sum / (samples * samples);
    }
  }
  return image;
}

}  // namespace

Plane photograph(const std::string& name) {
  const auto image = warpalign::program::load_image(std::string(WARPALIGN_TEST_DATA) + "/" + name);
  Plane plane(image.width, image.height);
  const auto samples = image.samples<std::uint8_t>();
  for (std::size_t i = 0; i < plane.values.size(); ++i) {
    plane.values[i] = samples[i * static_cast<std::size_t>(image.channels)];
  }
  return plane;
}

Pair cut(const Plane& photograph, const Cut& cut) {
  const warpalign::Shape whole{photograph.width, photograph.height, 1};
  const Affine reference_to_photograph =
      warpalign::Similarity{0, cut.pixel, {}}.matrix(cut.reference, whole);
  Pair pair;
  pair.truth = cut.similarity.matrix(cut.reference, cut.moving);
  pair.reference = draw(photograph, reference_to_photograph, cut.reference);
  pair.moving = draw(photograph, reference_to_photograph * pair.truth.inverse(), cut.moving);
  return pair;
}

Pair cut_by(const Plane& photograph, const warpalign::Shape& shape,
            const Homography& reference_to_moving, double pixel) {
  const warpalign::Shape whole{photograph.width, photograph.height, 1};
  const Homography to_photograph = warpalign::Similarity{0, pixel, {}}.matrix(shape, whole);
  Pair pair;
  pair.truth = reference_to_moving.affine_at(warpalign::centre_of(shape));
  pair.reference = draw(photograph, to_photograph, shape);
  pair.moving = draw(photograph, to_photograph * reference_to_moving.inverse(), shape);
  return pair;
}

}  // namespace test
