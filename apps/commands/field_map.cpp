// Maps the grid to a frame by a displacement field.
#include "commands/field_map.hpp"

#include "commands/finite_samples.hpp"
#include "io/array_file.hpp"

namespace warpalign::program {

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
