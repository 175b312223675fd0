// Cubic evaluation in volumes, from a copy of the source in local memory: for each tile of the
// output, the coefficients that the tile needs.
#pragma once

#include "device/kernel.hpp"

#include <warpalign/backend/stages/spline/interpolate.hpp>

namespace warpalign::opencl {

class VolumeEvaluation {
 public:
  /// Whether this class can serve a plan: on GPUs (and CPUs without vectors), real cubic splines in
  /// three dimensions, in full precision.
  [[nodiscard]] static bool serves(const Context& context, const InterpolateSpec& spec,
                                   const backend::InterpolateDetails& details);

  /// `stored` is the shape of the coefficients.
  VolumeEvaluation(Context& context, const InterpolateSpec& spec,
                   const backend::InterpolateDetails& details, const Shape& stored);

  /// Returns false, and enqueues nothing, if the transform is not affine or a tile's copy does not
  /// fit.
  bool enqueue(cl_command_queue queue, cl_mem coefficients, const Transform& transform,
               const backend::Memory& output);

 private:
  CallSite site_;
  Shape output_, stored_;
  cl_int margin_;
  cl_float cval_;
  std::size_t max_bytes_;
  Kernel kernel_;
};

}  // namespace warpalign::opencl
