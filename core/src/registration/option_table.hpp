// The table of all registration options: their names, values, ranges and descriptions.
#pragma once

#include <warpalign/warpalign.h>
#include <warpalign/registration_options.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

namespace warpalign::detail {

/// Reads and writes a member of an enumeration type as an index of its choices.
struct ChoiceMember {
  std::size_t (*get)(const RegistrationOptions&);
  void (*set)(RegistrationOptions&, std::size_t);
};

using OptionMember =
    std::variant<bool RegistrationOptions::*, int RegistrationOptions::*,
                 double RegistrationOptions::*, float RegistrationOptions::*, ChoiceMember>;
/// The corresponding member of the C interface's options. Empty for enumerations, because the C
/// interface numbers their values itself.
using COptionMember = std::variant<std::monostate, std::int32_t warpalign_register_options::*,
                                   double warpalign_register_options::*>;

struct OptionRow {
  RegistrationOptionInfo info;
  OptionMember member;
  COptionMember c_member;
};

[[nodiscard]] std::span<const OptionRow> option_rows() noexcept;

/// Throws Error(invalid_argument) if a number is not finite or out of its range.
void check_option_ranges(const RegistrationOptions& options);
/// Whether an option that RegistrationOptions::fast does not support differs from its default.
[[nodiscard]] bool changes_options_without_fast(const RegistrationOptions& options);

/// Converts to any type; for number_of_members().
struct AnyValue {
  template <class T>
  operator T() const;
};

/// The number of members of an aggregate.
template <class Aggregate, class... Values>
consteval std::size_t number_of_members(Values... values) {
  if constexpr (requires { Aggregate{values..., AnyValue{}}; }) {
    return number_of_members<Aggregate>(values..., AnyValue{});
  } else {
    return sizeof...(Values);
  }
}

}  // namespace warpalign::detail
