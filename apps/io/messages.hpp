// The verbosity of the program.
#pragma once

#include <string>

namespace warpalign::program {

enum class Verbosity {
  quiet,   ///< errors, and the output of --json
  normal,  ///< the report, and progress on a terminal
  verbose  ///< each step, too
};

/// Set by --quiet and --verbose; initially `normal`.
void set_verbosity(Verbosity verbosity);
[[nodiscard]] Verbosity verbosity();

/// Prints a command's report on standard output, unless --quiet is given.
void report(const std::string& text);

/// Prints a line on stderr about how an input is understood, unless --quiet is given. An input may
/// be read twice; the same line appears once.
void remark(const std::string& text);

/// With --verbose, reports a step on stderr with the seconds since the program's start.
void detail(const std::string& text);

}  // namespace warpalign::program
