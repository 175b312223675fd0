// Resamples images of one size onto the grid of another image.
#include "commands/frame_warper.hpp"

#include "commands/finite_samples.hpp"
#include "io/array_file.hpp"

#include <utility>

namespace warpalign::program {
namespace {

/// The samples in single precision, with 0 for non-finite values.
Array finite_floats(std::span<const std::byte> samples, PixelType type, const Shape& shape) {
  Array numbers = to_float({{shape.height, shape.width}, type, {samples.begin(), samples.end()}});
  remove_nonfinite(numbers);
  return numbers;
}

}  // namespace

FrameWarper::FrameWarper(const Device& device, const Shape& frame, const Shape& grid)
    : device_(device),
      frame_(frame),
      grid_(grid),
      stream_(device.make_stream()),
      input_(device.make_image(PixelType::f32, frame)) {}

FrameWarper::Output& FrameWarper::output_of(PixelType type) {
  const auto found = outputs_.find(type);
  if (found != outputs_.end()) return found->second;
  const ResampleSpec spec{.spline = {.boundary = Boundary::constant},
                          .images = {.shape = frame_},
                          .output = grid_,
                          .output_type = type};
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

/// Uploads a channel: integers in their own type, other types as finite f32.
const Image& FrameWarper::uploaded(std::span<const std::byte> samples, PixelType type) {
  if (is_integer(type)) {
    Image& pixels = integers_of(type).pixels;
    stream_.upload(samples.data(), samples.size(), pixels.buffer());
    return pixels;
  }
  const Array numbers = finite_floats(samples, type, frame_);
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

LoadedImage FrameWarper::warp(const LoadedImage& frame, const HomogeneousMatrix& grid_to_frame) {
  if (frame.channels == 1) {
    LoadedImage warped = make_image(grid_.width, grid_.height, 1, frame.type);
    resample(uploaded(frame.pixels, frame.type), grid_to_frame, frame.type, warped.pixels);
    return warped;
  }
  std::vector<Array> channels = split_channels(frame);
  for (Array& channel : channels) {
    Array warped = make_array({grid_.height, grid_.width}, frame.type);
    resample(uploaded(channel.bytes, frame.type), grid_to_frame, frame.type, warped.bytes);
    channel = std::move(warped);
  }
  return join_channels(channels);
}

}  // namespace warpalign::program
