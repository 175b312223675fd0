// The shifts of windows: arguments are checked here, and frames divided into batches.
#include "device/check.hpp"
#include "registration/local/shift_search.hpp"
#include "registration/local/window_batch.hpp"
#include "registration/plan_cache.hpp"

#include <warpalign/local_motion.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>

namespace warpalign {

namespace {

constexpr const char* stage = "local motion";
constexpr std::int64_t min_side = 16;
constexpr std::int64_t max_batch = 4096;
constexpr std::size_t most_by_itself = 256;

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
  return asked > 0 ? asked : detail::batch_of(device, grid, most_by_itself);
}

double max_shift_of(const WindowOptions& options, const Shape& window) {
  if (!std::isfinite(options.max_shift) || options.max_shift < 0) {
    detail::refuse(stage, "max_shift must be 0 or more");
  }
  const double half = static_cast<double>(std::max(window.width, window.height)) / 2;
  return options.max_shift == 0 ? half : options.max_shift;
}

}  // namespace

struct WindowRegistrar::State {
  State(const Device& on, PixelType frames, const Shape& shape, const WindowOptions& options)
      : device(on),
        type(frames),
        frame(shape),
        grid(detail::window_grid(shape, options)),
        max_shift(max_shift_of(options, grid.window)),
        batch(batch_of(on, grid, options.batch)),
        stream(device.make_stream()) {}

  /// For this many frames or more, up to the size of a batch.
  detail::ShiftSearch& search_for(std::size_t frames) {
    const auto size = std::min(batch, static_cast<std::int64_t>(std::bit_ceil(frames)));
    return searches.get(
        size, [&] { return detail::ShiftSearch(device, type, frame, size, grid, max_shift); });
  }
  void check(const char* what, const HostImage& image, bool may_be_f32) const;

  Device device;
  PixelType type;
  Shape frame;
  detail::WindowGrid grid;
  double max_shift;
  std::int64_t batch;
  Stream stream;
  detail::PlanCache<std::int64_t, detail::ShiftSearch> searches{2};
  std::optional<detail::WindowTransform> transform;  // of the reference
  std::optional<detail::WindowReference> reference;
  bool has_reference = false;
};

void WindowRegistrar::State::check(const char* what, const HostImage& image,
                                   bool may_be_f32) const {
  if (image.data == nullptr) detail::refuse(stage, std::string(what) + " has no pixels");
  if (image.shape() != frame) {
    detail::refuse(stage, std::string(what) + " is " + to_string(image.shape()) +
                              ", but frames are " + to_string(frame));
  }
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

void WindowRegistrar::set_reference(const HostImage& image) {
  State& s = *state_;
  s.check("the reference", image, true);
  if (!s.reference) s.reference.emplace(s.device, s.frame, s.grid);
  if (!s.transform) {
    s.transform.emplace(s.device, s.frame, 1, s.grid, FftDirections::forward);
  }
  s.has_reference = false;
  detail::WindowReference& reference = *s.reference;
  detail::PixelUpload(s.device, s.frame).run(s.stream, image, reference.pixels);
  s.transform->forward(s.stream, reference.pixels, reference.means, reference.windows,
                       reference.spectra);
  s.stream.finish();
  s.has_reference = true;
}

std::vector<WindowShift> WindowRegistrar::align(std::span<const HostImage> frames) {
  State& s = *state_;
  if (!s.has_reference) detail::refuse(stage, "set_reference must be called before align");
  for (const HostImage& frame : frames) s.check("a frame", frame, false);
  std::vector<WindowShift> result;
  result.reserve(frames.size() * windows());
  while (!frames.empty()) {
    detail::ShiftSearch& search = s.search_for(frames.size());
    const auto some = frames.first(std::min(frames.size(), search.frames()));
    search.run(s.stream, *s.reference, some, result);
    frames = frames.subspan(some.size());
  }
  return result;
}

}  // namespace warpalign
