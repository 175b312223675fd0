// The images of a template, read one by one, with a common mean and deviation of intensity.
#include "templates/equal_images.hpp"

#include "device/check.hpp"
#include "device/host_rows.hpp"
#include "templates/stage_name.hpp"
#include "values/real_pixels.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace warpalign::detail {

namespace {

/// Calls use(sample) for all samples of an array, x fastest.
template <class Use>
void for_each_sample(const ArrayView& array, const Use& use) {
  const RealPixels pixels(array.rows);
  for (std::int64_t y = 0; y < array.rows.height; ++y) {
    for (std::int64_t x = 0; x < array.rows.width; ++x) use(pixels.at(x, y));
  }
}

/// The same, with NaN in place of masked samples.
template <class Use>
void for_each_sample(const SourceArray& array, const Use& use) {
  if (!array.mask) return for_each_sample(array.samples, use);
  const HostImage& rows = array.samples.rows;
  const RealPixels pixels(rows);
  const RealPixels marks(array.mask->rows);
  for (std::int64_t y = 0; y < rows.height; ++y) {
    for (std::int64_t x = 0; x < rows.width; ++x) {
      use(marks.at(x, y) == 0 ? std::numeric_limits<double>::quiet_NaN() : pixels.at(x, y));
    }
  }
}

std::string name_of_image(std::size_t image) { return "image " + std::to_string(image); }

void check_mask(const ArrayView& mask, const Shape& image, const std::string& what) {
  if (mask.rows.data == nullptr) refuse(template_stage, what + " has no pixels");
  if (mask.rows.type != PixelType::u8) {
    refuse(template_stage, what + " must be u8, with 0 where a pixel is ignored");
  }
  if (mask.shape != image) {
    refuse(template_stage,
           what + " is " + to_string(mask.shape) + ", but its image is " + to_string(image));
  }
  check_rows(template_stage, what.c_str(), mask.rows);
}

[[noreturn]] void refuse_image(const std::string& message) {
  throw Error(ErrorKind::invalid_image, message, {.stage = template_stage});
}

}  // namespace

ArrayView view_of(const HostImage& image) { return {image, image.shape()}; }

ArrayView view_of(const HostVolume& volume) {
  const Shape& shape = volume.shape;
  return {{volume.data, volume.type, shape.width, shape.height * shape.depth, 0}, shape};
}

void check_template_array(const ArrayView& array, const ArrayLimits& limits,
                          const std::string& what) {
  if (array.rows.data == nullptr) refuse(template_stage, what + " has no pixels");
  check_real(template_stage, what.c_str(), array.rows.type);
  const Shape& shape = array.shape;
  const std::int64_t depth = limits.dimensions == 3 ? shape.depth : shape.width;
  const auto [least, most] = std::minmax({shape.width, shape.height, depth});
  if (least < limits.min_side || most > max_side) {
    refuse(template_stage, what + " is " + to_string(shape) + "; each side must be " +
                               std::to_string(limits.min_side) + " to " + std::to_string(max_side));
  }
  check_rows(template_stage, what.c_str(), array.rows);
}

FloatArray floats_of(const ArrayView& array) {
  FloatArray result{array.shape, {}};
  result.samples.reserve(static_cast<std::size_t>(array.shape.pixels()));
  for_each_sample(array,
                  [&](double sample) { result.samples.push_back(static_cast<float>(sample)); });
  return result;
}

EqualImages::EqualImages(std::size_t count, Source source, const ArrayLimits& limits)
    : source_(std::move(source)), limits_(limits) {
  for (std::size_t i = 0; i < count; ++i) {
    moments_.push_back(measured(i));
    common_.mean += moments_.back().mean / static_cast<double>(count);
    common_.deviation += moments_.back().deviation / static_cast<double>(count);
  }
}

SourceArray EqualImages::checked(std::size_t image) const {
  SourceArray array = source_(image);
  check_template_array(array.samples, limits_, name_of_image(image));
  if (array.mask) check_mask(*array.mask, array.samples.shape, name_of_image(image) + "'s mask");
  return array;
}

EqualImages::Moments EqualImages::measured(std::size_t image) const {
  const SourceArray array = checked(image);
  const Shape& shape = array.samples.shape;
  double count = 0;
  double sum = 0;
  double least = 0;
  double most = 0;
  for_each_sample(array, [&](double sample) {
    if (!std::isfinite(sample)) return;
    least = count == 0 ? sample : std::min(least, sample);
    most = count == 0 ? sample : std::max(most, sample);
    sum += sample;
    count += 1;
  });
  if (count == 0) {
    refuse_image(name_of_image(image) +
                 " has no pixel to register: all are NaN, infinite or masked");
  }
  if (least == most) {
    const bool is_whole = count == static_cast<double>(shape.pixels());
    refuse_image(name_of_image(image) + " is constant" +
                 (is_whole ? "" : " where it is neither missing nor masked"));
  }
  const double mean = sum / count;
  double squares = 0;
  for_each_sample(array, [&](double sample) {
    if (std::isfinite(sample)) squares += (sample - mean) * (sample - mean);
  });
  return {shape, array.mask.has_value(), mean, std::sqrt(squares / count)};
}

FloatArray EqualImages::operator[](std::size_t image) const {
  const SourceArray array = checked(image);
  const Moments& moments = moments_[image];
  if (array.samples.shape != moments.shape || array.mask.has_value() != moments.has_mask) {
    refuse(template_stage, name_of_image(image) + " is not the same each time that it is read");
  }
  const double gain = common_.deviation / moments.deviation;
  FloatArray result{moments.shape, {}};
  result.samples.reserve(static_cast<std::size_t>(moments.shape.pixels()));
  for_each_sample(array, [&](double sample) {
    result.samples.push_back(static_cast<float>((sample - moments.mean) * gain + common_.mean));
  });
  return result;
}

}  // namespace warpalign::detail
