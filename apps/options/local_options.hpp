// The options of --motion local, which `register` and `stack` share.
#pragma once

#include "options/registration_options.hpp"

#include <warpalign/local_motion.hpp>

#include <optional>
#include <string>

namespace warpalign::program {

/// The options as typed, unchecked.
struct LocalChoices {
  std::optional<int> window;
  std::optional<int> stride;
  std::optional<double> smoothness;
};

/// How window shifts are measured and how the field is fitted to them.
struct LocalSettings {
  WindowOptions windows;
  FieldOptions field;
};

/// Adds --window, --stride and --smoothness.
void add_local_options(CLI::App& command, LocalChoices& choices);

/// Throws UsageError if one of these options is given without --motion local.
void refuse_local_options(const LocalChoices& choices);
/// Throw UsageError: the option requires --motion local, or conflicts with it because `why`.
[[noreturn]] void refuse_without_local(const std::string& option);
[[noreturn]] void refuse_with_local(const std::string& option, const std::string& why);

/// Converts the choices for --motion local. Throws UsageError, naming the option.
[[nodiscard]] LocalSettings local_settings_of(const RegistrationChoices& motion,
                                              const LocalChoices& choices);

/// Throws UsageError if the windows are larger than the frame, which the message calls `name`.
void check_windows_fit(const LocalSettings& settings, const Shape& frame, const std::string& name);

}  // namespace warpalign::program
