// Frames in host memory, as delivered by a camera or a file.
#pragma once

#include "bench/pixels.hpp"

#include <warpalign/device.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::program::bench {

/// The kind of memory that holds the frames of a case.
enum class HostMemory {
  pageable,
  pinned  ///< page-locked memory, from which copies to the device are fastest
};

/// Square 16-bit frames in consecutive memory.
class HostFrames {
 public:
  /// Makes `count` frames. The first `distinct` of them differ; the others repeat them.
  HostFrames(const Device& device, HostMemory memory, Pixels distinct, std::int64_t side,
             std::size_t count);

  [[nodiscard]] std::span<const HostImage> images() const { return images_; }
  /// The index of the distinct frame that a frame repeats.
  [[nodiscard]] std::size_t origin_of(std::size_t frame) const { return frame % distinct_; }

 private:
  std::size_t distinct_;
  std::optional<HostBuffer> pinned_;
  std::vector<std::byte> pageable_;
  std::vector<HostImage> images_;
};

}  // namespace warpalign::program::bench
