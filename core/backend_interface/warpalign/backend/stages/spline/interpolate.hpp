// The backend's interface of the stage: evaluation of a B-spline at arbitrary points.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/backend/stages/spline/prefilter.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <span>

namespace warpalign::backend {

/// Values that core derives from an InterpolateSpec: how to map a point's coordinate to the range
/// of the coefficients, and how to extend indices of neighbours beyond the ends. For an axis of n
/// samples:
/// - `points` is the mapping of a coordinate. `reject_outside`: points outside [0, n - 1] give
///   cval (for `constant`). `clamp_to_margin`: points are clamped to [-reach, n - 1 + reach] with
///   reach = margin + degree, where all neighbours are the same coefficient (for `nearest`).
///   `period_minus_one`: points are reduced to [0, n - 1] modulo n - 1 (for `wrap`). `free`: any
///   point is allowed.
/// - Neighbour k (an integer, in sample positions) is coefficient k + margin. `extension` maps an
///   index outside 0 ... n + 2 margin - 1 to the coefficients' axis of length n + 2 margin.
struct InterpolateDetails {
  enum class Points { free, reject_outside, clamp_to_margin, period_minus_one };
  Points points = Points::free;
  Extension extension = Extension::mirror;
  int margin = 0;
};

/// The points of the evaluation. Exactly one of the three members is set.
struct SamplingPoints {
  /// One for all arrays of a batch, or one for each.
  std::span<const HomogeneousMatrix> transforms;
  const Memory* coordinates = nullptr;
  const LogPolarSampling* log_polar = nullptr;
};

class Interpolate : public Stage {
 public:
  struct Setup {
    const InterpolateSpec& spec;
    const InterpolateDetails& details;
  };

  /// `gradient` is null if only values are needed. It receives ds/dx of all arrays of the batch,
  /// then ds/dy, then ds/dz.
  virtual void enqueue(Queue& queue, const Memory& coefficients, const SamplingPoints& points,
                       Memory& output, Memory* gradient) = 0;
};

}  // namespace warpalign::backend
