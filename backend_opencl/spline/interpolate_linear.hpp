// Interpolation of degree 1 on GPUs under an affine transform, by loads from memory.
#pragma once

#include "device/kernel.hpp"
#include "spline/array_parameters.hpp"
#include "spline/fixed_point.hpp"
#include "spline/transform_evaluation.hpp"

#include <warpalign/backend/stages/spline/interpolate.hpp>

#include <array>
#include <optional>
#include <span>

namespace warpalign::opencl {

/// The entry of interpolate_linear.cl's table.
struct LinearAxes {
  struct Range {
    cl_long minimum, maximum;
  };
  std::array<FixedRow, 3> rows;
  std::array<Range, 3> ranges;
};

class LinearEvaluation final : public TransformEvaluation {
 public:
  /// Whether this class can serve a plan: on GPUs (and CPUs without vectors), real splines of
  /// degree 1 in two or three dimensions, in any precision. The results have full precision, and
  /// loads take less time than the copy to an image that the texture unit needs.
  [[nodiscard]] static bool serves(const Context& context, const InterpolateSpec& spec,
                                   const backend::InterpolateDetails& details);

  LinearEvaluation(Context& context, const InterpolateSpec& spec,
                   const backend::InterpolateDetails& details);

  /// Returns false if a transform is not affine or maps too far away.
  bool enqueue(cl_command_queue queue, cl_mem samples,
               std::span<const HomogeneousMatrix> transforms,
               const backend::Memory& output) override;

 private:
  int dimensions_;
  Shape image_, output_;
  cl_float cval_;
  Grid grid_;
  std::int64_t batch_;
  Kernel kernel_;
  std::optional<Kernel> steep_;  // faster if rows of the output cross many rows of the source
  std::optional<ArrayParameters<LinearAxes>> table_;
};

}  // namespace warpalign::opencl
