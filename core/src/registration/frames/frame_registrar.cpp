// Frames against one reference: those that can be are registered together, the others one by one.
#include <warpalign/frame_registrar.hpp>

#include "device/check.hpp"
#include "registration/checked_options.hpp"
#include "registration/frames/frame_batch.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

namespace warpalign {

namespace {

constexpr const char* stage = "register";
constexpr std::size_t max_frames_at_once = 4096;

std::size_t checked(std::size_t frames_at_once) {
  if (frames_at_once < 1 || frames_at_once > max_frames_at_once) {
    detail::refuse(stage, "frames_at_once must be 1 to 4096");
  }
  return frames_at_once;
}

/// A copy of an image, without what may stand between its rows.
class OwnedImage {
 public:
  void take(const HostImage& image) {
    const std::size_t row = static_cast<std::size_t>(image.width) * size_of(image.type);
    const std::size_t pitch =
        image.row_bytes == 0 ? row : static_cast<std::size_t>(image.row_bytes);
    pixels_.resize(row * static_cast<std::size_t>(image.height));
    const auto* from = static_cast<const std::byte*>(image.data);
    for (std::size_t y = 0; y < static_cast<std::size_t>(image.height); ++y) {
      std::memcpy(pixels_.data() + y * row, from + y * pitch, row);
    }
    view_ = {pixels_.data(), image.type, image.width, image.height, 0};
  }
  [[nodiscard]] const HostImage& view() const { return view_; }

 private:
  std::vector<std::byte> pixels_;
  HostImage view_;
};

/// Whether an error is about a frame's own pixels.
bool is_of_frame(const Error& error) {
  return error.kind() == ErrorKind::invalid_image || error.kind() == ErrorKind::invalid_argument;
}

}  // namespace

struct FrameRegistrar::State {
  State(const Device& on, const RegistrationOptions& chosen, std::size_t at_once)
      : device(on),
        options(detail::checked(chosen)),
        frames_at_once(checked(at_once)),
        batched(detail::can_be_batched(chosen)),
        stream(device.make_stream()) {
    if (!batched) static_cast<void>(single());
  }

  /// Made when the first frame needs it: its kernels take long to compile.
  Registrar& single();
  /// The same with the reference.
  Registrar& ready_single();
  void make_batch(PixelType type, const Shape& frame);
  /// The batch for frames of this type, with the reference; null where they cannot be batched.
  detail::FrameBatch* batch_for(const HostImage& frame);
  void set_reference(const HostImage& image);
  [[nodiscard]] BatchResult align_singly(const HostImage& frame);
  void align_some(std::span<const HostImage> frames, std::vector<BatchResult>& results);

  Device device;
  RegistrationOptions options;
  std::size_t frames_at_once;
  bool batched;
  Stream stream;
  std::optional<Registrar> registrar;
  std::unique_ptr<detail::FrameBatch> batch;
  OwnedImage reference;  // where it is not with the registrar alone
  bool has_reference = false;
  bool registrar_has_it = false;
  bool batch_has_it = false;
  bool batch_refuses_it = false;
};

Registrar& FrameRegistrar::State::single() {
  if (!registrar) registrar.emplace(device, options);
  return *registrar;
}

Registrar& FrameRegistrar::State::ready_single() {
  Registrar& made = single();
  if (!registrar_has_it) made.set_reference(reference.view());
  registrar_has_it = true;
  return made;
}

// Where others use the device's memory, too, a smaller batch may do.
void FrameRegistrar::State::make_batch(PixelType type, const Shape& frame) {
  for (std::size_t at_once = frames_at_once;; at_once /= 2) {
    try {
      batch = detail::make_frame_batch(device, options, type, frame, at_once);
      return;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::out_of_memory || at_once == 1) throw;
    }
  }
}

detail::FrameBatch* FrameRegistrar::State::batch_for(const HostImage& frame) {
  if (!batched || batch_refuses_it || frame.data == nullptr) return nullptr;
  const HostImage& image = reference.view();
  if (frame.shape() != image.shape() || !detail::can_be_batched(frame.type, frame.shape()) ||
      !detail::can_be_batched(image.type, image.shape())) {
    return nullptr;
  }
  if (!batch || batch->type() != frame.type || batch->frame() != frame.shape()) {
    batch_has_it = false;
    batch.reset();  // frees its memory before the new one allocates
    make_batch(frame.type, frame.shape());
  }
  if (!batch_has_it) {
    batch_has_it = batch->take_reference(stream, image);
    batch_refuses_it = !batch_has_it;
  }
  return batch_has_it ? batch.get() : nullptr;
}

// What cannot be a reference is refused at once, by the registrar.
void FrameRegistrar::State::set_reference(const HostImage& image) {
  has_reference = registrar_has_it = batch_has_it = batch_refuses_it = false;
  if (batched && image.data != nullptr && detail::can_be_batched(image.type, image.shape())) {
    reference.take(image);
    if (batch && batch->frame() != image.shape()) batch.reset();
    const HostImage as_frame =
        batch ? HostImage{image.data, batch->type(), image.width, image.height, 0} : image;
    if (batch_for(as_frame) == nullptr) static_cast<void>(ready_single());
  } else {
    batch_refuses_it = true;
    single().set_reference(image);
    registrar_has_it = true;
  }
  has_reference = true;
}

BatchResult FrameRegistrar::State::align_singly(const HostImage& frame) {
  Registrar& ready = ready_single();
  BatchResult outcome;
  try {
    outcome.result = ready.align(frame);
  } catch (const Error& error) {
    if (!is_of_frame(error)) throw;
    outcome.error = error;
  }
  return outcome;
}

// Frames of one type, or one that cannot be batched.
void FrameRegistrar::State::align_some(std::span<const HostImage> frames,
                                       std::vector<BatchResult>& results) {
  detail::FrameBatch* together = batch_for(frames.front());
  for (std::size_t first = 0; first < frames.size();) {
    const std::size_t count =
        together != nullptr ? std::min(frames.size() - first, together->frames()) : 1;
    std::span<const std::optional<RegistrationResult>> found;
    if (together != nullptr) found = together->run(stream, frames.subspan(first, count));
    for (std::size_t i = 0; i < count; ++i) {
      if (!found.empty() && found[i]) {
        results.emplace_back().result = *found[i];
      } else {
        results.push_back(align_singly(frames[first + i]));
      }
    }
    first += count;
  }
}

FrameRegistrar::FrameRegistrar(const Device& device, const RegistrationOptions& options,
                               std::size_t frames_at_once)
    : state_(std::make_unique<State>(device, options, frames_at_once)) {}
FrameRegistrar::FrameRegistrar(FrameRegistrar&&) noexcept = default;
FrameRegistrar& FrameRegistrar::operator=(FrameRegistrar&&) noexcept = default;
FrameRegistrar::~FrameRegistrar() = default;

std::size_t FrameRegistrar::frames_at_once() const noexcept {
  return state_->batched ? state_->frames_at_once : 1;
}

void FrameRegistrar::set_reference(const HostImage& reference) { state_->set_reference(reference); }

void FrameRegistrar::set_reference(const HostImage& reference, const HostImage& mask) {
  State& s = *state_;
  s.has_reference = s.registrar_has_it = false;
  s.batch_refuses_it = true;
  s.single().set_reference(reference, mask);
  s.has_reference = s.registrar_has_it = true;
}

std::vector<BatchResult> FrameRegistrar::align(std::span<const HostImage> frames) {
  State& s = *state_;
  if (!s.has_reference) detail::refuse(stage, "set_reference must be called before align");
  std::vector<BatchResult> results;
  results.reserve(frames.size());
  while (!frames.empty()) {
    const HostImage& first = frames.front();
    const auto other = std::find_if(frames.begin(), frames.end(), [&](const HostImage& frame) {
      return frame.type != first.type || frame.shape() != first.shape() || frame.data == nullptr;
    });
    const auto alike = std::max<std::size_t>(static_cast<std::size_t>(other - frames.begin()), 1);
    s.align_some(frames.first(alike), results);
    frames = frames.subspan(alike);
  }
  return results;
}

RegistrationResult FrameRegistrar::align(const HostImage& frame) {
  std::vector<BatchResult> results = align(std::span(&frame, 1));
  if (results.front().error) throw Error(*results.front().error);
  return std::move(*results.front().result);
}

RegistrationResult FrameRegistrar::align(const HostImage& frame, const HostImage& mask) {
  State& s = *state_;
  if (!s.has_reference) detail::refuse(stage, "set_reference must be called before align");
  return s.ready_single().align(frame, mask);
}

}  // namespace warpalign
