// Streams and marks.
#include "device/access.hpp"
#include "device/check.hpp"
#include "device/host_rows.hpp"

#include <warpalign/device.hpp>

namespace warpalign {

Mark::Mark(Device device, std::unique_ptr<backend::Mark> mark)
    : device_(std::move(device)), mark_(std::move(mark)) {}
Mark::Mark(Mark&&) noexcept = default;
Mark::~Mark() = default;

Mark& Mark::operator=(Mark&& other) noexcept {
  mark_ = std::move(other.mark_);
  device_ = std::move(other.device_);
  return *this;
}

Stream::Stream(Device device, std::unique_ptr<backend::Queue> queue, bool timed)
    : device_(std::move(device)), queue_(std::move(queue)), timed_(timed) {
  detail::DeviceState& state = detail::Access::state(device_);
  const std::lock_guard lock(state.queues_mutex);
  state.queues.insert(queue_.get());
}
Stream::Stream(Stream&&) noexcept = default;
Stream::~Stream() { release(); }

Stream& Stream::operator=(Stream&& other) noexcept {
  if (this == &other) return *this;
  release();
  queue_ = std::move(other.queue_);
  device_ = std::move(other.device_);
  timed_ = other.timed_;
  end_ = std::move(other.end_);
  owner_ = std::move(other.owner_);
  return *this;
}

// Destroys the queue under the lock, so that finish_all() finds either the queue or the event at
// the end of its work.
void Stream::release() noexcept {
  if (!queue_) return;
  if (detail::process_is_forked) {  // a thread that does not exist here may hold the lock
    static_cast<void>(queue_.release());
    static_cast<void>(end_.release());
    return;
  }
  {
    detail::DeviceState& state = detail::Access::state(device_);
    const std::lock_guard lock(state.queues_mutex);
    state.queues.erase(queue_.get());
    if (end_) state.add_pending_end(*queue_, std::move(end_));
    queue_.reset();
  }
  owner_.reset();
}

void Stream::upload(const void* source, std::size_t bytes, Buffer& target) {
  if (source == nullptr || bytes == 0) {
    detail::refuse("upload", "the source is null or has zero bytes");
  }
  detail::check_buffer("upload", "the target", device_, target, bytes);
  detail::Access::queue(*this).upload({source, 1, bytes, bytes}, detail::Access::memory(target));
}

void Stream::upload(const HostImage& source, Image& target) {
  if (source.data == nullptr) detail::refuse("upload", "the image has no pixels");
  detail::check_image("upload", "the target", device_, target, source.type, source.shape());
  const auto rows = static_cast<std::size_t>(source.height);
  const std::size_t row_bytes = static_cast<std::size_t>(source.width) * size_of(source.type);
  detail::check_rows("upload", "the image", source);
  if (detail::is_dense(source)) {
    detail::Access::queue(*this).upload({source.data, 1, rows * row_bytes, rows * row_bytes},
                                        detail::Access::memory(target));
  } else {
    detail::Access::queue(*this).upload({source.data, rows, row_bytes, detail::pitch_of(source)},
                                        detail::Access::memory(target));
  }
}

void Stream::download(const Buffer& source, void* target, std::size_t bytes) {
  if (target == nullptr || bytes == 0) {
    detail::refuse("download", "the target is null or has zero bytes");
  }
  detail::check_buffer("download", "the source", device_, source, bytes);
  detail::Access::queue(*this).download(detail::Access::memory(source), target, bytes);
}

void Stream::download(const Image& source, void* target, std::size_t bytes) {
  if (bytes != source.size_bytes()) {
    detail::refuse("download", "the image has " + std::to_string(source.size_bytes()) +
                                   " bytes, but the target has " + std::to_string(bytes));
  }
  download(source.buffer(), target, bytes);
}

void Stream::copy(const Buffer& source, Buffer& target) {
  detail::check_buffer("copy", "the source", device_, source, 1);
  detail::check_buffer("copy", "the target", device_, target, 1);
  if (source.size_bytes() != target.size_bytes() || &source == &target) {
    detail::refuse("copy", "source and target must be two buffers of the same size");
  }
  detail::Access::queue(*this).copy(detail::Access::memory(source), detail::Access::memory(target),
                                    source.size_bytes());
}

void Stream::finish() { detail::Access::queue(*this).finish(); }

Mark Stream::mark() {
  if (!timed_) detail::refuse("mark", "the stream is not timed; create it with make_stream(true)");
  return Mark(device_, detail::Access::queue(*this).mark());
}

double Stream::milliseconds_between(const Mark& from, const Mark& to) {
  detail::check_same_device("milliseconds_between", "the first mark", device_, from.device_);
  detail::check_same_device("milliseconds_between", "the second mark", device_, to.device_);
  return detail::Access::queue(*this).milliseconds_between(*from.mark_, *to.mark_);
}

}  // namespace warpalign
