// The list of fuzz targets, and what a target calls when something is wrong.
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
  std::fprintf(stderr, "fuzz: this does not hold: %.*s\n", static_cast<int>(what.size()),
               what.data());
  std::abort();
}

}  // namespace warpalign::fuzz
