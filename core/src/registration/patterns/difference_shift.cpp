// The shift of a scene, from the difference of two images that a pattern of the sensor covers.
#include "registration/patterns/difference_shift.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace warpalign::detail {

namespace {

// Shifts are looked for up to this part of a side, and from this many pixels on: nearer, noise that
// was smoothed resembles its negative, and so does a pattern that a small motion has shifted.
constexpr std::int64_t part_of_side = 4;
constexpr double least_shift = 4;
// Of 50 generated pairs under noise of the sensor as strong as the scene, 49 are below this, and of
// 12 pairs in which nothing moved the lowest is -0.06.
constexpr double most_coefficient = -0.15;

std::vector<float> hann_window(std::int64_t n) {
  std::vector<float> window;
  for (std::int64_t i = 0; i < n; ++i) {
    const double phase =
        2 * std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(n);
    window.push_back(static_cast<float>((1 - std::cos(phase)) / 2));
  }
  return window;
}

/// The correlation of a window with itself at shifts from 0 on, in units of the first one.
std::vector<double> overlaps_of(const std::vector<float>& window, std::int64_t shifts) {
  std::vector<double> overlaps;
  for (std::int64_t shift = 0; shift <= shifts; ++shift) {
    double sum = 0;
    for (std::size_t i = static_cast<std::size_t>(shift); i < window.size(); ++i) {
      sum += static_cast<double>(window[i]) *
             static_cast<double>(window[i - static_cast<std::size_t>(shift)]);
    }
    overlaps.push_back(sum);
  }
  const double whole = overlaps.front();
  for (double& overlap : overlaps) overlap /= whole;
  return overlaps;
}

}  // namespace

/// The correlation of an image with itself: of one side, padded so that shifts do not meet its
/// other end.
struct DifferenceShift::Plans {
  Plans(const Device& device, const Shape& image_)
      : image(image_),
        padded{fft_friendly_size(image.width + image.width / part_of_side + 1),
               fft_friendly_size(image.height + image.height / part_of_side + 1), 1},
        both{padded.width, padded.height, 2},
        forward(device, {padded, 2, FftDirections::forward}),
        inverse(device, {both, 2, FftDirections::inverse}),
        products(device, {padded}),
        frame(device.make_image(PixelType::f32, padded)),
        spectrum(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(padded))),
        product(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(both))),
        surfaces(device.make_image(PixelType::f32, both)) {}

  Shape image, padded, both;
  RealFftPlan forward, inverse;
  OverlapProductsPlan products;
  Image frame, spectrum, product, surfaces;
};

void DifferenceShift::draw_difference(const SensorImages& images, float gain) {
  residual_.take(images, Homography{}, gain);
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < residual_.values.size(); ++i) {
    sum += static_cast<double>(residual_.values[i]);
    count += static_cast<double>(residual_.known[i]);
  }
  const auto mean = static_cast<float>(count > 0 ? sum / count : 0);
  const auto padded = static_cast<std::size_t>(plans_->padded.width);
  const auto width = static_cast<std::size_t>(images.width);
  difference_.assign(static_cast<std::size_t>(plans_->padded.pixels()), 0);
  for (std::size_t y = 0; y < static_cast<std::size_t>(images.height); ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t i = y * width + x;
      difference_[y * padded + x] =
          across_[x] * down_[y] * residual_.known[i] * (residual_.values[i] - mean);
    }
  }
}

std::optional<std::array<double, 2>> DifferenceShift::find(StageClock& clock,
                                                           const SensorImages& images, float gain) {
  const Shape image{images.width, images.height, 1};
  if (!plans_ || !(plans_->image == image)) {
    plans_.reset();  // release the old memory before allocating the new
    plans_ = std::make_shared<Plans>(device_, image);
    across_ = hann_window(image.width);
    down_ = hann_window(image.height);
  }
  draw_difference(images, gain);
  Plans& plans = *plans_;
  Stream& stream = clock.stream();
  clock.run("difference", [&] {
    stream.upload(difference_.data(), plans.frame.size_bytes(), plans.frame.buffer());
    plans.forward.forward(stream, plans.frame, plans.spectrum);
    plans.products.execute(stream, plans.spectrum, plans.spectrum, plans.product);
    plans.inverse.inverse(stream, plans.product, plans.surfaces);
  });
  surfaces_.resize(static_cast<std::size_t>(plans.padded.pixels()));
  stream.download(plans.surfaces.buffer(), surfaces_.data(), surfaces_.size() * sizeof(float));
  const std::int64_t reach_x = image.width / part_of_side, reach_y = image.height / part_of_side;
  const std::vector<double> across = overlaps_of(across_, reach_x);
  const std::vector<double> down = overlaps_of(down_, reach_y);
  const double energy = static_cast<double>(surfaces_.front());
  if (!(energy > 0)) return std::nullopt;
  double least = most_coefficient;
  std::optional<std::array<std::int64_t, 2>> shift;
  for (std::int64_t y = 0; y <= reach_y; ++y) {  // the other half is the same
    for (std::int64_t x = y == 0 ? 0 : -reach_x; x <= reach_x; ++x) {
      if (std::hypot(static_cast<double>(x), static_cast<double>(y)) <= least_shift) continue;
      const std::int64_t column = x < 0 ? x + plans.padded.width : x;
      const double value =
          static_cast<double>(surfaces_[static_cast<std::size_t>(y * plans.padded.width + column)]);
      const double coefficient =
          value / energy /
          (across[static_cast<std::size_t>(std::abs(x))] * down[static_cast<std::size_t>(y)]);
      if (coefficient >= least) continue;
      least = coefficient;
      shift = {x, y};
    }
  }
  if (!shift) return std::nullopt;
  const auto [x, y] = *shift;
  return std::array{static_cast<double>(x), static_cast<double>(y)};
}

}  // namespace warpalign::detail
