// What a backend implements for the stage: evaluate a B-spline anywhere.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/backend/stages/spline/prefilter.hpp>
#include <warpalign/stages/interpolate.hpp>

namespace warpalign::backend {

/// What core derives from an InterpolateSpec: how a coordinate is brought to where coefficients
/// are, and how the neighbours' indices go on beyond the ends. Per axis of n samples:
/// - bounds of the point: `reject_outside`: points outside [0, n - 1] give cval (constant);
///   `clamp_to_margin`: points are clamped to [-reach, n - 1 + reach], reach = margin + degree,
///   where every neighbour is the same coefficient (nearest);
///   `period_minus_one`: points are brought into [0, n - 1] modulo n - 1 (wrap); `free`: any point.
/// - neighbour k (integer, in sample positions) is coefficient k + margin; outside of
///   0 ... n + 2 margin - 1 it is found by `extension` on the coefficients' own axis of n + 2
///   margin.
struct InterpolateDetails {
  enum class Points { free, reject_outside, clamp_to_margin, period_minus_one };
  Points points = Points::free;
  Extension extension = Extension::mirror;
  int margin = 0;
};

/// The points to evaluate at: one of the three, chosen by which pointer is set.
struct SamplingPoints {
  const Transform* transform = nullptr;
  const Memory* coordinates = nullptr;
  const LogPolarSampling* log_polar = nullptr;
};

class Interpolate : public Stage {
 public:
  struct Setup {
    const InterpolateSpec& spec;
    const InterpolateDetails& details;
  };

  /// `gradient` is null when only values are wanted.
  virtual void enqueue(Queue& queue, const Memory& coefficients, const SamplingPoints& points,
                       Memory& output, Memory* gradient) = 0;
};

}  // namespace warpalign::backend
