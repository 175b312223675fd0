// Which names outputs may have.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// An output that is a single file, with the option or argument that names it.
struct NamedOutput {
  const char* option;
  std::optional<std::string> name;
  bool may_be_standard_output = false;  ///< under the name `-`
};

/// Throws UsageError, naming the option or argument, where an output is one of the inputs or
/// another output, whatever the names' spelling, or is `-` and cannot be. Neither need exist yet.
/// An input named `-` is standard input.
void check_outputs(const std::vector<NamedOutput>& outputs, const std::vector<std::string>& inputs);

}  // namespace warpalign::program
