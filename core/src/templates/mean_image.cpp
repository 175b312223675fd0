// The mean of several images, each warped to a common grid.
#include "templates/mean_image.hpp"

#include "missing/shares.hpp"

#include <warpalign/missing.hpp>

#include <array>
#include <cmath>
#include <limits>

namespace warpalign::detail {

namespace {

/// The coordinates of all pixels: an array for each axis, one after the other.
Image coordinates_for(const Device& device, const Shape& output, int dimensions) {
  return device.make_image(PixelType::f32,
                           {output.width, output.height, output.depth * dimensions});
}

std::vector<float> positions_of(const Transform& transform, const Shape& output, int dimensions) {
  const auto pixels = static_cast<std::size_t>(output.pixels());
  const auto axes = static_cast<std::size_t>(dimensions);
  std::vector<float> positions(axes * pixels);
  std::vector<float*> components;
  for (std::size_t a = 0; a < axes; ++a) components.push_back(positions.data() + a * pixels);
  transform.positions({.shape = output}, components);
  return positions;
}

/// Sets values to NaN whose positions lie outside of the image.
void mark_outside(const std::vector<float>& positions, const Shape& image,
                  std::vector<float>& values) {
  const std::array<std::int64_t, 3> sides{image.width, image.height, image.depth};
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto last = static_cast<float>(sides[i / values.size()] - 1);
    const bool is_inside = positions[i] >= 0 && positions[i] <= last;
    if (!is_inside) values[i % values.size()] = std::numeric_limits<float>::quiet_NaN();
  }
}

}  // namespace

ArrayWarper::Plan::Plan(const Device& device, const ResampleSpec& spec)
    : resample(device, spec), input(device.make_image(spec.input, spec.images.shape)) {}

ArrayWarper::ArrayWarper(const Device& device, const Shape& output, int dimensions)
    : device_(device),
      output_(output),
      dimensions_(dimensions),
      stream_(device.make_stream()),
      coordinates_(coordinates_for(device, output, dimensions)),
      result_(device.make_image(PixelType::f32, output)) {}

ResampleSpec ArrayWarper::spec_for(const Shape& image, PixelType type) const {
  ResampleSpec spec{.spline = {.boundary = Boundary::constant},
                    .images = {.shape = image, .dimensions = dimensions_},
                    .output = output_,
                    .input = type,
                    .output_type = PixelType::f32};
  if (type == PixelType::f32) return spec;
  spec.spline.prefilter = std::nullopt;  // of a mask, whose spline has no overshoot
  return spec;
}

void ArrayWarper::run(Plan& plan, const void* image, std::vector<float>& samples) {
  stream_.upload(image, plan.input.size_bytes(), plan.input.buffer());
  plan.resample.execute(stream_, plan.input, coordinates_, result_);
  samples.resize(static_cast<std::size_t>(output_.pixels()));
  stream_.download(result_, samples.data(), result_.size_bytes());
}

std::vector<float> ArrayWarper::warp(const FloatArray& image, const Transform& transform) {
  if (!values_ || planned_ != image.shape) {
    values_.reset();  // release the old memory before allocating the new
    mask_.reset();
    values_.emplace(device_, spec_for(image.shape, PixelType::f32));
    planned_ = image.shape;
  }
  const std::vector<float> positions = positions_of(transform, output_, dimensions_);
  stream_.upload(positions.data(), positions.size() * sizeof(float), coordinates_.buffer());
  std::vector<float> warped;
  const KnownSamples samples =
      known_samples(HostVolume{image.samples.data(), PixelType::f32, image.shape});
  if (samples.missing == 0) {
    run(*values_, image.samples.data(), warped);
  } else {
    std::vector<float> filled = image.samples;
    fill_missing(filled, samples.known, image.shape);
    run(*values_, filled.data(), warped);
    mark_unknown(samples.known, image.shape, warped);
  }
  mark_outside(positions, image.shape, warped);
  return warped;
}

void ArrayWarper::mark_unknown(const std::vector<std::uint8_t>& known, const Shape& image,
                               std::vector<float>& warped) {
  if (!mask_) mask_.emplace(device_, spec_for(image, PixelType::u8));
  std::vector<float> shares;
  run(*mask_, known.data(), shares);
  for (std::size_t i = 0; i < warped.size(); ++i) {
    const bool is_known = static_cast<double>(shares[i]) >= min_known_share - share_rounding;
    if (!is_known) warped[i] = std::numeric_limits<float>::quiet_NaN();
  }
}

MeanImage::MeanImage(const Shape& shape)
    : shape_(shape),
      sum_(static_cast<std::size_t>(shape.pixels())),
      count_(static_cast<std::size_t>(shape.pixels())) {}

void MeanImage::add(const std::vector<float>& image) {
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    if (!std::isfinite(image[i])) continue;
    sum_[i] += static_cast<double>(image[i]);
    ++count_[i];
  }
}

FloatArray MeanImage::mean() const {
  FloatArray result{shape_, std::vector<float>(sum_.size())};
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    result.samples[i] = count_[i] == 0
                            ? std::numeric_limits<float>::quiet_NaN()
                            : static_cast<float>(sum_[i] / static_cast<double>(count_[i]));
  }
  return result;
}

}  // namespace warpalign::detail
