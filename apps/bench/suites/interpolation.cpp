// Suite: cubic interpolation with textures, with weights from a table or computed, and in full
// precision. Ruijters et al., table 1: time, and the RMS error against double precision.
#include "bench/spline_work.hpp"
#include "bench/suites.hpp"
#include "options/rotation.hpp"

namespace warpalign::program::bench {

std::vector<Case> interpolation_cases(const Sizes& sizes) {
  struct Variant {
    const char* name;
    Precision precision;
  };
  std::vector<Case> cases;
  for (const std::int64_t side : sizes.sides_or({512, 2048})) {
    for (const Variant& variant :
         {Variant{"lookup table", Precision::texture_lut},
          Variant{"on the fly", Precision::texture}, Variant{"full precision", Precision::full}}) {
      SplineProblem problem;
      problem.images.shape = {side, side, 1};
      problem.output = problem.images.shape;
      problem.spline.precision = variant.precision;
      problem.output_to_input = rotation_about(centre_of(problem.images.shape), 17);
      cases.push_back(spline_case({.suite = "interpolation",
                                   .name = variant.name,
                                   .yardstick = "lookup table",
                                   .unit = "interpolations",
                                   .on_host = variant.precision == Precision::full,
                                   .with_rms = true},
                                  problem));
    }
  }
  return cases;
}

}  // namespace warpalign::program::bench
