// How much the program says.
#pragma once

#include <string>

namespace warpalign::program {

enum class Verbosity {
  quiet,   ///< errors, and what --json prints
  normal,  ///< the report, and progress on a terminal
  verbose  ///< what is being done, too
};

/// As --quiet and --verbose say; `normal` before.
void set_verbosity(Verbosity verbosity);
[[nodiscard]] Verbosity verbosity();

/// Prints a command's report on standard output, unless the program is to be quiet.
void report(const std::string& text);

/// Says on stderr what is being done, with the seconds since the program's start, if it is to be
/// verbose.
void detail(const std::string& text);

}  // namespace warpalign::program
