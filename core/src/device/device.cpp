// Device, Buffer and Image handles.
#include <warpalign/device.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "device/image_bytes.hpp"

#include <limits>

namespace warpalign {

namespace detail {

std::size_t checked_image_bytes(const char* stage, PixelType type, const Shape& shape) {
  constexpr std::int64_t max_extent = std::numeric_limits<std::int32_t>::max();
  for (const std::int64_t extent : {shape.width, shape.height, shape.depth}) {
    if (extent < 1 || extent > max_extent) {
      refuse(stage, "the extents of an image must be 1 to 2^31 - 1, not " + to_string(shape));
    }
  }
  const auto plane = static_cast<std::size_t>(shape.plane());
  const auto depth = static_cast<std::size_t>(shape.depth);
  if (plane > std::numeric_limits<std::size_t>::max() / 4 / size_of(type) / depth) {
    refuse(stage, "an image of " + to_string(shape) + " is too large for any memory");
  }
  return plane * size_of(type) * depth;
}

}  // namespace detail

const char* name_of(DeviceKind kind) noexcept {
  switch (kind) {
    case DeviceKind::cpu:
      return "cpu";
    case DeviceKind::gpu:
      return "gpu";
    case DeviceKind::other:
      break;
  }
  return "other";
}

const char* name_of(Sampling sampling) noexcept {
  return sampling == Sampling::texture ? "texture" : "buffer";
}

Device::Device(std::shared_ptr<detail::DeviceState> state) : state_(std::move(state)) {}

const DeviceInfo& Device::info() const noexcept { return state_->driver->info(); }

Buffer Device::make_buffer(std::size_t bytes) const {
  if (bytes == 0) detail::refuse("make_buffer", "a buffer must have at least one byte");
  return detail::Access::make_buffer(*this, bytes);
}

HostBuffer Device::make_host_buffer(std::size_t bytes) const {
  if (bytes == 0) detail::refuse("make_host_buffer", "a buffer must have at least one byte");
  return detail::Access::make_host_buffer(*this, bytes);
}

Image Device::make_image(PixelType type, const Shape& shape) const {
  return detail::Access::make_image(*this, type, shape,
                                    detail::checked_image_bytes("make_image", type, shape));
}

Stream Device::make_stream(bool timed) const { return detail::Access::make_stream(*this, timed); }

Buffer::Buffer(Device device, std::unique_ptr<backend::Memory> memory, std::size_t bytes)
    : device_(std::move(device)), memory_(std::move(memory)), bytes_(bytes) {}
Buffer::Buffer(Buffer&&) noexcept = default;
Buffer::~Buffer() { release(); }

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this == &other) return *this;
  release();  // frees the old memory before its device is released
  memory_ = std::move(other.memory_);
  device_ = std::move(other.device_);
  bytes_ = other.bytes_;
  unowned_ = other.unowned_;
  read_only_ = other.read_only_;
  owner_ = std::move(other.owner_);
  return *this;
}

// The driver frees its own memory only when no work uses it any more. The owner of unowned memory
// may free it at once, so wait for all work first.
void Buffer::release() noexcept {
  if (owner_) detail::Access::state(device_).finish_all();
  memory_.reset();
  owner_.reset();
}

HostBuffer::HostBuffer(Device device, std::unique_ptr<backend::HostMemory> memory,
                       std::size_t bytes)
    : device_(std::move(device)),
      memory_(std::move(memory)),
      bytes_(bytes),
      data_(memory_->data()) {}
HostBuffer::HostBuffer(HostBuffer&&) noexcept = default;
HostBuffer::~HostBuffer() = default;

HostBuffer& HostBuffer::operator=(HostBuffer&& other) noexcept {
  if (this == &other) return *this;
  memory_ = std::move(other.memory_);  // frees the old memory before its device is released
  device_ = std::move(other.device_);
  bytes_ = other.bytes_;
  data_ = other.data_;
  return *this;
}

Image::Image(Buffer buffer, PixelType type, const Shape& shape)
    : buffer_(std::move(buffer)), type_(type), shape_(shape) {}

}  // namespace warpalign
