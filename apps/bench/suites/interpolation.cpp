// Suite: cubic interpolation with textures, with weights from a table or computed, and in full
// precision. Ruijters et al., table 1: time, and the RMS error against double precision.
#include "bench/spline_work.hpp"
#include "bench/suites.hpp"
#include "options/rotation.hpp"

namespace warpalign::program::bench {

std::vector<Case> interpolation_cases(const Sizes& sizes) {
  struct Way {
    const char* name;
    Precision precision;
  };
  std::vector<Case> cases;
  for (const std::int64_t side : sizes.sides_or({512, 2048})) {
    for (const Way& way :
         {Way{"lookup table", Precision::texture_lut}, Way{"on the fly", Precision::texture},
          Way{"full precision", Precision::full}}) {
      SplineProblem problem;
      problem.images.shape = {side, side, 1};
      problem.output = problem.images.shape;
      problem.spline.precision = way.precision;
      problem.output_to_input = rotation_about(centre_of(problem.images.shape), 17);
      cases.push_back(spline_case({.suite = "interpolation",
                                   .name = way.name,
                                   .yardstick = "lookup table",
                                   .unit = "interpolations",
                                   .on_host = way.precision == Precision::full,
                                   .with_rms = true},
                                  problem));
    }
  }
  return cases;
}

}  // namespace warpalign::program::bench
