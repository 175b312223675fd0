// The options of --motion local, as `register` and `stack` share them.
#pragma once

#include "options/registration_options.hpp"

#include <warpalign/local_motion.hpp>

#include <optional>
#include <string>

namespace warpalign::program {

/// As they were typed.
struct LocalChoices {
  std::optional<int> window;
  std::optional<int> stride;
  std::optional<double> smoothness;
};

/// How motion is measured and what is made of it.
struct LocalSettings {
  WindowOptions windows;
  FieldOptions field;
};

/// Adds --window, --stride and --smoothness.
void add_local_options(CLI::App& command, LocalChoices& choices);

/// Throws UsageError where one of them is given without --motion local.
void refuse_local_options(const LocalChoices& choices);
/// Throws UsageError: the option needs --motion local, or does not go with it.
[[noreturn]] void refuse_without_local(const std::string& option);
[[noreturn]] void refuse_with_local(const std::string& option, const std::string& why);

/// What they mean with --motion local. Throws UsageError, naming the option.
[[nodiscard]] LocalSettings local_settings_of(const RegistrationChoices& motion,
                                              const LocalChoices& choices);

/// Throws UsageError where the windows are larger than the frame, which the message calls `name`.
void check_windows_fit(const LocalSettings& settings, const Shape& frame, const std::string& name);

}  // namespace warpalign::program
