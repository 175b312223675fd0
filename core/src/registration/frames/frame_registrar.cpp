// Registers frames with one reference: in batches if possible, otherwise one by one.
#include <warpalign/frame_registrar.hpp>

#include "device/check.hpp"
#include "device/host_rows.hpp"
#include "device/lanes.hpp"
#include "registration/checked_options.hpp"
#include "registration/frames/frame_batch.hpp"
#include "registration/frames/frame_search.hpp"
#include "registration/local/windows/window_batch.hpp"
#include "registration/pair/initial_pose.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
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

/// A copy of an image without padding between its rows.
class OwnedImage {
 public:
  void take(const HostImage& image) {
    pixels_.resize(static_cast<std::size_t>(image.shape().plane()) * size_of(image.type));
    detail::copy_rows(image, pixels_.data());
    view_ = {pixels_.data(), image.type, image.width, image.height, 0};
  }
  [[nodiscard]] const HostImage& view() const { return view_; }

 private:
  std::vector<std::byte> pixels_;
  HostImage view_;
};

/// Whether a frame has pixels and a valid row pitch.
bool is_readable(const HostImage& frame) {
  return frame.data != nullptr && detail::has_valid_rows(frame);
}

/// Whether the frame itself caused an error.
bool is_frame_error(const Error& error) {
  return error.kind() == ErrorKind::invalid_image || error.kind() == ErrorKind::invalid_argument;
}

/// Whether a registrar finds a frame where a batch has found it, and nowhere else.
bool confirms(const BatchResult& single, const RegistrationResult& batched) {
  constexpr double same_place = 0.5;  // pixels: what fits of either kind never differ by
  if (!single.result || !single.result->reliable) return false;
  const Point& a = single.result->similarity.translation;
  const Point& b = batched.similarity.translation;
  return std::hypot(a.x - b.x, a.y - b.y) < same_place;
}

}  // namespace

/// A stream and a batch. Several lanes process parts of the frames concurrently.
struct FrameRegistrar::Lane {
  Lane(const Device& device, bool timed) : stream(device.make_stream(timed)), clock(stream) {}

  Stream stream;
  detail::StageClock clock;
  std::unique_ptr<detail::FrameBatch> batch;
  bool has_reference = false;
};

struct FrameRegistrar::State {
  State(const Device& on, const RegistrationOptions& chosen, std::size_t at_once)
      : device(on),
        options(detail::with_default_grid(detail::checked(chosen))),
        frames_at_once(checked(at_once)),
        batched(detail::can_be_batched(chosen)) {
    for (auto& lane : lanes) lane = std::make_unique<Lane>(device, options.collect_timings);
    if (!batched) static_cast<void>(single_registrar());
  }

  /// The registrar, created on first use because its kernels take long to compile.
  Registrar& single_registrar();
  /// The registrar with the reference, the prior and the initial transform set.
  Registrar& single_with_reference();
  [[nodiscard]] bool can_be_batched_with_reference(const HostImage& frame) const;
  /// Makes the lane's batch for at most `at_once` frames of this type.
  void make_batch(Lane& lane, PixelType type, const Shape& frame, std::size_t at_once);
  /// Makes the lane's batch unless it has a suitable one, and sets its reference. Returns false if
  /// batches cannot use the reference.
  bool prepare(Lane& lane, const HostImage& frame, std::size_t at_once);
  /// Prepares lanes for `frames` frames of this type and returns their number.
  std::size_t prepare_lanes(const HostImage& frame, std::size_t frames);
  void set_reference(const HostImage& image);
  /// The number of frames that each of the first `count` lanes can process at once.
  [[nodiscard]] std::size_t frames_per_part(std::size_t count) const;
  [[nodiscard]] BatchResult align_singly(const HostImage& frame);
  void align_alike(std::span<const HostImage> frames, std::vector<BatchResult>& results);
  std::vector<BatchResult> align(std::span<const HostImage> frames,
                                 const std::optional<MotionPrior>& known);
  /// `mask`: may be null.
  RegistrationResult align(const HostImage& frame, const HostImage* mask,
                           const std::optional<MotionPrior>& known);
  std::vector<BatchResult> align_near(std::span<const HostImage> frames,
                                      std::span<const Homography> near);
  /// `mask`: may be null.
  RegistrationResult align_near(const HostImage& frame, const HostImage* mask,
                                const Homography& near);

  Device device;
  RegistrationOptions options;
  std::size_t frames_at_once;
  bool batched;
  std::optional<Registrar> registrar;
  std::optional<MotionPrior> prior;   // of the current call
  std::optional<Homography> initial;  // of the current frame
  std::array<std::unique_ptr<Lane>, detail::max_lanes> lanes;
  OwnedImage reference;  // unless only the registrar has it
  Shape reference_shape;
  bool has_reference = false;
  bool registrar_has_reference = false;
  bool batch_refuses_reference = false;
  std::vector<StageTiming> timings;
};

Registrar& FrameRegistrar::State::single_registrar() {
  if (!registrar) registrar.emplace(device, options);
  return *registrar;
}

Registrar& FrameRegistrar::State::single_with_reference() {
  Registrar& made = single_registrar();
  if (!registrar_has_reference) made.set_reference(reference.view());
  registrar_has_reference = true;
  made.set_prior(prior);
  if (initial) {
    made.set_initial(*initial);
  } else {
    made.clear_initial();
  }
  return made;
}

bool FrameRegistrar::State::can_be_batched_with_reference(const HostImage& frame) const {
  const HostImage& image = reference.view();
  return batched && !batch_refuses_reference && is_readable(frame) &&
         frame.shape() == image.shape() && detail::can_be_batched(frame.type, frame.shape()) &&
         detail::can_be_batched(image.type, image.shape());
}

// Halves the batch if the device has not enough memory, for example because other programs use it.
void FrameRegistrar::State::make_batch(Lane& lane, PixelType type, const Shape& frame,
                                       std::size_t at_once) {
  lane.has_reference = false;
  lane.batch.reset();  // frees its memory before the new one allocates
  for (;; at_once /= 2) {
    try {
      lane.batch = detail::make_frame_batch(device, options, type, frame, at_once);
      return;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::out_of_memory || at_once == 1) throw;
    }
  }
}

bool FrameRegistrar::State::prepare(Lane& lane, const HostImage& frame, std::size_t at_once) {
  const bool fits =
      lane.batch && lane.batch->type() == frame.type && lane.batch->frame() == frame.shape();
  if (!fits) make_batch(lane, frame.type, frame.shape(), at_once);
  if (!lane.has_reference) {
    const detail::StageClock::Call call(lane.clock);
    lane.has_reference = lane.batch->take_reference(lane.clock, reference.view());
    static_cast<void>(lane.clock.take());
  }
  return lane.has_reference;
}

std::size_t FrameRegistrar::State::prepare_lanes(const HostImage& frame, std::size_t frames) {
  if (!can_be_batched_with_reference(frame)) return 0;
  const detail::WindowGrid whole = detail::whole_frame(frame.shape());
  const std::int64_t batch = detail::batch_of(device, whole, frames_at_once);
  const std::size_t at_once = detail::divided(device, whole, frames_at_once, batch).frames_of_part;
  if (!prepare(*lanes[0], frame, at_once)) {
    batch_refuses_reference = true;
    return 0;
  }
  for (std::size_t more = 1; more < detail::lanes_of(device); ++more) {
    if (frames <= more * at_once) return more;
    try {
      static_cast<void>(prepare(*lanes[more], frame, at_once));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::out_of_memory) throw;
      return more;
    }
  }
  return detail::lanes_of(device);
}

// If batches cannot use the reference, passes it to the registrar now, so that an invalid reference
// is refused here and not by align().
void FrameRegistrar::State::set_reference(const HostImage& image) {
  has_reference = registrar_has_reference = batch_refuses_reference = false;
  for (const auto& lane : lanes) lane->has_reference = false;
  if (batched && image.data != nullptr && detail::can_be_batched(image.type, image.shape())) {
    detail::check_rows(stage, "the reference", image);
    reference.take(image);
    for (const auto& lane : lanes) {
      if (lane->batch && lane->batch->frame() != image.shape()) lane->batch.reset();
    }
    const PixelType type = lanes[0]->batch ? lanes[0]->batch->type() : image.type;
    const HostImage as_frame{image.data, type, image.width, image.height, 0};
    if (prepare_lanes(as_frame, 1) == 0) static_cast<void>(single_with_reference());
  } else {
    batch_refuses_reference = true;
    single_registrar().set_reference(image);
    registrar_has_reference = true;
  }
  reference_shape = image.shape();
  has_reference = true;
}

BatchResult FrameRegistrar::State::align_singly(const HostImage& frame) {
  Registrar& ready = single_with_reference();
  BatchResult outcome;
  try {
    outcome.result = ready.align(frame);
  } catch (const Error& error) {
    if (!is_frame_error(error)) throw;
    outcome.error = error;
  }
  return outcome;
}

std::size_t FrameRegistrar::State::frames_per_part(std::size_t count) const {
  std::size_t frames = lanes[0]->batch->frames();
  for (std::size_t i = 1; i < count; ++i) frames = std::min(frames, lanes[i]->batch->frames());
  return frames;
}

// `frames`: readable frames of one type and shape, or one frame that cannot be batched.
void FrameRegistrar::State::align_alike(std::span<const HostImage> frames,
                                        std::vector<BatchResult>& results) {
  const std::size_t ready = prepare_lanes(frames.front(), frames.size());
  std::vector<std::optional<detail::BatchedFrame>> found(frames.size());
  if (ready > 0) {
    const std::size_t at_once = frames_per_part(ready);
    const std::size_t parts = (frames.size() + at_once - 1) / at_once;
    detail::run_in_lanes(ready, parts, [&](std::size_t number, std::size_t part) {
      Lane& lane = *lanes[number];
      const detail::StageClock::Call call(lane.clock);
      const std::size_t first = part * at_once;
      const auto some = frames.subspan(first, std::min(frames.size() - first, at_once));
      const auto of_part = lane.batch->run(lane.clock, some);
      std::copy(of_part.begin(), of_part.end(), found.begin() + static_cast<std::ptrdiff_t>(first));
    });
    for (const auto& lane : lanes) detail::add_timings(lane->clock.take(), timings);
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (found[i] && !found[i]->may_be_ambiguous) {
      results.emplace_back().result = std::move(found[i]->result);
      continue;
    }
    results.push_back(align_singly(frames[i]));
    if (found[i] && confirms(results.back(), found[i]->result)) {
      results.back().result = std::move(found[i]->result);
    }
  }
}

// The prior is for the frames that a Registrar aligns: what a batch finds is not ambiguous.
std::vector<BatchResult> FrameRegistrar::State::align(std::span<const HostImage> frames,
                                                      const std::optional<MotionPrior>& known) {
  if (!has_reference) detail::refuse(stage, "set_reference must be called before align");
  prior = known;
  initial.reset();
  timings.clear();
  for (const auto& lane : lanes) lane->clock.clear();
  std::vector<BatchResult> results;
  results.reserve(frames.size());
  while (!frames.empty()) {
    const HostImage& first = frames.front();
    const auto other = std::find_if(frames.begin(), frames.end(), [&](const HostImage& frame) {
      return frame.type != first.type || frame.shape() != first.shape() || !is_readable(frame);
    });
    const auto alike = std::max<std::size_t>(static_cast<std::size_t>(other - frames.begin()), 1);
    align_alike(frames.first(alike), results);
    frames = frames.subspan(alike);
  }
  return results;
}

RegistrationResult FrameRegistrar::State::align(const HostImage& frame, const HostImage* mask,
                                                const std::optional<MotionPrior>& known) {
  if (mask == nullptr) {
    std::vector<BatchResult> results = align(std::span(&frame, 1), known);
    if (results.front().error) throw Error(*results.front().error);
    return std::move(*results.front().result);
  }
  if (!has_reference) detail::refuse(stage, "set_reference must be called before align");
  prior = known;
  initial.reset();
  return single_with_reference().align(frame, *mask);
}

std::vector<BatchResult> FrameRegistrar::State::align_near(std::span<const HostImage> frames,
                                                           std::span<const Homography> near) {
  if (!has_reference) detail::refuse(stage, "set_reference must be called before align");
  if (frames.size() != near.size()) {
    detail::refuse(stage, "there are " + std::to_string(frames.size()) + " frames, but " +
                              std::to_string(near.size()) + " initial transforms");
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!is_readable(frames[i])) continue;  // its result says so
    detail::check_initial("frame " + std::to_string(i), near[i], options, reference_shape,
                          frames[i].shape());
  }
  prior.reset();
  timings.clear();
  std::vector<BatchResult> results;
  results.reserve(frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    initial = near[i];
    results.push_back(align_singly(frames[i]));
  }
  return results;
}

RegistrationResult FrameRegistrar::State::align_near(const HostImage& frame, const HostImage* mask,
                                                     const Homography& near) {
  if (!has_reference) detail::refuse(stage, "set_reference must be called before align");
  prior.reset();
  initial = near;
  Registrar& ready = single_with_reference();
  return mask == nullptr ? ready.align(frame) : ready.align(frame, *mask);
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
  s.has_reference = s.registrar_has_reference = false;
  s.batch_refuses_reference = true;
  s.single_registrar().set_reference(reference, mask);
  s.reference_shape = reference.shape();
  s.has_reference = s.registrar_has_reference = true;
}

std::vector<BatchResult> FrameRegistrar::align(std::span<const HostImage> frames) {
  return state_->align(frames, std::nullopt);
}

const std::vector<StageTiming>& FrameRegistrar::timings() const noexcept { return state_->timings; }

RegistrationResult FrameRegistrar::align(const HostImage& frame) {
  return state_->align(frame, nullptr, std::nullopt);
}

RegistrationResult FrameRegistrar::align(const HostImage& frame, const HostImage& mask) {
  return state_->align(frame, &mask, std::nullopt);
}

RegistrationResult FrameRegistrar::align(const HostImage& frame, const MotionPrior& prior) {
  return state_->align(frame, nullptr, prior);
}

RegistrationResult FrameRegistrar::align(const HostImage& frame, const HostImage& mask,
                                         const MotionPrior& prior) {
  return state_->align(frame, &mask, prior);
}

std::vector<BatchResult> FrameRegistrar::align(std::span<const HostImage> frames,
                                               std::span<const Homography> initial) {
  return state_->align_near(frames, initial);
}

RegistrationResult FrameRegistrar::align(const HostImage& frame, const Homography& initial) {
  return state_->align_near(frame, nullptr, initial);
}

RegistrationResult FrameRegistrar::align(const HostImage& frame, const HostImage& mask,
                                         const Homography& initial) {
  return state_->align_near(frame, &mask, initial);
}

}  // namespace warpalign
