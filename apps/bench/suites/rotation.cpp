// Suite: rotation of an image about its centre. Champagnat & Le Sant, table 3, first column: cubic
// interpolation with FIR15 and with the recursive prefilter, against bilinear.
#include "options/rotation.hpp"
#include "bench/spline_work.hpp"
#include "bench/suites.hpp"

namespace warpalign::program::bench {
namespace {

struct Variant {
  const char* name;
  int degree;
  std::optional<PrefilterMethod> prefilter;
  Precision precision;
  bool on_host = false;
};

constexpr const char* yardstick = "bilinear, texture";

const std::vector<Variant>& variants() {
  using Method = PrefilterMethod;
  static const std::vector<Variant> all{
      {yardstick, 1, {}, Precision::texture},
      {"bilinear, full", 1, {}, Precision::full},
      {"evaluation alone, texture", 3, {}, Precision::texture},
      {"evaluation alone, full", 3, {}, Precision::full},
      {"exact + full", 3, Method::exact, Precision::full, true},
      {"exact + texture", 3, Method::exact, Precision::texture},
      {"fir:15 + full", 3, Method::fir, Precision::full},
      {"fir:15 + texture", 3, Method::fir, Precision::texture},
      {"iir:line + texture", 3, Method::iir_line, Precision::texture}};
  return all;
}

Case case_of(const Variant& variant, std::int64_t side, double degrees, const std::string& suffix) {
  SplineProblem problem;
  problem.images.shape = {side, side, 1};
  problem.output = problem.images.shape;
  problem.spline.degree = variant.degree;
  problem.spline.prefilter = variant.prefilter;
  problem.spline.precision = variant.precision;
  problem.output_to_input = rotation_about(centre_of(problem.images.shape), degrees);
  return spline_case({.suite = "rotation",
                      .name = variant.name + suffix,
                      .yardstick = yardstick + suffix,
                      .on_host = variant.on_host && suffix.empty()},
                     problem);
}

}  // namespace

std::vector<Case> rotation_cases(const Sizes& sizes) {
  std::vector<Case> cases;
  for (const std::int64_t side : sizes.sides_or({2048, 4096, 8192})) {
    for (const Variant& variant : variants()) cases.push_back(case_of(variant, side, 17, ""));
    for (const Variant& variant : variants()) {
      const bool shown = variant.name == std::string(yardstick) || variant.on_host;
      if (shown) cases.push_back(case_of(variant, side, 45, ", 45 degrees"));
    }
  }
  return cases;
}

}  // namespace warpalign::program::bench
