// Stage: extraction of apodized windows of the same size from frames.
#include <warpalign/backend/stages/filter/cut_windows.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/filter/window_weights.hpp"
#include "stages/uploaded.hpp"

namespace warpalign {

namespace {

constexpr const char* cut_windows_stage = "cut_windows";

std::int64_t count_of(const CutWindowsSpec& spec) {
  return spec.frames * static_cast<std::int64_t>(spec.origins.size());
}

CutWindowsSpec checked(const CutWindowsSpec& spec) {
  detail::check_shape(cut_windows_stage, "the frame", spec.frame);
  detail::check_shape(cut_windows_stage, "the window", spec.window);
  const Shape slice = backend::slice_of(spec);
  detail::check_shape(cut_windows_stage, "the padded window", slice);
  if (slice.width < spec.window.width || slice.height < spec.window.height) {
    detail::refuse(cut_windows_stage, "a window of " + to_string(spec.window) +
                                          " does not fit into " + to_string(slice));
  }
  if (spec.frames < 1) detail::refuse(cut_windows_stage, "there must be at least one frame");
  if (spec.origins.empty()) detail::refuse(cut_windows_stage, "there must be at least one window");
  for (const WindowOrigin& origin : spec.origins) {
    if (origin.x < 0 || origin.y < 0 || origin.x + spec.window.width > spec.frame.width ||
        origin.y + spec.window.height > spec.frame.height) {
      detail::refuse(cut_windows_stage,
                     "a window of " + to_string(spec.window) + " at (" + std::to_string(origin.x) +
                         ", " + std::to_string(origin.y) + ") does not lie within a frame of " +
                         to_string(spec.frame));
    }
  }
  return spec;
}

// The weights of the columns, followed by those of the rows.
std::vector<float> weights_of(const CutWindowsSpec& spec) {
  std::vector<float> weights = detail::window_weights(spec.weights, spec.window.width);
  const std::vector<float> of_rows = detail::window_weights(spec.weights, spec.window.height);
  weights.insert(weights.end(), of_rows.begin(), of_rows.end());
  return weights;
}

Shape slices(const CutWindowsSpec& spec, std::int64_t count) {
  const Shape slice = backend::slice_of(spec);
  return {slice.width, slice.height, count};
}

}  // namespace

CutWindowsPlan::CutWindowsPlan(const Device& device, const CutWindowsSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      origins_(detail::uploaded(device, spec.origins)),
      weights_(detail::uploaded(device, weights_of(spec))) {}

Shape CutWindowsPlan::windows_shape(const CutWindowsSpec& spec) noexcept {
  return slices(spec, count_of(spec));
}

void CutWindowsPlan::execute(Stream& stream, const Image& frames, Buffer& means,
                             Image& windows) const {
  execute(stream, frames, {0, count_of(spec_)}, means, windows);
}

void CutWindowsPlan::execute(Stream& stream, const Image& frames, const WindowRange& range,
                             Buffer& means, Image& windows) const {
  if (range.first < 0 || range.count < 1 || range.count > count_of(spec_) - range.first) {
    detail::refuse(cut_windows_stage, "windows " + std::to_string(range.first) + " to " +
                                          std::to_string(range.first + range.count) + " of " +
                                          std::to_string(count_of(spec_)) + " do not exist");
  }
  detail::check_stream(cut_windows_stage, device_, stream);
  detail::check_image(cut_windows_stage, "the frames", device_, frames, PixelType::f32,
                      {spec_.frame.width, spec_.frame.height, spec_.frames});
  detail::check_buffer(cut_windows_stage, "the means", device_, means,
                       static_cast<std::size_t>(range.count) * sizeof(float));
  detail::check_image(cut_windows_stage, "the windows", device_, windows, PixelType::f32,
                      slices(spec_, range.count));
  detail::check_distinct(cut_windows_stage, frames, windows);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(frames),
                   detail::Access::memory(origins_), detail::Access::memory(weights_), range,
                   detail::Access::memory(means), detail::Access::memory(windows));
}

}  // namespace warpalign
