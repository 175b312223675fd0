// What a backend implements for the stage: an image read at other points, prefilter and evaluation
// in one.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/backend/stages/spline/interpolate.hpp>
#include <warpalign/backend/stages/spline/prefilter.hpp>
#include <warpalign/stages/resample.hpp>

namespace warpalign::backend {

/// Prefilter and evaluation in one kernel: exact prefilter, full precision. Made with the details
/// of both; those of the evaluation have no margin, as samples themselves go on beyond the edges.
class Resample : public Stage {
 public:
  struct Setup {
    const ResampleSpec& spec;
    const PrefilterDetails& filter;
    const InterpolateDetails& details;
  };

  /// False: this transform is none for it, and nothing was enqueued.
  [[nodiscard]] virtual bool enqueue(Queue& queue, const Memory& samples,
                                     const Transform& transform, Memory& output) = 0;
};

}  // namespace warpalign::backend
