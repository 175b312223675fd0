// The options of registrations by name, for programs and bindings that offer all of them.
#pragma once

#include <warpalign/registrar.hpp>

#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace warpalign {

/// What kind of value an option has.
enum class OptionKind {
  flag,     ///< true or false
  integer,  ///< an integer within a range
  real,     ///< a real number within a range
  choice    ///< one of several names
};

/// An option's value: of a flag, an integer, a real number, or the name of a choice.
using RegistrationOptionValue = std::variant<bool, int, double, std::string>;

/// Describes a member of RegistrationOptions.
struct RegistrationOptionInfo {
  std::string_view name;                           ///< of the member
  OptionKind kind = OptionKind::flag;              ///< of its value
  double minimum = 0;                              ///< of an integer or a real number; inclusive
  double maximum = 0;                              ///< likewise
  std::span<const std::string_view> choices = {};  ///< the names of all choices
  bool with_fast = false;       ///< whether RegistrationOptions::fast allows other values
  bool changes_results = true;  ///< whether results may depend on it
  bool in_c = false;            ///< whether warpalign_register_options has the member
  std::string_view program;     ///< the program's option, such as "--search NAME"; empty if none
  bool only_by_name = false;  ///< whether the program passes the typed value to set_option() as it
                              ///< is; it parses other options itself
  std::string_view help;      ///< what it does, in one sentence
};

/// All options, in the order of the members.
[[nodiscard]] WARPALIGN_API std::span<const RegistrationOptionInfo> registration_options() noexcept;

/// The value of an option. Throws Error(invalid_argument) for an unknown name.
[[nodiscard]] WARPALIGN_API RegistrationOptionValue option_value(const RegistrationOptions& options,
                                                                 std::string_view name);

/// Sets an option. An integer is accepted for a real number. Throws Error(invalid_argument) for an
/// unknown name, a value of another kind and a name that is none of the choices. Ranges are checked
/// when the options are used.
WARPALIGN_API void set_option(RegistrationOptions& options, std::string_view name,
                              const RegistrationOptionValue& value);

}  // namespace warpalign
