// What a backend implements for the stage: B-splines in double precision.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/backend/stages/spline/prefilter.hpp>
#include <warpalign/stages/double_spline.hpp>

#include <array>
#include <vector>

namespace warpalign::backend {

/// Where to evaluate: at transformed output points, or at the given ones.
struct DoublePoints {
  std::array<double, 16> matrix{};      ///< a Transform's
  const Memory* coordinates = nullptr;  ///< if not null, instead of the matrix
};

class DoubleSpline : public Stage {
 public:
  struct Setup {
    const DoubleSplineSpec& spec;
    Extension extension;        ///< of indices beyond the ends of an axis
    std::vector<double> poles;  ///< of the prefilter; empty where nothing is filtered
  };

  /// Only where there are poles.
  virtual void prefilter(Queue& queue, const Memory& images, Memory& coefficients) = 0;
  virtual void enqueue(Queue& queue, const Memory& images, const DoublePoints& points,
                       std::uint64_t outside, Memory& output) = 0;
};

}  // namespace warpalign::backend
