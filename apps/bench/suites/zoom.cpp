// Suite: enlargement by 2, 4, 8 and 16 to the same output size. Champagnat & Le Sant, table 3: the
// larger the factor, the smaller the prefilter's share of the time.
#include "bench/spline_work.hpp"
#include "bench/suites.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpalign::program::bench {
namespace {

struct Variant {
  const char* name;
  int degree;
  std::optional<PrefilterMethod> prefilter;
  Precision precision;
};

const std::vector<Variant>& variants() {
  using Method = PrefilterMethod;
  static const std::vector<Variant> all{
      {"bilinear, texture", 1, {}, Precision::texture},
      {"exact + full", 3, Method::exact, Precision::full},
      {"fir:15 + texture", 3, Method::fir, Precision::texture},
      {"iir:line + texture", 3, Method::iir_line, Precision::texture}};
  return all;
}

}  // namespace

std::vector<Case> zoom_cases(const Sizes& sizes) {
  std::vector<Case> cases;
  for (const std::int64_t side : sizes.sides_or({2048})) {
    for (const std::int64_t factor : {2, 4, 8, 16}) {
      const std::int64_t small = std::max<std::int64_t>(side / factor, 1);
      const std::string prefix = fmt::format("x{} ", factor);
      for (const Variant& variant : variants()) {
        SplineProblem problem;
        problem.images.shape = {small, small, 1};
        problem.output = {side, side, 1};
        problem.spline.degree = variant.degree;
        problem.spline.prefilter = variant.prefilter;
        problem.spline.precision = variant.precision;
        problem.output_to_input = HomogeneousMatrix::zoom(problem.images.shape, problem.output);
        cases.push_back(spline_case({.suite = "zoom",
                                     .name = prefix + variant.name,
                                     .yardstick = prefix + variants().front().name},
                                    problem));
      }
    }
  }
  return cases;
}

}  // namespace warpalign::program::bench
