// Rotation and scale from the log-polar spectra of two pyramid levels.
#include "registration/similarity/rotation_scale_search.hpp"

#include "registration/plane_geometry.hpp"
#include "registration/short_list.hpp"

#include <warpalign/backend/stages/spectrum/peak.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace warpalign::detail {

namespace {

std::int64_t periodic_distance(std::int64_t a, std::int64_t b, std::int64_t period) {
  const std::int64_t d = std::abs(a - b);
  return std::min(d, period - d);
}

// The neighbourhood of a pixel on the periodic surface.
PeakRecord record_at(std::span<const float> surface, const Shape& shape, std::int64_t x,
                     std::int64_t y) {
  PeakRecord record;
  record.x = static_cast<std::int32_t>(x);
  record.y = static_cast<std::int32_t>(y);
  for (std::int64_t j = 0; j < 3; ++j) {
    for (std::int64_t i = 0; i < 3; ++i) {
      const std::int64_t u = (x + i - 1 + shape.width) % shape.width;
      const std::int64_t v = (y + j - 1 + shape.height) % shape.height;
      record.neighbours[static_cast<std::size_t>(3 * j + i)] =
          surface[static_cast<std::size_t>(v * shape.width + u)];
    }
  }
  record.value = record.neighbours[4];
  return record;
}

// The surface is divided into runs of pixels. Runs whose maximum does not exceed the best peak so
// far are skipped.
constexpr std::size_t run_length = 16;

void find_run_maxima(std::span<const float> surface, std::vector<float>& maxima) {
  maxima.clear();
  for (std::size_t begin = 0; begin < surface.size(); begin += run_length) {
    const std::size_t end = std::min(begin + run_length, surface.size());
    float maximum = 0;
    for (std::size_t i = begin; i < end; ++i) maximum = surface[i] > maximum ? surface[i] : maximum;
    maxima.push_back(maximum);
  }
}

}  // namespace

bool are_the_same(const RotationScalePeak& a, const RotationScalePeak& b) {
  return std::abs(std::remainder(a.rotation_deg - b.rotation_deg, 180)) < 2 &&
         std::abs(std::log(a.scale / b.scale)) < 0.03;
}

RotationScaleLimits RotationScaleLimits::of(const RegistrationOptions& options, double slack_deg,
                                            double slack_scale) {
  const bool scales = options.motion == Motion::similarity;
  return {(scales ? options.min_scale : 1) / slack_scale,
          (scales ? options.max_scale : 1) * slack_scale, options.min_angle - slack_deg,
          options.max_angle + slack_deg};
}

bool RotationScaleLimits::allows_scale(double scale) const {
  return scale >= min_scale && scale <= max_scale;
}

bool RotationScaleLimits::allows_angle(double degrees) const {
  if (max_angle - min_angle >= 360) return true;
  const double above = std::fmod(degrees - min_angle, 360.0);
  return (above < 0 ? above + 360 : above) <= max_angle - min_angle;
}

bool RotationScaleLimits::allows_angle_or_opposite(double degrees) const {
  return allows_angle(degrees) || allows_angle(degrees + 180);
}

RotationScaleSearch::RotationScaleSearch(const Device& device, std::int64_t side,
                                         const RegistrationOptions& options)
    : device_(device),
      frame_{side, side, 1},
      options_(options),
      log_polar_spec_{frame_, frame_},
      power_spec_{frame_, options.log_polar_sigma, false},
      fft_(device, {frame_}),
      magnitude_(device, {frame_, options.spectrum_exponent}),
      log_polar_(device, log_polar_spec_),
      whitening_(device, {frame_}),
      power_(device, power_spec_),
      statistics_(device.make_buffer(sizeof(StatisticsRecord))),
      windowed_(device.make_image(PixelType::f32, frame_)),
      spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame_))),
      magnitudes_(device.make_image(PixelType::f32, RealFftPlan::half_spectrum(frame_))),
      whole_spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame_))),
      crop_spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame_))),
      surface_(device.make_image(PixelType::f32, frame_)),
      surface_values_{Readback<float>(device, static_cast<std::size_t>(frame_.pixels())),
                      Readback<float>(device, static_cast<std::size_t>(frame_.pixels()))} {}

RotationScaleSearch::CropPlans& RotationScaleSearch::crop_plans_of(const Shape& level,
                                                                   const Shape& crop) {
  return crop_plans_.get({level, crop}, [&] {
    const Signal signal =
        options_.spectrum == SpectrumOf::gradient ? Signal::gradient : Signal::pixels;
    return CropPlans{WarpPlan(device_, {level, crop}),
                     StatisticsPlan(device_, {crop, PixelType::f32, signal}),
                     ApodizePlan(device_, {crop, frame_, options_.window, PixelType::f32, signal}),
                     device_.make_image(PixelType::f32, crop)};
  });
}

// The holes of a masked image would appear as edges in plain grey levels. Such images are used
// after local normalization, which sets the holes to 0.
const Image& RotationScaleSearch::pixels_of(Stream& stream, StageClock& clock,
                                            ImagePyramid& pyramid, PyramidLevel& level) const {
  return level.masked() ? pyramid.normalized(stream, clock, level) : level.values();
}

void RotationScaleSearch::log_polar_spectrum(Stream& stream, StageClock& clock, const Image& level,
                                             const Crop& crop, const Shape& crop_shape,
                                             Image& result) {
  CropPlans& plans = crop_plans_of(level.shape(), crop_shape);
  const Image* pixels = &level;
  if (crop_shape != level.shape()) {
    const Affine corner =
        Affine::translation(static_cast<double>(crop.x), static_cast<double>(crop.y));
    clock.run("crop", [&] { plans.crop.execute(stream, level, corner, plans.pixels); });
    pixels = &plans.pixels;
  }
  clock.run("window", [&] {
    plans.statistics.execute(stream, *pixels, statistics_);
    plans.window.execute(stream, *pixels, statistics_, windowed_);
  });
  clock.run("fft", [&] { fft_.forward(stream, windowed_, spectrum_); });
  clock.run("magnitude", [&] { magnitude_.execute(stream, spectrum_, magnitudes_); });
  clock.run("log_polar", [&] {
    log_polar_.execute(stream, magnitudes_, windowed_);
    whitening_.execute(stream, windowed_);
  });
  clock.run("fft", [&] { fft_.forward(stream, windowed_, result); });
}

std::span<const RotationScalePeak> RotationScaleSearch::find(
    Stream& stream, StageClock& clock, ImagePyramid& whole, PyramidLevel& whole_level,
    ImagePyramid& cropped, PyramidLevel& cropped_level, std::span<const Crop> crops,
    const Shape& crop_shape, bool whole_is_reference, const RotationScaleLimits& limits,
    std::size_t maximum) {
  log_polar_spectrum(stream, clock, pixels_of(stream, clock, whole, whole_level), {},
                     whole_level.shape(), whole_spectrum_);
  const Image& level = pixels_of(stream, clock, cropped, cropped_level);
  const Image& reference = whole_is_reference ? whole_spectrum_ : crop_spectrum_;
  const Image& moving = whole_is_reference ? crop_spectrum_ : whole_spectrum_;
  found_.clear();
  for (std::size_t i = 0; i < crops.size(); ++i) {
    log_polar_spectrum(stream, clock, level, crops[i], crop_shape, crop_spectrum_);
    correlate(stream, clock, reference, moving, surface_values_[i % 2]);
    if (i > 0) find_peaks(surface_values_[(i - 1) % 2].wait(), limits, maximum);
  }
  if (!crops.empty()) find_peaks(surface_values_[(crops.size() - 1) % 2].wait(), limits, maximum);
  sort_short_list(found_, [](const RotationScalePeak& a, const RotationScalePeak& b) {
    return a.height > b.height;
  });
  return found_;
}

void RotationScaleSearch::correlate(Stream& stream, StageClock& clock, const Image& reference,
                                    const Image& moving, Readback<float>& values) {
  clock.run("cross_power", [&] { power_.execute(stream, reference, moving, spectrum_); });
  clock.run("inverse_fft", [&] { fft_.inverse(stream, spectrum_, surface_); });
  values.enqueue(stream, surface_.buffer());
}

// Finds local maxima, each the highest within a few pixels of the log-polar grid.
void RotationScaleSearch::find_peaks(std::span<const float> surface,
                                     const RotationScaleLimits& limits, std::size_t maximum) {
  constexpr std::int64_t min_distance = 4;
  const LogPolarGrid grid = LogPolarPlan::grid(log_polar_spec_);
  const double total = CrossPowerPlan::total_weight(power_spec_);
  const auto peak_at = [&](const Point& p, double value) {
    const double angle = signed_shift(p.y, static_cast<double>(frame_.height)) * grid.angle_step;
    const double log_scale = signed_shift(p.x, static_cast<double>(frame_.width)) * grid.log_base;
    return RotationScalePeak{angle * 180 / std::numbers::pi, std::exp(log_scale), value / total};
  };
  peaks_.clear();
  const auto may_be_taken = [&](std::int64_t x, std::int64_t y, double value) {
    const RotationScalePeak peak = peak_at({static_cast<double>(x), static_cast<double>(y)}, value);
    return limits.allows_scale(peak.scale) && limits.allows_angle_or_opposite(peak.rotation_deg) &&
           std::none_of(peaks_.begin(), peaks_.end(), [&](const Pixel& f) {
             return periodic_distance(f.x, x, frame_.width) < min_distance &&
                    periodic_distance(f.y, y, frame_.height) < min_distance;
           });
  };
  find_run_maxima(surface, run_maxima_);
  while (peaks_.size() < maximum) {
    double best = 0;
    Pixel at{-1, -1};
    for (std::size_t run = 0; run < run_maxima_.size(); ++run) {
      if (!(static_cast<double>(run_maxima_[run]) > best)) continue;
      const std::size_t end = std::min((run + 1) * run_length, surface.size());
      for (std::size_t i = run * run_length; i < end; ++i) {
        const auto value = static_cast<double>(surface[i]);
        if (!(value > best)) continue;
        const std::int64_t x = static_cast<std::int64_t>(i) % frame_.width;
        const std::int64_t y = static_cast<std::int64_t>(i) / frame_.width;
        if (!may_be_taken(x, y, value)) continue;
        best = value;
        at = {x, y};
      }
    }
    if (at.x < 0) break;
    peaks_.push_back(at);
    found_.push_back(peak_at(subpixel_position(record_at(surface, frame_, at.x, at.y)), best));
  }
}

}  // namespace warpalign::detail
