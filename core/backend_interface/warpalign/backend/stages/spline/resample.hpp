// What a backend implements for the stage: resampling of an image with prefilter and evaluation in
// one.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/backend/stages/spline/interpolate.hpp>
#include <warpalign/backend/stages/spline/prefilter.hpp>
#include <warpalign/stages/resample.hpp>

#include <span>

namespace warpalign::backend {

/// Prefilter and evaluation in one kernel, with the exact prefilter and full precision. It is made
/// with the details of both; those of the evaluation have no margin, because here the samples
/// themselves are extended beyond the edges.
class Resample : public Stage {
 public:
  struct Setup {
    const ResampleSpec& spec;
    const PrefilterDetails& filter;
    const InterpolateDetails& details;
  };

  /// `transforms`: one for all arrays of a batch, or one for each. Returns false when the kernel
  /// does not support one of them; nothing is enqueued then.
  [[nodiscard]] virtual bool enqueue(Queue& queue, const Memory& samples,
                                     std::span<const Transform> transforms, Memory& output) = 0;
};

}  // namespace warpalign::backend
