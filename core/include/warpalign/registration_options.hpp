// Access to the registration options by name, for programs and bindings that expose all of them.
#pragma once

#include <warpalign/registrar.hpp>

#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace warpalign {

/// The kind of an option's value.
enum class OptionKind {
  flag,     ///< true or false
  integer,  ///< an integer within a range
  real,     ///< a real number within a range
  choice    ///< one of several names
};

/// An option's value: a flag, an integer, a real number, or the name of a choice.
using RegistrationOptionValue = std::variant<bool, int, double, std::string>;

/// Describes a member of RegistrationOptions.
struct RegistrationOptionInfo {
  std::string_view name;                           ///< the name of the member
  OptionKind kind = OptionKind::flag;              ///< the kind of its value
  double minimum = 0;                              ///< smallest allowed number, inclusive
  double maximum = 0;                              ///< largest allowed number, inclusive
  bool or_zero = false;                            ///< whether 0 is allowed, too: it is automatic
  std::span<const std::string_view> choices = {};  ///< the names of all choices
  bool with_fast = false;       ///< whether it may differ from its default if `fast` is set
  bool changes_results = true;  ///< whether results may depend on it
  bool in_c = false;            ///< whether warpalign_register_options has the member
  std::string_view program;     ///< the command-line option, such as "--search NAME"; empty if none
  bool program_uses_set_option =
      false;              ///< whether the command line passes the typed text to set_option()
                          ///< unchanged; it parses the other options itself
  std::string_view help;  ///< what it does, in one sentence
};

/// All options, in the order of the members.
[[nodiscard]] WARPALIGN_API std::span<const RegistrationOptionInfo> registration_options() noexcept;

/// Returns the value of an option. Throws Error(invalid_argument) for an unknown name.
[[nodiscard]] WARPALIGN_API RegistrationOptionValue option_value(const RegistrationOptions& options,
                                                                 std::string_view name);

/// Sets an option. A real option also accepts an integer. Throws Error(invalid_argument) for an
/// unknown name, a value of the wrong kind, and an unknown choice. Registrar checks the ranges.
WARPALIGN_API void set_option(RegistrationOptions& options, std::string_view name,
                              const RegistrationOptionValue& value);

}  // namespace warpalign
