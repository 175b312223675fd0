// The planes of each frame of a recording, and the metadata that outputs keep.
#pragma once

#include "io/codecs/tiff_resolution.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// ImageJ's tags of slice labels, display ranges, lookup tables and overlays, in little-endian
/// order.
struct ImageJTags {
  std::vector<std::uint32_t> counts;  ///< the bytes of the header and of each entry
  std::vector<std::byte> bytes;
};

struct RecordingFormat {
  enum class Metadata { none, imagej, ome };

  std::size_t slices = 1;          ///< planes in z of each frame
  std::size_t channels = 1;        ///< of each slice; the three colours of a pixel are one channel
  bool frames_are_slices = false;  ///< one point in time, whose planes in z are the frames
  Metadata metadata = Metadata::none;
  std::string description;              ///< the first page's, in the format of `metadata`
  bool channels_may_be_frames = false;  ///< a label of ImageJ's that tifffile writes by default
  std::optional<int> kept_channel;      ///< the only channel that is read, if the file has others
  bool has_all_planes = true;           ///< whether all planes of the file are read
  bool describes_planes = true;         ///< the description is right about channels and planes
  std::string order = "TZC";            ///< OME's axes of the planes, the slowest first
  std::string axes;  ///< of an array, the slowest first, by the letters of --axes; else empty
  int samples = 1;   ///< of a pixel
  std::optional<TiffResolution> resolution;
  ImageJTags imagej_tags;  ///< empty if there are none

  [[nodiscard]] std::size_t planes() const { return slices * channels; }
};

}  // namespace warpalign::program
