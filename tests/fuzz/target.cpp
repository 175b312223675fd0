// The list of fuzz targets, and the function that reports a finding.
#include "target.hpp"

#include <cstdio>
#include <cstdlib>

namespace warpalign::fuzz {

std::vector<Target>& targets() {
  static std::vector<Target> all;
  return all;
}

void require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: violated: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace warpalign::fuzz
