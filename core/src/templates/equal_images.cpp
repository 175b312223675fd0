// The images of a template, read one by one, with a common mean and deviation of intensity.
#include "templates/equal_images.hpp"

#include "device/check.hpp"
#include "device/host_rows.hpp"
#include "templates/stage_name.hpp"
#include "values/real_pixels.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>
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

std::string name_of_image(std::size_t image) { return "image " + std::to_string(image); }

}  // namespace

ArrayView view_of(const HostImage& image, std::shared_ptr<const void> owner) {
  return {image, image.shape(), std::move(owner)};
}

ArrayView view_of(const HostVolume& volume, std::shared_ptr<const void> owner) {
  const Shape& shape = volume.shape;
  return {{volume.data, volume.type, shape.width, shape.height * shape.depth, 0},
          shape,
          std::move(owner)};
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

EqualImages::Moments EqualImages::measured(std::size_t image) const {
  const ArrayView array = source_(image);
  check_template_array(array, limits_, name_of_image(image));
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
  if (least == most) {
    throw Error(ErrorKind::invalid_image,
                name_of_image(image) + " is constant, or has no finite samples",
                {.stage = template_stage});
  }
  const double mean = sum / count;
  double squares = 0;
  for_each_sample(array, [&](double sample) {
    if (std::isfinite(sample)) squares += (sample - mean) * (sample - mean);
  });
  return {array.shape, mean, std::sqrt(squares / count)};
}

FloatArray EqualImages::operator[](std::size_t image) const {
  const ArrayView array = source_(image);
  const Moments& moments = moments_[image];
  if (array.shape != moments.shape) {
    refuse(template_stage, name_of_image(image) + " is not the same each time that it is read");
  }
  check_template_array(array, limits_, name_of_image(image));
  const double gain = common_.deviation / moments.deviation;
  FloatArray result{array.shape, {}};
  result.samples.reserve(static_cast<std::size_t>(array.shape.pixels()));
  for_each_sample(array, [&](double sample) {
    result.samples.push_back(static_cast<float>((sample - moments.mean) * gain + common_.mean));
  });
  return result;
}

}  // namespace warpalign::detail
