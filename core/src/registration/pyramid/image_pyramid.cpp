// One image of a pair on the device, at full resolution and at coarser levels.
#include "registration/pyramid/image_pyramid.hpp"

#include "registration/points/sparsity.hpp"

#include <warpalign/error.hpp>
#include <warpalign/missing.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace warpalign::detail {

namespace {

void read(Stream& stream, const Image& image, std::optional<Readback<float>>& values) {
  const auto n = static_cast<std::size_t>(image.shape().pixels());
  if (!values || values->count() != n) values.emplace(stream.device(), n);
  values->enqueue(stream, image.buffer());
}

// Whether nothing is left to register.
bool is_constant(const IntensityStatistics& levels) {
  return !(levels.deviation > 1e-6 * std::abs(levels.mean));
}

// The mean becomes 0, and the deviation 1 to 2. The scale is a power of two, so only the
// subtraction rounds, and not where values are near the mean.
VolumeLevels usual_levels(const IntensityStatistics& levels) {
  return {static_cast<float>(levels.mean),
          std::ldexp(1.0F, std::clamp(-std::ilogb(levels.deviation), -126, 127))};
}

}  // namespace

PyramidLevel::PyramidLevel(const Device& device, PixelType type, const Shape& image, bool masked,
                           const Sampling2d& sampling)
    : device_(device),
      type_(type),
      sampling_(sampling),
      shape_(level_shape(image, sampling)),
      to_image_(level_to_image(image, sampling)),
      smooth_(device, level_smoothing(type, image, masked, sampling)),
      values_(device.make_image(PixelType::f32, shape_)) {
  if (masked) weight_.emplace(device.make_image(PixelType::f32, shape_));
}

ImagePyramid::ImagePyramid(const Device& device, PixelType type, const Shape& shape)
    : device_(device), type_(type), shape_(shape) {}

void ImagePyramid::load(Stream& stream, StageClock& clock, const HostImage& from, Image& to) {
  clock.run("upload", [&] { stream.upload(from, to); });
}

void ImagePyramid::load(Stream& stream, StageClock& clock, const Image& from, Image& to) {
  clock.run("copy", [&] { stream.copy(from.buffer(), to.buffer()); });
}

void ImagePyramid::share_image_of(const ImagePyramid& other) {
  shared_ = &other.image();
  invalidate_levels();
}

ImagePyramid::Taken& ImagePyramid::begin_taking() {
  if (!own_) own_.emplace(device_.make_image(type_, shape_));
  shared_ = nullptr;
  own_->masked = false;
  own_->missing = 0;
  invalidate_levels();
  return *own_;
}

// The memory of the mask, which masks the image from now on.
Image& ImagePyramid::begin_masking() {
  if (!own_->mask) own_->mask.emplace(device_.make_image(PixelType::u8, shape_));
  own_->masked = true;
  return *own_->mask;
}

void ImagePyramid::invalidate_levels() {
  pyramid_levels_.for_each([](PyramidLevel& level) {
    level.has_values_ = level.has_normalized_ = level.has_coefficients_ = false;
  });
}

void ImagePyramid::start(Stream& stream, StageClock& clock, const char* what) {
  const Sampling2d sampling{measured_spacing(shape_)};
  const auto measure_again = [&]() -> PyramidLevel& {
    PyramidLevel& whole = level(stream, clock, sampling);
    measure(stream, whole);
    return whole;
  };
  filter_impulses(stream, clock);
  PyramidLevel* whole = &measure_again();
  if (!std::isfinite(own_->levels.mean)) {
    mask_missing(stream, clock);
    whole = &measure_again();
  }
  check_measured(what);
  if (type_ == PixelType::f32 && is_extreme(own_->levels)) {
    rescale(stream, clock);
    filter_impulses(stream, clock);
    whole = &measure_again();
    check_measured(what);
  }
  if (!own_->masked) {
    mask_border(stream, clock, *whole);
    if (own_->masked) {
      measure_again();
      check_measured(what);
    }
  }
  find_points(stream, clock, what);
}

// Missing pixels are rare, so the pixels are read only if some are.
void ImagePyramid::mask_missing(Stream& stream, StageClock& clock) {
  const auto count = static_cast<std::size_t>(shape_.plane());
  std::vector<std::byte> pixels(count * size_of(type_));
  std::vector<std::uint8_t> mask(count, 1);
  clock.run("download", [&] {
    stream.download(own_->pixels, pixels.data(), pixels.size());
    if (own_->masked) stream.download(*own_->mask, mask.data(), mask.size());
  });
  const KnownSamples samples =
      known_samples(HostImage{pixels.data(), type_, shape_.width, shape_.height, 0});
  for (std::size_t i = 0; i < count; ++i) {
    if (samples.known[i] != 0 || mask[i] == 0) continue;
    mask[i] = 0;
    ++own_->missing;
  }
  clock.run("upload", [&] {
    stream.upload(HostImage{mask.data(), PixelType::u8, shape_.width, shape_.height, 0},
                  begin_masking());
  });
  own_->replaced = false;  // filters do not know the mask
  invalidate_levels();
}

// In place, since no result refers to the caller's intensities.
void ImagePyramid::rescale(Stream& stream, StageClock& clock) {
  if (!rescaling_) rescaling_.emplace(device_, PadVolumeSpec{type_, shape_, shape_, 0});
  if (!own_->filled) own_->filled.emplace(device_.make_image(PixelType::f32, shape_));
  clock.run("rescale", [&] {
    rescaling_->execute(stream, own_->pixels, usual_levels(own_->levels), *own_->filled);
  });
  std::swap(own_->pixels, *own_->filled);
  invalidate_levels();
}

// Of the level that was measured last.
double ImagePyramid::measured_bright_fraction() {
  const IntensityStatistics& levels = own_->levels;
  SparsityInput input{values_->wait(), {}, levels.mean, levels.deviation, 0};
  if (own_->masked) input.weights = weights_->wait();
  input.maximum = static_cast<double>(levels.maximum);
  return bright_fraction(input);
}

// Makes the image without hot pixels, which the point finder has left, the image of the pyramid.
void ImagePyramid::take_without_hot_pixels(Stream& stream, StageClock& clock, const char* what) {
  if (!own_->filled) own_->filled.emplace(device_.make_image(PixelType::f32, shape_));
  const Image& replaced = point_finder_->without_hot_pixels();
  clock.run("copy", [&] { stream.copy(replaced.buffer(), own_->filled->buffer()); });
  own_->replaced = true;
  invalidate_levels();
  measure(stream, level(stream, clock, {measured_spacing(shape_)}));
  check_measured(what);
}

// Finds the point sources, and replaces hot pixels beside them, which would match at the same place
// in every image of a camera.
void ImagePyramid::find_points(Stream& stream, StageClock& clock, const char* what) {
  own_->points.clear();
  own_->hot.clear();
  double bright = measured_bright_fraction();
  if (bright <= max_bright_fraction) {
    if (!point_finder_ || !point_finder_->matches(type(), own_->masked)) {
      point_finder_.emplace(device_, type(), shape_, own_->masked);
    }
    own_->points = point_finder_->find(stream, clock, pixels(), mask()).sources;
    const std::span<const std::size_t> hot = point_finder_->hot();
    if (own_->points.empty()) {
      own_->hot.assign(hot.begin(), hot.end());
    } else if (!hot.empty()) {
      take_without_hot_pixels(stream, clock, what);
      bright = measured_bright_fraction();
    }
  }
  own_->sparse = bright <= max_sparse_fraction && !own_->points.empty();
}

void ImagePyramid::replace_hot_pixels(Stream& stream, StageClock& clock, const char* what) {
  if (own_->hot.empty()) return;
  own_->hot.clear();
  const std::span<const float> weights = point_finder_->weights();
  const std::span<const float> rest = point_finder_->values_without_hot_pixels();
  const IntensityStatistics levels =
      weights.empty() ? intensity_statistics(rest) : intensity_statistics(rest, weights);
  if (!is_constant(levels)) take_without_hot_pixels(stream, clock, what);
}

// Enlarges the mask of a level to border_mask_ by nearest-neighbour interpolation.
void ImagePyramid::enlarge_nearest(std::span<const std::uint8_t> level, const Shape& coarse,
                                   const Affine& to_level) {
  const auto nearest = [](double at, std::int64_t n) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(std::llround(at), 0, n - 1));
  };
  const auto width = static_cast<std::size_t>(shape_.width);
  border_columns_.resize(width);
  for (std::size_t x = 0; x < width; ++x) {
    border_columns_[x] = nearest(to_level.a * static_cast<double>(x) + to_level.c, coarse.width);
  }
  border_mask_.resize(static_cast<std::size_t>(shape_.plane()));
  const auto coarse_width = static_cast<std::size_t>(coarse.width);
  auto last = static_cast<std::size_t>(coarse.height);
  for (std::size_t y = 0; y < static_cast<std::size_t>(shape_.height); ++y) {
    const std::size_t v = nearest(to_level.e * static_cast<double>(y) + to_level.f, coarse.height);
    std::uint8_t* row = border_mask_.data() + y * width;
    if (v == last) {
      std::copy_n(row - width, width, row);  // most rows equal the previous one
    } else {
      const std::uint8_t* from = level.data() + v * coarse_width;
      for (std::size_t x = 0; x < width; ++x) row[x] = from[border_columns_[x]];
    }
    last = v;
  }
}

void ImagePyramid::mask_border(Stream& stream, StageClock& clock, const PyramidLevel& level) {
  const Shape& coarse = level.shape();
  const IntensityStatistics& levels = own_->levels;
  const auto content = border_search_.content(
      {coarse.width, coarse.height, values_->wait(), levels.minimum, levels.maximum},
      border_margin);
  if (!content) return;
  enlarge_nearest(*content, coarse, level.to_image().inverse());
  clock.run("upload", [&] {
    stream.upload(HostImage{border_mask_.data(), PixelType::u8, shape_.width, shape_.height, 0},
                  begin_masking());
  });
}

// Masked pixels may hold any value, so the filter is not applied to images with a mask.
void ImagePyramid::filter_impulses(Stream& stream, StageClock& clock) {
  own_->replaced = false;
  if (own_->masked) return;
  if (!impulse_filter_) impulse_filter_.emplace(device_, ImpulseFilterSpec{type_, shape_});
  ImpulseStatistics impulse_statistics;
  clock.run("impulse_filter", [&] {
    impulse_statistics = impulse_filter_->impulse_statistics(stream, own_->pixels);
  });
  if (impulse_statistics.isolated < min_isolated) return;
  if (!own_->filled) own_->filled.emplace(device_.make_image(PixelType::f32, shape_));
  clock.run("impulse_filter", [&] {
    impulse_filter_->execute(stream, own_->pixels, impulse_statistics, *own_->filled);
  });
  own_->replaced = true;
}

// Every unmasked pixel contributes to some pixel of the level, so NaN and infinities show up there.
void ImagePyramid::measure(Stream& stream, const PyramidLevel& level) {
  IntensityStatistics& levels = own_->levels;
  read(stream, level.values(), values_);
  if (level.masked()) {
    read(stream, *level.weight(), weights_);
    levels = intensity_statistics(values_->wait(), weights_->wait());
  } else {
    levels = intensity_statistics(values_->wait());
  }
  own_->valid_fraction = levels.weight / static_cast<double>(level.shape().plane());
}

void ImagePyramid::check_measured(const char* what) const {
  const IntensityStatistics& levels = own_->levels;
  const auto refuse_image = [what](const std::string& why) {
    throw Error(ErrorKind::invalid_image, what + why);
  };
  if (!std::isfinite(levels.mean)) {
    refuse_image(" has values too large for single precision: scale them down");
  }
  if (!(levels.weight > 0) && own_->missing > 0) {
    refuse_image(" has no pixel to register: all are NaN, infinite or masked");
  }
  if (!(levels.weight > 0)) {
    throw Error(ErrorKind::invalid_image,
                "the mask of " + std::string(what) + " leaves no pixel to register");
  }
  if (is_constant(levels)) {
    refuse_image(levels.deviation > 0
                     ? " is constant, but for a millionth of its mean: there is nothing in it to "
                       "register; if there is, subtract the mean before"
                     : " is constant: there is nothing in it to register");
  }
}

void ImagePyramid::smooth(Stream& stream, const SmoothPlan& plan, Image& values,
                          Image* weight) const {
  const Image* counts = mask();
  if (counts == nullptr || weight == nullptr) return plan.execute(stream, pixels(), values);
  plan.execute(stream, pixels(), *counts, values, *weight);
}

PyramidLevel& ImagePyramid::level(Stream& stream, StageClock& clock, const Sampling2d& sampling) {
  PyramidLevel& level = pyramid_levels_.get(
      {type(), image().masked, sampling},
      [&] { return PyramidLevel(device_, type(), shape_, image().masked, sampling); },
      [](const PyramidLevel& idle) { return !idle.has_values_; });
  if (!level.has_values_) {
    clock.run("pyramid", [&] {
      smooth(stream, level.smooth_, level.values_, level.weight_ ? &*level.weight_ : nullptr);
    });
    level.has_values_ = true;
  }
  return level;
}

const Image& ImagePyramid::normalized(Stream& stream, StageClock& clock, PyramidLevel& level) {
  if (!level.normalized_) {  // allocated last
    level.normalization_.emplace(
        device_, LocalNormalizationSpec{level.shape_, contrast_sigma, level.masked()});
    level.normalized_.emplace(device_.make_image(PixelType::f32, level.shape_));
  }
  if (level.has_normalized_) return *level.normalized_;
  const LocalLevels levels = local_levels_of(image().levels);
  clock.run("local_normalization", [&] {
    if (level.weight_) {
      level.normalization_->execute(stream, level.values_, *level.weight_, levels,
                                    *level.normalized_);
    } else {
      level.normalization_->execute(stream, level.values_, levels, *level.normalized_);
    }
  });
  level.has_normalized_ = true;
  return *level.normalized_;
}

const Image& ImagePyramid::coefficients(Stream& stream, StageClock& clock, PyramidLevel& level) {
  if (!level.coefficients_) {  // allocated last
    level.prefilter_.emplace(device_, PrefilterSpec{.images = {.shape = level.shape_}});
    level.coefficients_.emplace(device_.make_image(PixelType::f32, level.shape_));
  }
  if (level.has_coefficients_) return *level.coefficients_;
  const Image& samples = normalized(stream, clock, level);
  clock.run("prefilter", [&] { level.prefilter_->execute(stream, samples, *level.coefficients_); });
  level.has_coefficients_ = true;
  return *level.coefficients_;
}

}  // namespace warpalign::detail
