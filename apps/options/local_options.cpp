// The options of --motion local, and what is refused before a device opens.
#include "options/local_options.hpp"

#include "io/usage_error.hpp"
#include "options/command_line.hpp"

#include <fmt/format.h>

#include <cmath>

namespace warpalign::program {
namespace {

constexpr int min_window = 16;
constexpr int max_window = 4096;

/// The search is another one: windows are translated, and nothing else.
void refuse_search_options(const RegistrationChoices& motion) {
  const char* only = "windows are only translated";
  if (motion.fast) refuse_with_local("--fast", only);
  if (motion.no_refine) refuse_with_local("--no-refine", "every window is refined");
  if (motion.scale_range) refuse_with_local("--scale-range", only);
  if (motion.angle_range) refuse_with_local("--angle-range", only);
  if (motion.candidates) refuse_with_local("--candidates", "there is one field");
  for (const RegistrationOptionInfo* option : given_by_name(motion)) {
    refuse_with_local(flag_of(*option), "the search does not use it");
  }
}

double max_shift_of(double pixels, std::int64_t window) {
  const double most = static_cast<double>(window) / 2;
  if (pixels > 0 && pixels <= most) return pixels;
  throw UsageError(
      fmt::format("--max-shift {}: must be above 0 and at most {}, half of a window, which is the "
                  "most that can "
                  "be found",
                  pixels, most));
}

}  // namespace

void add_local_options(CLI::App& command, LocalChoices& choices) {
  const WindowOptions windows;
  begin_group(command, "Local motion");
  add_option(command, "--window N", &choices.window,
             fmt::format("Side of a window in pixels [{}]", windows.width));
  add_option(command, "--stride N", &choices.stride,
             "Pixels from one window to the next [half a window]");
  add_option(command, "--smoothness X", &choices.smoothness,
             fmt::format("Weight of the field's curvature against the windows' shifts [{}]",
                         FieldOptions().smoothness));
}

void refuse_without_local(const std::string& option) {
  throw UsageError(fmt::format("{}: goes with --motion local only", option));
}

void refuse_with_local(const std::string& option, const std::string& why) {
  throw UsageError(
      fmt::format("{}: with --motion local {}; leave one of the two out", option, why));
}

void refuse_local_options(const LocalChoices& choices) {
  if (choices.window) refuse_without_local("--window");
  if (choices.stride) refuse_without_local("--stride");
  if (choices.smoothness) refuse_without_local("--smoothness");
}

LocalSettings local_settings_of(const RegistrationChoices& motion, const LocalChoices& choices) {
  refuse_search_options(motion);
  LocalSettings settings;
  if (choices.window) {
    if (*choices.window < min_window || *choices.window > max_window) {
      throw UsageError(fmt::format("--window {}: must be {} to {} pixels", *choices.window,
                                   min_window, max_window));
    }
    settings.windows.width = settings.windows.height = *choices.window;
  }
  const std::int64_t window = settings.windows.width;
  if (choices.stride) {
    if (*choices.stride < 1 || *choices.stride > window) {
      throw UsageError(fmt::format(
          "--stride {}: must be 1 to {}, a window's side, so that no part of a frame is left out",
          *choices.stride, window));
    }
    settings.windows.stride_x = settings.windows.stride_y = *choices.stride;
  }
  if (motion.max_shift) settings.windows.max_shift = max_shift_of(*motion.max_shift, window);
  if (choices.smoothness) {
    if (!(*choices.smoothness > 0) || !std::isfinite(*choices.smoothness)) {
      throw UsageError(
          fmt::format("--smoothness {}: must be a number above 0", *choices.smoothness));
    }
    settings.field.smoothness = *choices.smoothness;
  }
  return settings;
}

void check_windows_fit(const LocalSettings& settings, const Shape& frame, const std::string& name) {
  if (settings.windows.width <= frame.width && settings.windows.height <= frame.height) return;
  throw UsageError(fmt::format(
      "{}: is {} pixels, smaller than the windows of {} x {}; choose a smaller --window", name,
      to_string(frame), settings.windows.width, settings.windows.height));
}

}  // namespace warpalign::program
