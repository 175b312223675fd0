// Suite: the B-spline prefilter. Champagnat & Le Sant, table 1 (recursive against FIR15) and table
// 2 (the budget of rows and columns); the exact filter of volumes.
#include "bench/spline_work.hpp"
#include "bench/suites.hpp"

namespace warpalign::program::bench {
namespace {

struct Method {
  const char* name;
  PrefilterMethod method;
};

constexpr std::initializer_list<Method> methods{{"exact", PrefilterMethod::exact},
                                                {"fir:15", PrefilterMethod::fir},
                                                {"iir:line", PrefilterMethod::iir_line}};

SplineProblem problem_of(const Shape& shape, int dimensions, PrefilterMethod method) {
  SplineProblem problem;
  problem.images.shape = shape;
  problem.images.dimensions = dimensions;
  problem.spline.prefilter = method;
  return problem;
}

}  // namespace

std::vector<Case> prefilter_cases(const Sizes& sizes) {
  std::vector<Case> cases;
  for (const std::int64_t side : sizes.sides_or({1024, 2048, 4096, 8192})) {
    const Shape shape{side, side, 1};
    for (const auto& [name, method] : methods) {
      const bool exact = method == PrefilterMethod::exact;
      cases.push_back(spline_case({.suite = "prefilter", .name = name, .on_host = exact},
                                  problem_of(shape, 2, method)));
    }
    for (const auto& [name, method] : methods) {
      cases.push_back(spline_case({.suite = "prefilter", .name = std::string(name) + ", rows only"},
                                  problem_of(shape, 1, method)));
    }
  }
  for (const std::int64_t side : sizes.volumes_or({256, 512})) {
    const Shape shape{side, side, side};
    for (const auto& [name, method] : methods) {
      const bool exact = method == PrefilterMethod::exact;
      cases.push_back(spline_case({.suite = "prefilter", .name = name, .on_host = exact},
                                  problem_of(shape, 3, method)));
    }
  }
  return cases;
}

}  // namespace warpalign::program::bench
