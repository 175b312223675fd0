// How much the program says.
#pragma once

#include <cstdio>
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

/// Prints a command's report, or a part of it, unless the program is to be quiet. `to` is standard
/// output but where a picture or a video goes there.
void report(const std::string& text, std::FILE* to = stdout);

/// Says on stderr what is being done, with the seconds since the program's start, if it is to be
/// verbose.
void detail(const std::string& text);

}  // namespace warpalign::program
