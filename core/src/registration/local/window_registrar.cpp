// Measures the shifts of windows: checks the arguments and divides the frames into batches.
#include "device/check.hpp"
#include "device/host_rows.hpp"
#include "device/lanes.hpp"
#include "registration/local/field/field_rounds.hpp"
#include "registration/local/windows/shift_search.hpp"
#include "registration/local/windows/window_batch.hpp"
#include "registration/resources/plan_cache.hpp"

#include <warpalign/error.hpp>
#include <warpalign/local_motion.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

namespace warpalign {

namespace {

constexpr const char* stage = "local motion";
constexpr std::int64_t min_side = 16;
constexpr std::int64_t max_batch = 4096;
constexpr std::size_t max_automatic_batch = 256;

void check_frame(const char* what, PixelType type, const Shape& shape) {
  detail::check_grey(stage, what, type);
  if (shape.depth != 1 || shape.width < min_side || shape.height < min_side ||
      shape.width > detail::max_side || shape.height > detail::max_side) {
    detail::refuse(stage, std::string(what) + " is " + to_string(shape) +
                              "; each side must be 16 to 16384 pixels");
  }
}

std::int64_t batch_of(const Device& device, const detail::WindowGrid& grid, std::int64_t asked) {
  if (asked < 0 || asked > max_batch) detail::refuse(stage, "batch must be 0 to 4096");
  return asked > 0 ? asked : detail::batch_of(device, grid, max_automatic_batch);
}

double max_shift_of(const WindowOptions& options, const Shape& window) {
  if (!std::isfinite(options.max_shift) || options.max_shift < 0) {
    detail::refuse(stage, "max_shift must be 0 or more");
  }
  const double half = static_cast<double>(std::max(window.width, window.height)) / 2;
  return options.max_shift == 0 ? half : options.max_shift;
}

}  // namespace

/// A stream and plans. Several lanes process batches of frames concurrently.
struct WindowRegistrar::Lane {
  Lane(const Device& device, bool timed) : stream(device.make_stream(timed)), clock(stream) {}

  Stream stream;
  detail::StageClock clock;
  detail::PlanCache<std::int64_t, detail::ShiftSearch> searches{2};
  detail::ShiftSearch* search = nullptr;      // of the current call
  std::optional<detail::FieldRounds> rounds;  // if State::correct_varying_motion
};

struct WindowRegistrar::State {
  State(const Device& on, PixelType frames, const Shape& shape, const WindowOptions& options)
      : device(on),
        type(frames),
        frame(shape),
        grid(detail::window_grid(shape, options)),
        max_shift(max_shift_of(options, grid.window)),
        batch(batch_of(on, grid, options.batch)),
        collect_timings(options.collect_timings),
        correct_varying_motion(options.correct_varying_motion && grid.origins.size() > 1) {
    lane(0);
  }

  Lane& lane(std::size_t number) {
    while (lanes.size() <= number) {
      lanes.push_back(std::make_unique<Lane>(device, collect_timings));
    }
    return *lanes[number];
  }
  /// Makes plans for at least this many frames, up to the size of a batch.
  void prepare(Lane& lane, std::size_t frames) {
    const auto size = std::min(batch, static_cast<std::int64_t>(std::bit_ceil(frames)));
    lane.search = &lane.searches.get(
        size, [&] { return detail::ShiftSearch(device, type, frame, size, grid, max_shift); });
    if (correct_varying_motion && !lane.rounds) lane.rounds.emplace(device, type, frame, grid);
  }
  /// Prepares the wanted lanes, or as many as fit into memory, and returns their number.
  std::size_t prepare_lanes(std::size_t wanted, std::size_t frames);
  void check(const char* what, const HostImage& image, bool may_be_f32) const;
  void take_timings();

  Device device;
  PixelType type;
  Shape frame;
  detail::WindowGrid grid;
  double max_shift;
  std::int64_t batch;
  bool collect_timings;
  bool correct_varying_motion;  // false for a single window, whose field is constant
  std::vector<std::unique_ptr<Lane>> lanes;
  std::optional<detail::WindowTransform> transform;  // of the reference
  std::optional<detail::WindowReference> reference;
  bool has_reference = false;
  std::vector<StageTiming> timings;
};

std::size_t WindowRegistrar::State::prepare_lanes(std::size_t wanted, std::size_t frames) {
  prepare(lane(0), frames);
  for (std::size_t more = 1; more < wanted; ++more) {
    try {
      prepare(lane(more), frames);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::out_of_memory) throw;
      return more;
    }
  }
  return wanted;
}

void WindowRegistrar::State::take_timings() {
  for (const auto& lane : lanes) detail::add_timings(lane->clock.take(), timings);
}

void WindowRegistrar::State::check(const char* what, const HostImage& image,
                                   bool may_be_f32) const {
  if (image.data == nullptr) detail::refuse(stage, std::string(what) + " has no pixels");
  if (image.shape() != frame) {
    detail::refuse(stage, std::string(what) + " is " + to_string(image.shape()) +
                              ", but frames are " + to_string(frame));
  }
  detail::check_rows(stage, what, image);
  if (image.type != type && !(may_be_f32 && image.type == PixelType::f32)) {
    detail::refuse(stage, std::string(what) + " is " + name_of(image.type) + ", but frames are " +
                              name_of(type));
  }
}

WindowRegistrar::WindowRegistrar(const Device& device, PixelType type, const Shape& frame,
                                 const WindowOptions& options) {
  check_frame("a frame", type, frame);
  state_ = std::make_unique<State>(device, type, frame, options);
}
WindowRegistrar::WindowRegistrar(WindowRegistrar&&) noexcept = default;
WindowRegistrar& WindowRegistrar::operator=(WindowRegistrar&&) noexcept = default;
WindowRegistrar::~WindowRegistrar() = default;

std::int64_t WindowRegistrar::windows_x() const noexcept { return state_->grid.across; }
std::int64_t WindowRegistrar::windows_y() const noexcept { return state_->grid.down; }
std::size_t WindowRegistrar::windows() const noexcept { return state_->grid.origins.size(); }
const Shape& WindowRegistrar::window() const noexcept { return state_->grid.window; }

void WindowRegistrar::set_reference(const HostImage& image) {
  State& s = *state_;
  s.has_reference = false;
  s.check("the reference", image, true);
  if (!s.reference) s.reference.emplace(s.device, s.frame, s.grid);
  if (!s.transform) {
    s.transform.emplace(s.device, s.frame, 1, s.grid, FftDirections::forward);
  }
  detail::WindowReference& reference = *s.reference;
  Lane& lane = s.lane(0);
  const detail::StageClock::Call call(lane.clock);
  detail::PixelUpload(s.device, s.frame).run(lane.stream, image, reference.pixels);
  s.transform->forward(lane.clock, reference.pixels, reference.means, reference.windows,
                       reference.spectra);
  lane.stream.finish();
  static_cast<void>(lane.clock.take());
  s.has_reference = true;
}

std::vector<WindowShift> WindowRegistrar::align(std::span<const HostImage> frames) {
  State& s = *state_;
  if (!s.has_reference) detail::refuse(stage, "set_reference must be called before align");
  s.timings.clear();
  for (const auto& lane : s.lanes) lane->clock.clear();
  for (const HostImage& frame : frames) s.check("a frame", frame, false);
  std::vector<WindowShift> result(frames.size() * windows());
  if (frames.empty()) return result;
  const detail::Division divided = detail::divided(s.device, s.grid, frames.size(), s.batch);
  const std::size_t lanes = s.prepare_lanes(divided.lanes, divided.frames_of_part);
  detail::run_in_lanes(lanes, divided.parts, [&](std::size_t number, std::size_t part) {
    Lane& lane = *s.lanes[number];
    const detail::StageClock::Call call(lane.clock);
    const std::size_t first = part * divided.frames_of_part;
    const auto some =
        frames.subspan(first, std::min(frames.size() - first, divided.frames_of_part));
    const auto shifts = std::span(result).subspan(first * windows(), some.size() * windows());
    lane.search->run(lane.clock, *s.reference, some, shifts);
    if (!lane.rounds) return;
    lane.rounds->run(lane.clock, *s.reference, some, lane.search->means(), lane.search->fits(),
                     shifts);
  });
  s.take_timings();
  return result;
}

const std::vector<StageTiming>& WindowRegistrar::timings() const noexcept {
  return state_->timings;
}

}  // namespace warpalign
