// toml++, included from here alone: what it asserts of the text becomes an error.
//
// toml++ 3.3 asserts what a file of somebody else's may well break: that a name follows "[[" (its
// pull request 301), that a value follows a comma in an array. Without NDEBUG the program would end
// there, and with it clang takes what is asserted for granted.
#pragma once

namespace warpalign::detail {

/// Thrown where the text is not what toml++ expects.
struct UnexpectedToml {};

[[noreturn]] inline void refuse_toml() { throw UnexpectedToml{}; }

}  // namespace warpalign::detail

#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : warpalign::detail::refuse_toml())
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
