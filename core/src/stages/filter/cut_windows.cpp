// Stage: apodized windows of frames, all of one size.
#include <warpalign/backend/stages/filter/cut_windows.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <cmath>
#include <numbers>

namespace warpalign {

namespace {

constexpr const char* stage = "cut_windows";

std::int64_t count_of(const CutWindowsSpec& spec) {
  return spec.frames * static_cast<std::int64_t>(spec.origins.size());
}

CutWindowsSpec checked(const CutWindowsSpec& spec) {
  detail::check_shape(stage, "the frame", spec.frame);
  detail::check_shape(stage, "the window", spec.window);
  if (spec.frames < 1) detail::refuse(stage, "there must be a frame");
  if (spec.origins.empty()) detail::refuse(stage, "there must be a window");
  for (const WindowOrigin& origin : spec.origins) {
    if (origin.x < 0 || origin.y < 0 || origin.x + spec.window.width > spec.frame.width ||
        origin.y + spec.window.height > spec.frame.height) {
      detail::refuse(stage, "a window of " + to_string(spec.window) + " at (" +
                                std::to_string(origin.x) + ", " + std::to_string(origin.y) +
                                ") does not lie within a frame of " + to_string(spec.frame));
    }
  }
  return spec;
}

std::vector<float> weights_of(const Shape& window) {
  std::vector<float> weights;
  for (const std::int64_t n : {window.width, window.height}) {
    for (std::int64_t i = 0; i < n; ++i) {
      const double sine =
          std::sin(std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(n));
      weights.push_back(static_cast<float>(sine * sine));
    }
  }
  return weights;
}

template <class Value>
Buffer uploaded(const Device& device, const std::vector<Value>& values) {
  Device on = device;
  Buffer buffer = on.make_buffer(values.size() * sizeof(Value));
  Stream stream = on.make_stream();
  stream.upload(values.data(), values.size() * sizeof(Value), buffer);
  stream.finish();
  return buffer;
}

}  // namespace

CutWindowsPlan::CutWindowsPlan(const Device& device, const CutWindowsSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      origins_(uploaded(device, spec.origins)),
      weights_(uploaded(device, weights_of(spec.window))) {}

Shape CutWindowsPlan::windows_shape(const CutWindowsSpec& spec) noexcept {
  return {spec.window.width, spec.window.height, count_of(spec)};
}

void CutWindowsPlan::execute(Stream& stream, const Image& frames, Buffer& means,
                             Image& windows) const {
  detail::check_stream(stage, device_, stream);
  detail::check_image(stage, "the frames", device_, frames, PixelType::f32,
                      {spec_.frame.width, spec_.frame.height, spec_.frames});
  detail::check_buffer(stage, "the means", device_, means,
                       static_cast<std::size_t>(count_of(spec_)) * sizeof(float));
  detail::check_image(stage, "the windows", device_, windows, PixelType::f32, windows_shape(spec_));
  detail::check_distinct(stage, frames, windows);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(frames),
                   detail::Access::memory(origins_), detail::Access::memory(weights_),
                   detail::Access::memory(means), detail::Access::memory(windows));
}

}  // namespace warpalign
