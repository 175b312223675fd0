// Checks the names of output files.
#include "options/file_names.hpp"

#include "io/usage_error.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>

namespace warpalign::program {
namespace {

using Path = std::filesystem::path;

bool same_file(const Path& a, const Path& b) {
  std::error_code failed;
  if (std::filesystem::equivalent(a, b, failed)) return true;
  const Path full_a = std::filesystem::weakly_canonical(a, failed);
  const Path full_b = std::filesystem::weakly_canonical(b, failed);
  return !full_a.empty() && full_a == full_b;
}

void refuse_same(const NamedOutput& output, const std::string& other) {
  if (!same_file(*output.name, other)) return;
  throw UsageError(fmt::format("{} {}: is the same file as {}; choose another name", output.option,
                               *output.name, other));
}

/// Whether the output is given and goes to a file. Throws UsageError if it is `-` but may not be.
bool is_file(const NamedOutput& output) {
  if (!output.name) return false;
  if (*output.name != "-") return true;
  if (output.may_be_standard_output) return false;
  throw UsageError(fmt::format(
      "{} -: standard output ('-') is not supported here; name a file (./- for a file called '-')",
      output.option));
}

}  // namespace

void check_outputs(const std::vector<NamedOutput>& outputs,
                   const std::vector<std::string>& inputs) {
  std::vector<std::string> before;
  for (const std::string& input : inputs) {
    if (input != "-") before.push_back(input);
  }
  for (const NamedOutput& output : outputs) {
    if (!is_file(output)) continue;
    for (const std::string& other : before) refuse_same(output, other);
    before.push_back(*output.name);
  }
}

}  // namespace warpalign::program
