// Checks the names of output files.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// An output file, with the option or argument that names it.
struct NamedOutput {
  const char* option;
  std::optional<std::string> name;
  bool may_be_standard_output = false;  ///< accepts the name `-`
};

/// Throws UsageError, naming the option or argument, if an output is the same file as an input or
/// another output, or is `-` where standard output is not supported. Files are compared by what
/// their paths refer to, not by spelling, and need not exist yet. The input `-` is standard input.
void check_outputs(const std::vector<NamedOutput>& outputs, const std::vector<std::string>& inputs);

}  // namespace warpalign::program
