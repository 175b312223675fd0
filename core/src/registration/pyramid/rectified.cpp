// Resamples an image to the frame of another one.
#include "registration/pyramid/rectified.hpp"

#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// More samples than this along an axis of a pixel would hardly change the mean.
constexpr int max_samples = 8;
constexpr double min_fraction = 0.05;
constexpr float min_weight = 0.5F;

int samples_of(double length) {
  return std::clamp(static_cast<int>(std::ceil(length)), 1, max_samples);
}

float local_mean(const GreyPlane& image, const LocalMap& here) {
  const int across = samples_of(std::hypot(here.a, here.d));
  const int down = samples_of(std::hypot(here.b, here.e));
  float sum = 0;
  for (int j = 0; j < down; ++j) {
    const double v = (j + 0.5) / down - 0.5;
    for (int i = 0; i < across; ++i) {
      const double u = (i + 0.5) / across - 0.5;
      sum += image.between(here.place.x + here.a * u + here.b * v,
                           here.place.y + here.d * u + here.e * v);
    }
  }
  return sum / static_cast<float>(across * down);
}

bool is_unmasked(const std::vector<float>& weights, const Shape& shape, Point place) {
  if (!is_inside(place, shape)) return false;
  if (weights.empty()) return true;
  const std::int64_t x = std::llround(place.x);
  const std::int64_t y = std::llround(place.y);
  return weights[static_cast<std::size_t>(y * shape.width + x)] > min_weight;
}

}  // namespace

RectifiedImage rectified(const GreyPlane& moving, const std::vector<float>& weights,
                         const Homography& to_moving, const Shape& reference) {
  RectifiedImage result;
  result.values = GreyPlane(reference.width, reference.height);
  result.mask.assign(static_cast<std::size_t>(reference.plane()), 0);
  const Shape shape{moving.width, moving.height, 1};
  std::size_t pixel = 0;
  for (std::int64_t y = 0; y < reference.height; ++y) {
    for (std::int64_t x = 0; x < reference.width; ++x, ++pixel) {
      const LocalMap here(to_moving, {static_cast<double>(x), static_cast<double>(y)});
      if (!(here.w * to_moving.h[8] > 0) || !is_unmasked(weights, shape, here.place)) continue;
      result.values.values[pixel] = local_mean(moving, here);
      result.mask[pixel] = 1;
    }
  }
  return result;
}

bool is_registrable(const RectifiedImage& image) {
  float smallest = INFINITY;
  float largest = -INFINITY;
  std::size_t count = 0;
  for (std::size_t i = 0; i < image.mask.size(); ++i) {
    if (image.mask[i] == 0) continue;
    ++count;
    smallest = std::min(smallest, image.values.values[i]);
    largest = std::max(largest, image.values.values[i]);
  }
  const float magnitude = std::max(std::abs(smallest), std::abs(largest));
  return static_cast<double>(count) >= min_fraction * static_cast<double>(image.mask.size()) &&
         largest - smallest > 1e-3F * magnitude;
}

}  // namespace warpalign::detail
