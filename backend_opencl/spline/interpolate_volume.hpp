// Cubic evaluation in volumes, from a copy of the source in local memory: for each tile of the
// output, the coefficients that the tile needs.
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

/// The entry of interpolate_volume.cl's table.
struct VolumeAxes {
  std::array<FixedRow, 3> rows;
  /// coordinates relative to the tile's first point, in fixed point
  std::array<cl_long, 3> minimum;
  std::array<cl_int, 3> extent;  ///< of the copy
};

class VolumeEvaluation final : public TransformEvaluation {
 public:
  /// Whether this class can serve a plan: on GPUs (and CPUs without vectors), real cubic splines in
  /// three dimensions, in full precision.
  [[nodiscard]] static bool serves(const Context& context, const InterpolateSpec& spec,
                                   const backend::InterpolateDetails& details);

  /// `stored` is the shape of the coefficients.
  VolumeEvaluation(Context& context, const InterpolateSpec& spec,
                   const backend::InterpolateDetails& details, const Shape& stored);

  /// Returns false if a transform is not affine or a tile's copy does not fit.
  bool enqueue(cl_command_queue queue, cl_mem coefficients,
               std::span<const HomogeneousMatrix> transforms,
               const backend::Memory& output) override;

 private:
  CallSite site_;
  Shape output_, stored_;
  cl_int margin_;
  cl_float cval_;
  std::size_t max_bytes_;
  Kernel kernel_;
  std::int64_t batch_;
  std::optional<ArrayParameters<VolumeAxes>> table_;
};

}  // namespace warpalign::opencl
