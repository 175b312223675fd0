// Child processes of this program that try operations which may crash or hang.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace warpalign::program::doctor {

using Words = std::vector<std::string>;

/// The output of a probe until it ended or was stopped.
struct ProbeOutcome {
  /// The lines of its standard output, split at tabs.
  std::vector<Words> lines;
  /// How it failed, as text; empty if it succeeded.
  std::string trouble;
  double seconds = 0;

  /// The second word of the first line that starts with this word; empty if there is none.
  [[nodiscard]] std::string value(const std::string& key) const;
};

/// Runs `warpalign ARGUMENTS...` with these environment variables added, and stops it after
/// `limit`.
[[nodiscard]] ProbeOutcome run_probe(const Words& arguments,
                                     const std::map<std::string, std::string>& variables,
                                     std::chrono::seconds limit);

/// Prepares a process to be a probe: it ends with its parent and leaves no core dump.
void become_probe();

/// Prints a line for the parent and flushes it, so that a later crash does not lose it.
void say_line(const Words& words);

}  // namespace warpalign::program::doctor
