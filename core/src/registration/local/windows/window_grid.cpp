// The grid of windows of a frame.
#include "registration/local/windows/window_grid.hpp"

#include "device/check.hpp"

#include <cmath>
#include <string>

namespace warpalign::detail {

namespace {

constexpr const char* stage = "local motion";
constexpr std::int64_t min_side = 16;
constexpr std::int64_t max_side = 4096;
constexpr std::size_t max_windows = 65536;

std::int64_t side_of(const char* name, std::int64_t side, std::int64_t frame) {
  const std::int64_t chosen = side == 0 ? frame : side;
  if (chosen < min_side || chosen > max_side) {
    refuse(stage, std::string("the window's ") + name + " is " + std::to_string(chosen) +
                      " pixels; it must be 16 to 4096");
  }
  if (chosen > frame) {
    refuse(stage, std::string("the window's ") + name + " of " + std::to_string(chosen) +
                      " pixels exceeds the frame's " + std::to_string(frame));
  }
  return chosen;
}

// The first pixels of windows that cover an axis from end to end.
std::vector<std::int32_t> starts(const char* name, std::int64_t frame, std::int64_t window,
                                 std::int64_t stride) {
  if (stride < 0) refuse(stage, std::string("the ") + name + " must be 0 or more");
  const double step = static_cast<double>(stride == 0 ? (window + 1) / 2 : stride);
  const auto rest = static_cast<double>(frame - window);
  const auto steps = static_cast<std::int64_t>(std::ceil(rest / step));
  std::vector<std::int32_t> all;
  for (std::int64_t i = 0; i <= steps; ++i) {
    const double part = steps == 0 ? 0 : static_cast<double>(i) / static_cast<double>(steps);
    all.push_back(static_cast<std::int32_t>(std::lround(part * rest)));
  }
  return all;
}

}  // namespace

WindowGrid window_grid(const Shape& frame, const WindowOptions& options) {
  WindowGrid grid;
  grid.window = {side_of("width", options.width, frame.width),
                 side_of("height", options.height, frame.height), 1};
  const auto across = starts("stride_x", frame.width, grid.window.width, options.stride_x);
  const auto down = starts("stride_y", frame.height, grid.window.height, options.stride_y);
  grid.across = static_cast<std::int64_t>(across.size());
  grid.down = static_cast<std::int64_t>(down.size());
  if (across.size() * down.size() > max_windows) {
    refuse(stage, std::to_string(across.size()) + " by " + std::to_string(down.size()) +
                      " windows are more than 65536; increase the strides");
  }
  for (const std::int32_t y : down) {
    for (const std::int32_t x : across) grid.origins.push_back({x, y});
  }
  return grid;
}

}  // namespace warpalign::detail
