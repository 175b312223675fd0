// Rotation and scale from the log-polar spectra of two pyramid levels.
#include "registration/proposers/rotation_scale_search.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/short_list.hpp"
#include "registration/pyramid/base_scales.hpp"

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

// Returns the neighbourhood of a pixel on the periodic surface.
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

// The possible numbers of crops per batch; one launch of each stage processes a whole batch.
// Batches are always full, because the time on a CPU is proportional to the number of crops. Two
// images of one size have 1, 4, 9 or 36 crops.
constexpr std::array<std::int64_t, 3> batch_sizes{1, 4, 16};

Shape stack_of(const Shape& frame, std::int64_t images) {
  return {frame.width, frame.height, images};
}

CrossPowerSpec power_spec(const Shape& frame, const RegistrationOptions& options,
                          std::int64_t first_images, std::int64_t second_images) {
  return {frame, options.log_polar_sigma, false, first_images, second_images};
}

CutWindowsSpec cut_spec(const Shape& level, const Shape& crop, const Shape& frame,
                        const RegistrationOptions& options) {
  const Signal signal =
      options.spectrum == SpectrumSignal::gradient ? Signal::gradient : Signal::pixels;
  CutWindowsSpec spec{level, 1, {}, crop, frame, options.window, signal};
  const CropsAlong down(level.height, crop.height);
  const CropsAlong across(level.width, crop.width);
  for (std::int64_t j = 0; j < down.count(); ++j) {
    for (std::int64_t i = 0; i < across.count(); ++i) {
      spec.origins.push_back(
          {static_cast<std::int32_t>(across.start(i)), static_cast<std::int32_t>(down.start(j))});
    }
  }
  return spec;
}

// Returns the highest value, or 0 if none is positive. The lanes are independent, so that compilers
// vectorize the loop.
float highest(std::span<const float> values) {
  constexpr std::size_t lanes = 8;
  std::array<float, lanes> best{};
  const auto take = [](float& maximum, float value) {
    maximum = value > maximum ? value : maximum;
  };
  std::size_t i = 0;
  for (; i + lanes <= values.size(); i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) take(best[lane], values[i + lane]);
  }
  for (; i < values.size(); ++i) take(best[0], values[i]);
  return *std::max_element(best.begin(), best.end());
}

std::span<const float> row_of(std::span<const float> surface, const Shape& frame, std::int64_t y) {
  return surface.subspan(static_cast<std::size_t>(y * frame.width),
                         static_cast<std::size_t>(frame.width));
}

}  // namespace

bool lead_to_same_pose(const RotationScalePeak& a, const RotationScalePeak& b) {
  return std::abs(std::remainder(a.rotation_deg - b.rotation_deg, 180)) < 2 &&
         std::abs(std::log(a.scale / b.scale)) < 0.03;
}

std::int64_t crops_of(const Shape& level, const Shape& crop) {
  return CropsAlong(level.height, crop.height).count() *
         CropsAlong(level.width, crop.width).count();
}

CropBatch::CropBatch(const Device& device, const Shape& frame, const RegistrationOptions& options,
                     std::int64_t crops)
    : frames_(stack_of(frame, crops)),
      fft_(device, {frames_}),
      log_polar_(device, {frame, frame, crops, options.spectrum_exponent}),
      whole_first_(device, power_spec(frame, options, 1, crops)),
      crops_first_(device, power_spec(frame, options, crops, 1)),
      means_(device.make_buffer(static_cast<std::size_t>(crops) * sizeof(float))),
      frames_of_crops_(device.make_image(PixelType::f32, frames_)),
      spectra_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frames_))),
      polar_spectra_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frames_))),
      surface_values_{Readback<float>(device, static_cast<std::size_t>(frames_.pixels())),
                      Readback<float>(device, static_cast<std::size_t>(frames_.pixels()))} {}

void CropBatch::log_polar_spectra(StageClock& clock, const Image& level, const LevelCrops& crops,
                                  std::int64_t first) {
  log_polar_spectra(clock, level, crops, first, polar_spectra_);
}

void CropBatch::log_polar_spectra(StageClock& clock, const Image& level, const LevelCrops& crops,
                                  std::int64_t first, Image& result) {
  Stream& stream = clock.stream();
  clock.run(crops.stage, [&] {
    crops.cut.execute(stream, level, {first, size()}, means_, frames_of_crops_);
  });
  clock.run("fft", [&] { fft_.forward(stream, frames_of_crops_, spectra_); });
  clock.run("log_polar", [&] { log_polar_.execute(stream, spectra_, frames_of_crops_); });
  clock.run("fft", [&] { fft_.forward(stream, frames_of_crops_, result); });
}

void CropBatch::correlate(StageClock& clock, const Image& whole, bool whole_is_reference) {
  Stream& stream = clock.stream();
  clock.run("cross_power", [&] {
    if (whole_is_reference) return whole_first_.execute(stream, whole, polar_spectra_, spectra_);
    crops_first_.execute(stream, polar_spectra_, whole, spectra_);
  });
  clock.run("inverse_fft", [&] { fft_.inverse(stream, spectra_, frames_of_crops_); });
  last_ = 1 - last_;
  surface_values_[last_].enqueue(stream, frames_of_crops_.buffer());
}

RotationScaleSearch::RotationScaleSearch(const Device& device, std::int64_t side,
                                         const RegistrationOptions& options)
    : device_(device),
      frame_{side, side, 1},
      options_(options),
      grid_(LogPolarPlan::grid({frame_, frame_})),
      total_weight_(CrossPowerPlan::total_weight(power_spec(frame_, options, 1, 1))),
      whole_spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame_))) {
  static_cast<void>(batch_for(1));
}

const LevelCrops& RotationScaleSearch::level_crops_of(const Shape& level, const Shape& crop) {
  return level_crops_.get({level, crop}, [&] {
    return LevelCrops{CutWindowsPlan(device_, cut_spec(level, crop, frame_, options_)),
                      crops_of(level, crop), level == crop ? "window" : "crop"};
  });
}

CropBatch& RotationScaleSearch::batch_for(std::int64_t crops) {
  std::size_t i = batch_sizes.size() - 1;
  while (batch_sizes[i] > crops) --i;
  if (!batches_[i]) batches_[i].emplace(device_, frame_, options_, batch_sizes[i]);
  return *batches_[i];
}

// In plain intensities the holes of a mask would appear as edges. A masked image is therefore
// compared after local normalization, which sets the holes to 0.
const Image& RotationScaleSearch::pixels_of(Stream& stream, StageClock& clock,
                                            ImagePyramid& pyramid, PyramidLevel& level) const {
  return level.masked() ? pyramid.normalized(stream, clock, level) : level.values();
}

std::span<const RotationScalePeak> RotationScaleSearch::find(
    Stream& stream, StageClock& clock, ImagePyramid& whole, PyramidLevel& whole_level,
    ImagePyramid& cropped, PyramidLevel& cropped_level, const Shape& crop, bool whole_is_reference,
    const RotationScaleLimits& limits, std::size_t maximum) {
  batch_for(1).log_polar_spectra(clock, pixels_of(stream, clock, whole, whole_level),
                                 level_crops_of(whole_level.shape(), whole_level.shape()), 0,
                                 whole_spectrum_);
  const Image& level = pixels_of(stream, clock, cropped, cropped_level);
  const LevelCrops& crops = level_crops_of(level.shape(), crop);
  allow(limits);
  found_.clear();
  Readback<float>* before = nullptr;
  for (std::int64_t first = 0; first < crops.count;) {
    CropBatch& batch = batch_for(crops.count - first);
    batch.log_polar_spectra(clock, level, crops, first);
    batch.correlate(clock, whole_spectrum_, whole_is_reference);
    if (before != nullptr) find_peaks_of_all(before->wait(), maximum);
    before = &batch.last_surfaces();
    first += batch.size();
  }
  if (before != nullptr) find_peaks_of_all(before->wait(), maximum);
  sort_short_list(found_, [](const RotationScalePeak& a, const RotationScalePeak& b) {
    return a.height > b.height;
  });
  return found_;
}

RotationScalePeak RotationScaleSearch::peak_at(const Point& p, double value) const {
  const double angle = signed_shift(p.y, static_cast<double>(frame_.height)) * grid_.angle_step;
  const double log_scale = signed_shift(p.x, static_cast<double>(frame_.width)) * grid_.log_base;
  return {angle * 180 / std::numbers::pi, std::exp(log_scale), value / total_weight_};
}

// A column is a scale, a row an angle.
void RotationScaleSearch::allow(const RotationScaleLimits& limits) {
  allowed_columns_.clear();
  for (std::int64_t x = 0; x < frame_.width; ++x) {
    if (!limits.allows_scale(peak_at({static_cast<double>(x), 0}, 0).scale)) continue;
    if (allowed_columns_.empty() || allowed_columns_.back().end < x) {
      allowed_columns_.push_back({x, x});
    }
    allowed_columns_.back().end = x + 1;
  }
  allowed_rows_.clear();
  for (std::int64_t y = 0; y < frame_.height; ++y) {
    const double degrees = peak_at({0, static_cast<double>(y)}, 0).rotation_deg;
    if (limits.allows_angle_or_opposite(degrees)) allowed_rows_.push_back(y);
  }
}

void RotationScaleSearch::find_peaks_of_all(std::span<const float> surfaces, std::size_t maximum) {
  const auto pixels = static_cast<std::size_t>(frame_.pixels());
  for (std::size_t first = 0; first < surfaces.size(); first += pixels) {
    find_peaks(surfaces.subspan(first, pixels), maximum);
  }
}

void RotationScaleSearch::find_row_maxima(std::span<const float> surface) {
  row_maxima_.clear();
  for (const std::int64_t y : allowed_rows_) {
    const std::span<const float> row = row_of(surface, frame_, y);
    float maximum = 0;
    for (const Range& columns : allowed_columns_) {
      maximum = std::max(
          maximum, highest(row.subspan(static_cast<std::size_t>(columns.begin),
                                       static_cast<std::size_t>(columns.end - columns.begin))));
    }
    row_maxima_.push_back({y, maximum});
  }
}

bool RotationScaleSearch::is_near_a_peak(const Pixel& pixel) const {
  constexpr std::int64_t min_distance = 4;
  return std::any_of(peaks_.begin(), peaks_.end(), [&](const Pixel& peak) {
    return periodic_distance(peak.x, pixel.x, frame_.width) < min_distance &&
           periodic_distance(peak.y, pixel.y, frame_.height) < min_distance;
  });
}

// Finds local maxima, each the highest within a few pixels of the log-polar grid. Skips rows whose
// maximum is below the best peak so far.
void RotationScaleSearch::find_peaks(std::span<const float> surface, std::size_t maximum) {
  peaks_.clear();
  find_row_maxima(surface);
  while (peaks_.size() < maximum) {
    float best = 0;
    Pixel at{-1, -1};
    for (const RowMaximum& row : row_maxima_) {
      if (!(row.value > best)) continue;
      const std::span<const float> values = row_of(surface, frame_, row.y);
      for (const Range& columns : allowed_columns_) {
        for (std::int64_t x = columns.begin; x < columns.end; ++x) {
          const float value = values[static_cast<std::size_t>(x)];
          if (!(value > best) || is_near_a_peak({x, row.y})) continue;
          best = value;
          at = {x, row.y};
        }
      }
    }
    if (at.x < 0) break;
    peaks_.push_back(at);
    found_.push_back(peak_at(subpixel_position(record_at(surface, frame_, at.x, at.y)),
                             static_cast<double>(best)));
  }
}

}  // namespace warpalign::detail
