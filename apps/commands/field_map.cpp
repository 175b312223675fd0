// Maps the grid to a frame by a displacement field.
#include "commands/field_map.hpp"

#include "commands/finite_samples.hpp"
#include "io/array_file.hpp"

#include <warpalign/missing.hpp>

#include <utility>

namespace warpalign::program {
namespace {

Positions positions_of(const DisplacementField& field) {
  const Shape& frame = field.frame();
  std::vector<float> positions = field.samples();
  const std::size_t pixels = positions.size() / 2;
  std::size_t i = 0;
  for (std::int64_t y = 0; y < frame.height; ++y) {
    for (std::int64_t x = 0; x < frame.width; ++x, ++i) {
      positions[i] += static_cast<float>(x);
      positions[pixels + i] += static_cast<float>(y);
    }
  }
  return {{frame.height, frame.width}, std::move(positions)};
}

bool has_missing(const Array& channel, std::optional<double> nodata) {
  if (is_integer(channel.type) && !nodata) return false;
  return known_samples(HostVolume{channel.bytes.data(), channel.type, channel.shape()}, nodata)
             .missing > 0;
}

}  // namespace

LoadedImage FieldFrameWarper::warp(const LoadedImage& frame, const DisplacementField& field,
                                   std::optional<double> nodata) {
  FieldWarper& warper = warpers_.try_emplace(frame.type, device_, frame.type, frame_).first->second;
  std::vector<Array> channels = split_channels(frame);
  std::optional<Positions> positions;
  for (Array& channel : channels) {
    if (has_missing(channel, nodata)) {
      if (!sampler_) sampler_.emplace(device_, std::vector{frame_.height, frame_.width});
      if (!positions) positions = positions_of(field);
      channel = sampler_->sample(channel, *positions, nodata);
      continue;
    }
    Array warped = make_array(channel.extents, channel.type);
    warper.warp({channel.bytes.data(), channel.type, frame.width, frame.height, 0}, field,
                warped.bytes.data());
    channel = std::move(warped);
  }
  return join_channels(channels);
}

}  // namespace warpalign::program
