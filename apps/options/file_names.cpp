// Whether two names refer to the same file, which may not exist yet.
#include "options/file_names.hpp"

#include "io/usage_error.hpp"

#include <fmt/format.h>

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

}  // namespace

void refuse_same(const std::string& option, const Path& written, const Path& other) {
  if (!same_file(written, other)) return;
  throw UsageError(fmt::format("{} {}: is the same file as {}; choose another name", option,
                               written.string(), other.string()));
}

}  // namespace warpalign::program
