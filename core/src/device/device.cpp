// Device, Buffer and Image handles.
#include <warpalign/device.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <limits>

namespace warpalign {

namespace {

constexpr std::int64_t max_extent = std::numeric_limits<std::int32_t>::max();

void check_extent(const Shape& shape) {
  for (const std::int64_t extent : {shape.width, shape.height, shape.depth}) {
    if (extent < 1 || extent > max_extent) {
      detail::refuse("make_image",
                     "the extents of an image must be 1 to 2^31 - 1, not " + to_string(shape));
    }
  }
}

std::size_t checked_bytes(PixelType type, const Shape& shape) {
  check_extent(shape);
  const auto plane = static_cast<std::size_t>(shape.plane());
  const std::size_t slice = plane * size_of(type);
  if (slice > std::numeric_limits<std::size_t>::max() / 4 / static_cast<std::size_t>(shape.depth)) {
    detail::refuse("make_image", "an image of " + to_string(shape) + " does not fit any memory");
  }
  return slice * static_cast<std::size_t>(shape.depth);
}

}  // namespace

Device::Device(std::shared_ptr<detail::DeviceState> state) : state_(std::move(state)) {}

const DeviceInfo& Device::info() const noexcept { return state_->driver->info(); }

Buffer Device::make_buffer(std::size_t bytes) const {
  if (bytes == 0) detail::refuse("make_buffer", "a buffer must have at least one byte");
  return detail::Access::make_buffer(*this, bytes);
}

Image Device::make_image(PixelType type, const Shape& shape) const {
  return detail::Access::make_image(*this, type, shape, checked_bytes(type, shape));
}

Stream Device::make_stream(bool timed) const { return detail::Access::make_stream(*this, timed); }

Buffer::Buffer(Device device, std::unique_ptr<backend::Memory> memory, std::size_t bytes)
    : device_(std::move(device)), memory_(std::move(memory)), bytes_(bytes) {}
Buffer::Buffer(Buffer&&) noexcept = default;
Buffer::~Buffer() = default;

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  memory_ = std::move(other.memory_);  // frees the old memory before its device is released
  device_ = std::move(other.device_);
  bytes_ = other.bytes_;
  return *this;
}

Image::Image(Buffer buffer, PixelType type, const Shape& shape)
    : buffer_(std::move(buffer)), type_(type), shape_(shape) {}

}  // namespace warpalign
