// Finds the point sources of an image on a device.
#include "registration/pyramid/point_finder.hpp"

#include "registration/pyramid/host_copy.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warpalign::detail {

namespace {

// The first filter finds spots of any width; the second one has the width of those.
constexpr double first_sigma = 1.5;
// Widths of filters are powers of this. Half a step costs a percent of the signal-to-noise ratio.
constexpr double sigma_ratio = 1.25;
constexpr double min_sigma = 0.8;
constexpr double max_sigma = 5;
constexpr std::size_t kept_plans = 8;
// Fewer spots may be hot clusters or noise.
constexpr std::size_t min_sources = 4;

SmoothSpec smoothing(PixelType type, const Shape& shape, bool masked, double sigma) {
  return {.input = type,
          .shape = shape,
          .output = shape,
          .origin = {0, 0},
          .sigma = sigma,
          .masked = masked};
}

double filter_sigma(double sigma) {
  const double step = std::log(sigma_ratio);
  const double nearest =
      first_sigma * std::exp(step * std::round(std::log(sigma / first_sigma) / step));
  return std::clamp(nearest, min_sigma, max_sigma);
}

}  // namespace

PointFinder::PointFinder(const Device& device, PixelType type, const Shape& shape, bool masked)
    : device_(device),
      type_(type),
      shape_(shape),
      convert_(device, smoothing(type, shape, masked, 0)),
      converted_(device.make_image(PixelType::f32, shape)),
      smoothed_(device.make_image(PixelType::f32, shape)),
      plans_(kept_plans) {
  if (masked) mask_weight_.emplace(device.make_image(PixelType::f32, shape));
}

void PointFinder::smooth(Stream& stream, const Image* mask, double sigma,
                         std::vector<float>& values) {
  const SmoothPlan& plan = plans_.get(sigma, [&] {
    return SmoothPlan(device_, smoothing(PixelType::f32, shape_, mask_weight_.has_value(), sigma));
  });
  if (mask_weight_) {
    plan.execute(stream, converted_, *mask, smoothed_, *mask_weight_);
  } else {
    plan.execute(stream, converted_, smoothed_);
  }
  copy_to_host(stream, smoothed_, values);
}

void PointFinder::smooth_both(Stream& stream, const Image* mask, double sigma) {
  sigma_ = sigma;
  smooth(stream, mask, sigma, narrow_);
  smooth(stream, mask, wide_ratio * sigma, wide_);
}

SmoothedPlanes PointFinder::planes() const {
  return {{shape_, pixels_, weights_}, narrow_, wide_, sigma_};
}

// Neighbours of a hot pixel are not hot.
void PointFinder::replace_hot(Stream& stream) {
  const PixelPlane plane{shape_, pixels_, weights_};
  for (const std::size_t i : hot_) {
    const std::int64_t x = static_cast<std::int64_t>(i) % shape_.width;
    const std::int64_t y = static_cast<std::int64_t>(i) / shape_.width;
    double sum = 0;
    double count = 0;
    for (std::int64_t v = y - 1; v <= y + 1; ++v) {
      for (std::int64_t u = x - 1; u <= x + 1; ++u) {
        if ((u == x && v == y) || !plane.contains(u, v) || !plane.counts(u, v)) continue;
        sum += plane(u, v);
        count += 1;
      }
    }
    if (count > 0) pixels_[i] = static_cast<float>(sum / count);
  }
  stream.upload(HostImage{pixels_.data(), PixelType::f32, shape_.width, shape_.height, 0},
                converted_);
}

const PointSources& PointFinder::find(Stream& stream, StageClock& clock, const Image& pixels,
                                      const Image* mask) {
  points_ = {};
  clock.run("points", [&] {
    if (mask_weight_) {
      convert_.execute(stream, pixels, *mask, converted_, *mask_weight_);
      copy_to_host(stream, *mask_weight_, weights_);
    } else {
      convert_.execute(stream, pixels, converted_);
    }
    copy_to_host(stream, converted_, pixels_);
    smooth_both(stream, mask, first_sigma);
    const double noise = pixel_noise(planes().pixels, type_ != PixelType::f32);
    hot_ = hot_pixels(planes(), noise);
    if (!hot_.empty()) {
      replace_hot(stream);
      smooth_both(stream, mask, first_sigma);
    }
    std::vector<FilterPeak> peaks = filter_peaks(planes(), difference_);
    const double sigma = spread_of_points(planes(), peaks, noise);
    if (!(sigma > 0)) return;
    if (filter_sigma(sigma) != sigma_) {
      smooth_both(stream, mask, filter_sigma(sigma));
      peaks = filter_peaks(planes(), difference_);
    }
    points_ = fitted_points(planes(), peaks, sigma, noise);
    if (points_.sources.size() < min_sources) points_ = {};
  });
  return points_;
}

}  // namespace warpalign::detail
