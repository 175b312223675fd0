// Evaluation of splines under transforms: the kernels that a device may have for it beside the one
// that serves every plan, and which of them a plan gets.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/stages/spline/interpolate.hpp>

#include <memory>
#include <span>

namespace warpalign::opencl {

class TransformEvaluation {
 public:
  TransformEvaluation() = default;
  TransformEvaluation(const TransformEvaluation&) = delete;
  TransformEvaluation& operator=(const TransformEvaluation&) = delete;
  virtual ~TransformEvaluation() = default;

  /// One transform for all arrays of a batch, or one for each. Returns false, and enqueues nothing,
  /// if the kernel cannot serve one of them: one that is not affine, say.
  virtual bool enqueue(cl_command_queue queue, cl_mem coefficients,
                       std::span<const Transform> transforms, const backend::Memory& output) = 0;
};

/// What is to be evaluated.
struct EvaluationRequest {
  const InterpolateSpec& spec;
  const backend::InterpolateDetails& details;
  const Shape& stored;  ///< the shape of the coefficients
  bool by_texture;      ///< whether the texture unit serves the plan's other points
};

/// The first of the kernels, fastest first, that serves the request; null if none does.
[[nodiscard]] std::unique_ptr<TransformEvaluation> make_transform_evaluation(
    Context& context, const EvaluationRequest& request);

}  // namespace warpalign::opencl
