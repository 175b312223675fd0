// Frames in host memory, as a camera or a file leaves them there.
#pragma once

#include "bench/pixels.hpp"

#include <warpalign/device.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::program::bench {

/// Which memory the frames of a case are in.
enum class HostMemory {
  pageable,
  pinned  ///< what the device's copies are fastest from
};

/// Square 16-bit frames, one after the other.
class HostFrames {
 public:
  /// `count` frames, the first ones of which are `distinct`; these are repeated.
  HostFrames(const Device& device, HostMemory memory, Pixels distinct, std::int64_t side,
             std::size_t count);

  [[nodiscard]] std::span<const HostImage> images() const { return images_; }
  /// Which of the distinct frames a frame is.
  [[nodiscard]] std::size_t origin_of(std::size_t frame) const { return frame % distinct_; }

 private:
  std::size_t distinct_;
  std::optional<HostBuffer> pinned_;
  std::vector<std::byte> pageable_;
  std::vector<HostImage> images_;
};

}  // namespace warpalign::program::bench
