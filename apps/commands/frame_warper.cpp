// Resamples images of one size onto the grid of another image.
#include "commands/frame_warper.hpp"

#include "commands/finite_samples.hpp"
#include "commands/missing_samples.hpp"
#include "io/array_file.hpp"

#include <utility>

namespace warpalign::program {
namespace {

constexpr SplineModel spline{.boundary = Boundary::constant};

}  // namespace

FrameWarper::FrameWarper(const Device& device, const Shape& frame, const Shape& grid,
                         std::optional<double> nodata)
    : device_(device),
      frame_(frame),
      grid_(grid),
      nodata_(nodata),
      stream_(device.make_stream()),
      input_(device.make_image(PixelType::f32, frame)) {}

FrameWarper::Output& FrameWarper::output_of(PixelType type) {
  const auto found = outputs_.find(type);
  if (found != outputs_.end()) return found->second;
  const ResampleSpec spec{
      .spline = spline, .images = {.shape = frame_}, .output = grid_, .output_type = type};
  return outputs_
      .emplace(type, Output{ResamplePlan(device_, spec), device_.make_image(type, grid_)})
      .first->second;
}

FrameWarper::Integers& FrameWarper::integers_of(PixelType type) {
  const auto found = integers_.find(type);
  if (found != integers_.end()) return found->second;
  return integers_
      .emplace(type, Integers{device_.make_image(type, frame_),
                              ConvertPlan(device_, {.shape = frame_, .input = type})})
      .first->second;
}

/// Uploads a channel: integers in their own type, other types as f32.
const Image& FrameWarper::uploaded(std::span<const std::byte> samples, PixelType type) {
  if (is_integer(type)) {
    Image& pixels = integers_of(type).pixels;
    stream_.upload(samples.data(), samples.size(), pixels.buffer());
    return pixels;
  }
  const Array numbers =
      to_float({{frame_.height, frame_.width}, type, {samples.begin(), samples.end()}});
  stream_.upload(numbers.bytes.data(), numbers.bytes.size(), input_.buffer());
  return input_;
}

void FrameWarper::resample(const Image& samples, const HomogeneousMatrix& grid_to_frame,
                           PixelType type, std::span<std::byte> warped) {
  const Image* numbers = &samples;
  if (is_integer(samples.type())) {
    integers_of(samples.type()).to_float.execute(stream_, samples, input_);
    numbers = &input_;
  }
  Output& output = output_of(type);
  output.resample.execute(stream_, *numbers, grid_to_frame, output.pixels);
  stream_.download(output.pixels, warped.data(), warped.size());
}

LoadedImage FrameWarper::warp(const Image& gray, const HomogeneousMatrix& grid_to_frame) {
  LoadedImage warped = make_image(grid_.width, grid_.height, 1, gray.type());
  resample(gray, grid_to_frame, gray.type(), warped.pixels);
  return warped;
}

Array FrameWarper::warped(const Array& channel, const HomogeneousMatrix& grid_to_frame) {
  return resample_known(
      channel, nodata_, spline.boundary,
      [&](const Array& samples) {
        Array result = make_array({grid_.height, grid_.width}, channel.type);
        resample(uploaded(samples.bytes, samples.type), grid_to_frame, channel.type, result.bytes);
        return result;
      },
      [&](const Array& mask) { return warped_mask(mask, grid_to_frame); });
}

Array FrameWarper::warped_mask(const Array& mask, const HomogeneousMatrix& grid_to_frame) {
  if (!mask_output_) {
    const ResampleSpec spec{.spline = mask_spline(spline),
                            .images = {.shape = frame_},
                            .output = grid_,
                            .output_type = PixelType::f32};
    mask_output_.emplace(
        Output{ResamplePlan(device_, spec), device_.make_image(PixelType::f32, grid_)});
  }
  stream_.upload(mask.bytes.data(), mask.bytes.size(), input_.buffer());
  mask_output_->resample.execute(stream_, input_, grid_to_frame, mask_output_->pixels);
  Array shares = make_array({grid_.height, grid_.width}, PixelType::f32);
  stream_.download(mask_output_->pixels, shares.bytes.data(), shares.bytes.size());
  return shares;
}

LoadedImage FrameWarper::warp(const LoadedImage& frame, const HomogeneousMatrix& grid_to_frame) {
  if (frame.channels == 1 && is_integer(frame.type) && !nodata_) {
    LoadedImage warped = make_image(grid_.width, grid_.height, 1, frame.type);
    resample(uploaded(frame.pixels, frame.type), grid_to_frame, frame.type, warped.pixels);
    return warped;
  }
  std::vector<Array> channels = split_channels(frame);
  for (Array& channel : channels) channel = warped(channel, grid_to_frame);
  return join_channels(channels);
}

}  // namespace warpalign::program
