// Suite: interpolation of volumes rotated about a diagonal. Ruijters et al., section 5: tricubic by
// 8 lookups, by 64 neighbours, trilinear, and on the CPU, in interpolations a second.
#include "bench/spline_work.hpp"
#include "bench/suites.hpp"

#include <cmath>
#include <numbers>

namespace warpalign::program::bench {
namespace {

/// A rotation by 17 degrees about the cube's diagonal (1, 1, 1), which passes through its centre
/// (Rodrigues' formula).
HomogeneousMatrix rotated() {
  const double angle = 17 * std::numbers::pi / 180;
  const double same = std::cos(angle) + (1 - std::cos(angle)) / 3;
  const double before = (1 - std::cos(angle)) / 3 - std::sin(angle) / std::sqrt(3.0);
  const double after = (1 - std::cos(angle)) / 3 + std::sin(angle) / std::sqrt(3.0);
  return HomogeneousMatrix::affine3(
      {same, before, after, 0, after, same, before, 0, before, after, same, 0});
}

struct Variant {
  const char* name;
  int degree;
  std::optional<PrefilterMethod> prefilter;
  Precision precision;
  bool on_host = false;
};

constexpr const char* yardstick = "trilinear, texture";

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all{
      {yardstick, 1, {}, Precision::texture},
      {"trilinear, full", 1, {}, Precision::full},
      {"tricubic, 8 lookups", 3, {}, Precision::texture},
      {"tricubic, 64 neighbours", 3, {}, Precision::full, true},
      {"exact prefilter + 8 lookups", 3, PrefilterMethod::exact, Precision::texture},
      {"exact prefilter + 64 neighbours", 3, PrefilterMethod::exact, Precision::full}};
  return all;
}

}  // namespace

std::vector<Case> tricubic_cases(const Sizes& sizes) {
  std::vector<Case> cases;
  for (const std::int64_t side : sizes.volumes_or({256, 512})) {
    for (const Variant& variant : variants()) {
      SplineProblem problem;
      problem.images.shape = {side, side, side};
      problem.output = problem.images.shape;
      problem.images.dimensions = 3;
      problem.spline.degree = variant.degree;
      problem.spline.prefilter = variant.prefilter;
      problem.spline.precision = variant.precision;
      problem.output_to_input = rotated();
      cases.push_back(spline_case({.suite = "tricubic",
                                   .name = variant.name,
                                   .yardstick = yardstick,
                                   .unit = "interpolations",
                                   .on_host = variant.on_host},
                                  problem));
    }
  }
  return cases;
}

}  // namespace warpalign::program::bench
