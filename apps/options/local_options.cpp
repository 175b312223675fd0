// Parses and checks the options of --motion local before a device is opened.
#include "options/local_options.hpp"

#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/number_list.hpp"

#include <fmt/format.h>

#include <cmath>

namespace warpalign::program {
namespace {

constexpr int min_window = 16;
constexpr int max_window = 4096;

/// Refuses the options of the global search: local motion only translates windows.
void refuse_search_options(const RegistrationChoices& motion) {
  const char* only = "only translates windows";
  if (motion.fast) refuse_with_local("--fast", only);
  if (motion.no_refine) refuse_with_local("--no-refine", "refines every window");
  if (motion.scale_range) refuse_with_local("--scale-range", only);
  if (motion.angle_range) refuse_with_local("--angle-range", only);
  if (motion.candidates) refuse_with_local("--candidates", "estimates a single field");
  for (const RegistrationOptionInfo* option : given_by_name(motion)) {
    refuse_with_local(flag_of(*option), "ignores this option");
  }
}

double max_shift_of(const std::string& text, std::int64_t window) {
  const double most = static_cast<double>(window) / 2;
  const auto numbers = parse_numbers("--max-shift", text);
  if (numbers.size() == 1 && numbers[0] > 0 && numbers[0] <= most) return numbers[0];
  throw UsageError(
      fmt::format("--max-shift {}: must be one number above 0 and at most {} (half of a window); "
                  "choose a larger --window for larger shifts",
                  text, most));
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
             fmt::format("Weight of the field's curvature relative to the windows' shifts [{}]",
                         FieldOptions().smoothness));
}

void refuse_without_local(const std::string& option) {
  throw UsageError(fmt::format("{}: requires --motion local", option));
}

void refuse_with_local(const std::string& option, const std::string& why) {
  throw UsageError(fmt::format("{}: --motion local {}; omit one of the two", option, why));
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
          "--stride {}: must be 1 to {} (the side of a window), so that the windows leave no gaps",
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
  throw UsageError(
      fmt::format("{}: is {} pixels, smaller than a window of {} x {}; choose a smaller --window",
                  name, to_string(frame), settings.windows.width, settings.windows.height));
}

}  // namespace warpalign::program
