// Evaluation from a copy of the source in local memory: for each tile of the output, the
// coefficients that the tile needs.
#pragma once

#include "device/kernel.hpp"

#include <warpalign/backend/stages/spline/interpolate.hpp>

namespace warpalign::opencl {

class TiledEvaluation {
 public:
  /// Whether this class can serve a plan: on GPUs (and CPUs without vectors), real splines in two
  /// or three dimensions, from degree 3 on, in full precision.
  [[nodiscard]] static bool serves(const Context& context, const InterpolateSpec& spec,
                                   const backend::InterpolateDetails& details);

  /// `stored` is the shape of the coefficients.
  TiledEvaluation(Context& context, const InterpolateSpec& spec,
                  const backend::InterpolateDetails& details, const Shape& stored);

  /// Returns false, and enqueues nothing, if the transform is not affine or a tile's copy does not
  /// fit.
  bool enqueue(cl_command_queue queue, cl_mem coefficients, const Transform& transform,
               const backend::Memory& output);

 private:
  struct Tiles;
  [[nodiscard]] bool choose_tiles(const Transform& transform, Tiles& tiles) const;
  [[nodiscard]] bool fit(const Transform& transform, const std::array<int, 3>& sides,
                         Tiles& tiles) const;

  CallSite site_;
  InterpolateSpec spec_;
  backend::InterpolateDetails details_;
  Shape stored_;
  std::size_t max_bytes_;
  Kernel flat_, steep_;  // with different distances between rows of the copy
};

}  // namespace warpalign::opencl
