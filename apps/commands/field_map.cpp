// Maps the grid to a frame by a displacement field.
#include "commands/field_map.hpp"

#include "io/array_file.hpp"

#include <cmath>
#include <cstdint>

namespace warpalign::program {
namespace {

template <typename Sample>
void remove_nonfinite(Array& samples) {
  for (Sample& sample : samples.samples<Sample>()) {
    if (!std::isfinite(sample)) sample = 0;
  }
}

/// Sets non-finite samples to 0. A single one would spread to all samples through the prefilter's
/// recursion.
void remove_nonfinite(Array& samples) {
  constexpr unsigned half_exponent = 0x7C00;  // all ones: infinite or NaN
  if (samples.type == PixelType::f32) remove_nonfinite<float>(samples);
  if (samples.type == PixelType::f64) remove_nonfinite<double>(samples);
  if (samples.type != PixelType::f16) return;
  for (std::uint16_t& bits : samples.samples<std::uint16_t>()) {
    if ((bits & half_exponent) == half_exponent) bits = 0;
  }
}

}  // namespace

LoadedImage FieldFrameWarper::warp(const LoadedImage& frame, const DisplacementField& field) {
  FieldWarper& warper = warpers_.try_emplace(frame.type, device_, frame.type, frame_).first->second;
  std::vector<Array> channels = split_channels(frame);
  for (Array& channel : channels) {
    remove_nonfinite(channel);
    Array warped = make_array(channel.extents, channel.type);
    warper.warp({channel.bytes.data(), channel.type, frame.width, frame.height, 0}, field,
                warped.bytes.data());
    channel = std::move(warped);
  }
  return join_channels(channels);
}

}  // namespace warpalign::program
