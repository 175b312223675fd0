// Probes: this program, started once more to try something that may crash or hang.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace warpalign::program::doctor {

using Words = std::vector<std::string>;

/// What a probe said before it ended, however it ended.
struct ProbeOutcome {
  /// The lines of its standard output, each split at its tabs.
  std::vector<Words> lines;
  /// How it failed, in words; empty if it ran to its end.
  std::string trouble;
  double seconds = 0;

  /// The second word of the first line that begins with this one; empty if there is none.
  [[nodiscard]] std::string value(const std::string& key) const;
};

/// Runs `warpalign ARGUMENTS...` with these environment variables added, and waits for it no longer
/// than `limit`.
[[nodiscard]] ProbeOutcome run_probe(const Words& arguments,
                                     const std::map<std::string, std::string>& variables,
                                     std::chrono::seconds limit);

/// For the process that is a probe: it ends with its parent and leaves no core dump.
void become_probe();

/// Prints a line for the other side at once, so that a crash loses nothing that was said before.
void say_line(const Words& words);

}  // namespace warpalign::program::doctor
