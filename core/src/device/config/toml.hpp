// The only file that includes toml++. It converts failed assertions about the text to errors.
//
// toml++ 3.3 asserts conditions that an invalid file can break: that a name follows "[[" (pull
// request 301 of toml++), that a value follows a comma in an array. Without NDEBUG the program
// would abort there, and with NDEBUG clang optimizes as if the conditions held.
#pragma once

namespace warpalign::detail {

/// Thrown if an assertion of toml++ about the text fails.
struct UnexpectedToml {};

[[noreturn]] inline void refuse_toml() { throw UnexpectedToml{}; }

}  // namespace warpalign::detail

#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : warpalign::detail::refuse_toml())
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
