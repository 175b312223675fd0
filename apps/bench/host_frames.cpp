// Frames in host memory, as delivered by a camera or a file.
#include "bench/host_frames.hpp"

#include <cstring>

namespace warpalign::program::bench {

HostFrames::HostFrames(const Device& device, HostMemory memory, Pixels distinct, std::int64_t side,
                       std::size_t count) {
  const std::size_t bytes = static_cast<std::size_t>(side * side) * sizeof(std::uint16_t);
  distinct_ = distinct->size() / bytes;
  auto* target = static_cast<std::byte*>(nullptr);
  if (memory == HostMemory::pinned) {
    pinned_ = device.make_host_buffer(count * bytes);
    target = static_cast<std::byte*>(pinned_->data());
  } else {
    pageable_.resize(count * bytes);
    target = pageable_.data();
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* const frame = target + i * bytes;
    std::memcpy(frame, distinct->data() + origin_of(i) * bytes, bytes);
    images_.push_back({frame, PixelType::u16, side, side, 0});
  }
}

}  // namespace warpalign::program::bench
