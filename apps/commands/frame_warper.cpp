// Resamples images of one size onto the grid of another image.
#include "commands/frame_warper.hpp"

#include "io/array_file.hpp"

#include <cmath>

namespace warpalign::program {
namespace {

/// A single value that is not finite would spread to all others through the prefilter's recursion.
void remove_nonfinite(Array& samples) {
  for (float& sample : samples.samples<float>()) {
    if (!std::isfinite(sample)) sample = 0;
  }
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

LoadedImage FrameWarper::warp(const LoadedImage& frame, const Transform& grid_to_frame) {
  Output& output = output_of(frame.type);
  std::vector<Array> channels = split_channels(frame);
  for (Array& channel : channels) {
    Array samples = to_float(channel);
    remove_nonfinite(samples);
    stream_.upload(samples.bytes.data(), samples.bytes.size(), input_.buffer());
    output.resample.execute(stream_, input_, grid_to_frame, output.pixels);
    channel = make_array({grid_.height, grid_.width}, frame.type);
    stream_.download(output.pixels, channel.bytes.data(), channel.bytes.size());
  }
  return join_channels(channels);
}

}  // namespace warpalign::program
