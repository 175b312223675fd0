// The shift of a scene, from the difference of two images that a pattern of the sensor covers.
#include "registration/scoring/difference_shift.hpp"

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
// Where the answer is the scene's motion, less of the difference is left after it is undone: noise
// becomes less too, since it is interpolated, but hardly below this part.
constexpr double most_explained = 0.75;

// Of 14 generated pairs under noise of the sensor, in whose difference the scene was not found, 13
// are above this; of photographs that stand still, and of other pairs that move little, none.
constexpr double finer_agreement = 0.05;

// A scene that moves does so in most fields of this many by as many, and an object in some.
constexpr std::int64_t fields_per_side = 3;
constexpr int least_fields = 5;
constexpr double most_coefficient_of_field = -0.05;

std::vector<float> hann_window(std::int64_t n) {
  std::vector<float> window;
  for (std::int64_t i = 0; i < n; ++i) {
    const double phase =
        2 * std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(n);
    window.push_back(static_cast<float>((1 - std::cos(phase)) / 2));
  }
  return window;
}

struct Moments {
  double mean = 0, variance = 0;
};

/// Of what is known.
Moments variance_of(const AlignedResidual& residual) {
  double count = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < residual.values.size(); ++i) {
    const auto value = static_cast<double>(residual.values[i]);
    count += static_cast<double>(residual.known[i]);
    sum += value;
    squares += value * value;
  }
  if (!(count > 0)) return {};
  const double mean = sum / count;
  return {mean, squares / count - mean * mean};
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

bool agree_finely(const SensorImages& images) {
  const std::int64_t width = images.width;
  struct Sums {
    double a = 0, b = 0, aa = 0, bb = 0, ab = 0;
    void add(double x, double y) {
      a += x;
      b += y;
      aa += x * x;
      bb += y * y;
      ab += x * y;
    }
    [[nodiscard]] double correlation(double n) const {
      const double variances = (aa - a * a / n) * (bb - b * b / n);
      return variances > 0 ? (ab - a * b / n) / std::sqrt(variances) : 0;
    }
  };
  Sums whole, fine;
  double count = 0;
  const auto known = [](std::span<const float> weight, std::size_t i) {
    return weight.empty() || weight[i] > 0;
  };
  // The Laplacian of four neighbours.
  const auto laplacian = [&](std::span<const float> image, std::size_t i) {
    const auto row = static_cast<std::size_t>(width);
    return static_cast<double>(image[i - 1] + image[i + 1] + image[i - row] + image[i + row] -
                               4 * image[i]);
  };
  for (std::int64_t y = 1; y + 1 < images.height; ++y) {
    for (std::int64_t x = 1; x + 1 < width; ++x) {
      const auto i = static_cast<std::size_t>(y * width + x);
      if (!known(images.reference_weight, i) || !known(images.moving_weight, i)) continue;
      whole.add(static_cast<double>(images.reference[i]), static_cast<double>(images.moving[i]));
      fine.add(laplacian(images.reference, i), laplacian(images.moving, i));
      ++count;
    }
  }
  return count > 0 && fine.correlation(count) > whole.correlation(count) + finer_agreement;
}

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

// Draws the difference of the images as they are, unless `answer` explains a part of it.
bool DifferenceShift::draw_difference(const SensorImages& images, const Homography& answer,
                                      float gain) {
  residual_.take(images, answer, gain);
  const double after_answer = variance_of(residual_).variance;
  residual_.take(images, Homography{}, gain);
  const auto [mean_value, variance] = variance_of(residual_);
  if (after_answer < most_explained * variance) return false;
  const auto mean = static_cast<float>(mean_value);
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
  return true;
}

/// The correlation of the reference with itself at a shift; y >= 0.
double DifferenceShift::own_resemblance(const SensorImages& images, std::int64_t x,
                                        std::int64_t y) const {
  const std::int64_t left = std::max<std::int64_t>(0, -x);
  const std::int64_t width = images.width - std::abs(x), height = images.height - y;
  double sum_a = 0, sum_b = 0, product = 0, squares_a = 0, squares_b = 0;
  for (std::int64_t v = 0; v < height; ++v) {
    const float* own = images.reference.data() + v * images.width + left;
    const float* other = images.reference.data() + (v + y) * images.width + left + x;
    for (std::int64_t u = 0; u < width; ++u) {
      const auto a = static_cast<double>(own[u]), b = static_cast<double>(other[u]);
      sum_a += a;
      sum_b += b;
      product += a * b;
      squares_a += a * a;
      squares_b += b * b;
    }
  }
  const auto n = static_cast<double>(width * height);
  const double variances = (squares_a - sum_a * sum_a / n) * (squares_b - sum_b * sum_b / n);
  return variances > 0 ? (product - sum_a * sum_b / n) / std::sqrt(variances) : 0;
}

/// The number of fields in which the difference resembles its negative at a shift; y >= 0.
int DifferenceShift::agreeing_fields(std::int64_t x, std::int64_t y) const {
  const Shape& image = plans_->image;
  const std::int64_t pitch = plans_->padded.width;
  const std::int64_t left = std::max<std::int64_t>(0, -x);
  const std::int64_t width = image.width - std::abs(x), height = image.height - y;
  int fields = 0;
  for (std::int64_t field = 0; field < fields_per_side * fields_per_side; ++field) {
    const std::int64_t column = field % fields_per_side, line = field / fields_per_side;
    double product = 0, own_energy = 0, other_energy = 0;
    for (std::int64_t v = line * height / fields_per_side;
         v < (line + 1) * height / fields_per_side; ++v) {
      const float* own = difference_.data() + v * pitch + left;
      const float* other = difference_.data() + (v + y) * pitch + left + x;
      for (std::int64_t u = column * width / fields_per_side;
           u < (column + 1) * width / fields_per_side; ++u) {
        const auto a = static_cast<double>(own[u]), b = static_cast<double>(other[u]);
        product += a * b;
        own_energy += a * a;
        other_energy += b * b;
      }
    }
    const double energy = std::sqrt(own_energy * other_energy);
    if (energy > 0 && product <= most_coefficient_of_field * energy) ++fields;
  }
  return fields;
}

std::optional<std::array<double, 2>> DifferenceShift::find(StageClock& clock,
                                                           const SensorImages& images,
                                                           const Homography& answer, float gain) {
  const Shape image{images.width, images.height, 1};
  if (!plans_ || !(plans_->image == image)) {
    plans_.reset();  // release the old memory before allocating the new
    plans_ = std::make_shared<Plans>(device_, image);
    across_ = hann_window(image.width);
    down_ = hann_window(image.height);
  }
  if (!draw_difference(images, answer, gain)) return std::nullopt;
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
  if (least > own_resemblance(images, x, y) + most_coefficient) return std::nullopt;
  if (agreeing_fields(x, y) < least_fields) return std::nullopt;
  return std::array{static_cast<double>(x), static_cast<double>(y)};
}

}  // namespace warpalign::detail
