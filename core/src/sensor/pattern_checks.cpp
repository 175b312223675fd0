// Checks of what functions for sensor patterns take.
#include "sensor/pattern_checks.hpp"

#include "device/check.hpp"
#include "device/host_rows.hpp"

#include <cstddef>

namespace warpalign::detail {

void check_frames(std::span<const HostImage> frames, const HostImage* mask) {
  for (const HostImage& frame : frames) {
    if (frame.type == PixelType::c32) refuse(pattern_stage, "takes real pixels, not c32");
    check_rows(pattern_stage, "a frame", frame);
    if (frame.shape() == frames.front().shape()) continue;
    refuse(pattern_stage, "the frames must have one shape; there are " +
                              to_string(frames.front().shape()) + " and " +
                              to_string(frame.shape()));
  }
  if (mask == nullptr || frames.empty()) return;
  check_rows(pattern_stage, "the mask", *mask);
  if (mask->type != PixelType::u8 || mask->shape() != frames.front().shape()) {
    refuse(pattern_stage, "the mask must be u8 and of the frames' shape");
  }
}

void check_like_pattern(const SensorPattern& pattern, const HostImage& frame) {
  if (frame.type == PixelType::c32) refuse(pattern_stage, "takes real pixels, not c32");
  check_rows(pattern_stage, "the frame", frame);
  if (frame.width != pattern.width || frame.height != pattern.height ||
      pattern.offsets.size() != static_cast<std::size_t>(frame.shape().plane())) {
    refuse(pattern_stage, "the frame is " + to_string(frame.shape()) + ", but the pattern is " +
                              to_string(Shape{pattern.width, pattern.height, 1}));
  }
}

}  // namespace warpalign::detail
