// Interface of the stage: B-splines in double precision, and exact copies of samples.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/backend/stages/spline/prefilter.hpp>
#include <warpalign/stages/double_spline.hpp>

#include <array>
#include <vector>

namespace warpalign::backend {

/// The points to evaluate at: transformed output pixels, or explicit coordinates.
struct DoublePoints {
  std::array<double, 16> matrix{};      ///< of a HomogeneousMatrix
  const Memory* coordinates = nullptr;  ///< replaces the matrix if it is not null
};

class DoubleSpline : public Stage {
 public:
  struct Setup {
    const DoubleSplineSpec& spec;
    Extension extension;        ///< of indices beyond the ends of an axis
    std::vector<double> poles;  ///< of the prefilter; empty if there is none
  };

  /// Computes coefficients. Called only if there are poles.
  virtual void prefilter(Queue& queue, const Memory& images, Memory& coefficients) = 0;
  /// Evaluates all arrays. `outside` holds the bits of the value beyond the edges.
  virtual void enqueue(Queue& queue, const Memory& images, const DoublePoints& points,
                       std::uint64_t outside, Memory& output) = 0;
};

}  // namespace warpalign::backend
