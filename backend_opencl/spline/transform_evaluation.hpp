// Evaluation of splines under transforms: the specialized kernels that a device may have, in
// addition to the general one, and the choice of a kernel for a plan.
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

  /// Takes one transform for all arrays of a batch, or one for each. Returns false, and enqueues
  /// nothing, if the kernel cannot serve one of them, for example one that is not affine.
  virtual bool enqueue(cl_command_queue queue, cl_mem coefficients,
                       std::span<const HomogeneousMatrix> transforms,
                       const backend::Memory& output) = 0;
};

/// The evaluation that a plan needs.
struct EvaluationRequest {
  const InterpolateSpec& spec;
  const backend::InterpolateDetails& details;
  const Shape& stored;  ///< the shape of the coefficients
  bool by_texture;      ///< whether the texture unit serves the plan's other points
};

/// Returns the first implementation, fastest first, that serves the request; null if none does.
[[nodiscard]] std::unique_ptr<TransformEvaluation> make_transform_evaluation(
    Context& context, const EvaluationRequest& request);

}  // namespace warpalign::opencl
