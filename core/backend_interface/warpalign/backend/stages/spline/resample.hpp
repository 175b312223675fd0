// The backend's interface of the stage: resampling with prefilter and evaluation in one kernel.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/backend/stages/spline/interpolate.hpp>
#include <warpalign/backend/stages/spline/prefilter.hpp>
#include <warpalign/stages/resample.hpp>

#include <span>

namespace warpalign::backend {

/// Prefilter and evaluation in one kernel, with the exact prefilter and full precision. The details
/// of the evaluation have no margin, because this kernel extends the samples beyond the edges.
class Resample : public Stage {
 public:
  struct Setup {
    const ResampleSpec& spec;
    const PrefilterDetails& filter;
    const InterpolateDetails& details;
  };

  /// `transforms`: one for all arrays of a batch, or one for each. Returns false, and enqueues
  /// nothing, if the kernel does not support one of them.
  [[nodiscard]] virtual bool enqueue(Queue& queue, const Memory& samples,
                                     std::span<const HomogeneousMatrix> transforms,
                                     Memory& output) = 0;
};

}  // namespace warpalign::backend
