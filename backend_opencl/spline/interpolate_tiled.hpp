// Evaluation from a copy of the source in local memory: for each tile of the output, the
// coefficients that the tile needs.
#pragma once

#include "device/kernel.hpp"
#include "spline/array_parameters.hpp"
#include "spline/transform_evaluation.hpp"

#include <warpalign/backend/stages/spline/interpolate.hpp>
#include <warpalign/backend/tiles.hpp>

#include <array>
#include <optional>
#include <span>

namespace warpalign::opencl {

/// The entry of interpolate_tiled.cl's table.
struct TiledAxes {
  struct Row {
    cl_float4 nearest, rest, high, low;
  };
  std::array<Row, 3> rows;
  std::array<cl_float, 3> minimum;
  std::array<cl_int, 3> extent;
};

class TiledEvaluation final : public TransformEvaluation {
 public:
  /// Whether this class can serve a plan: on GPUs (and CPUs without vectors), real splines in two
  /// or three dimensions, from degree 3 on, in full precision.
  [[nodiscard]] static bool serves(const Context& context, const InterpolateSpec& spec,
                                   const backend::InterpolateDetails& details);

  /// `stored` is the shape of the coefficients.
  TiledEvaluation(Context& context, const InterpolateSpec& spec,
                  const backend::InterpolateDetails& details, const Shape& stored);

  /// Returns false if a transform is not affine or a tile's copy does not fit.
  bool enqueue(cl_command_queue queue, cl_mem coefficients,
               std::span<const HomogeneousMatrix> transforms,
               const backend::Memory& output) override;

 private:
  struct Tiles;
  using Sides = std::array<int, 3>;
  [[nodiscard]] std::optional<backend::TileSource> source_of(const HomogeneousMatrix& transform,
                                                             const Sides& sides) const;
  [[nodiscard]] bool choose_tiles(std::span<const HomogeneousMatrix> transforms,
                                  Tiles& tiles) const;
  [[nodiscard]] bool fit(std::span<const HomogeneousMatrix> transforms, const Sides& sides,
                         Tiles& tiles) const;
  [[nodiscard]] TiledAxes axes_of(const HomogeneousMatrix& transform, const Sides& sides) const;

  CallSite site_;
  InterpolateSpec spec_;
  backend::InterpolateDetails details_;
  Shape stored_;
  std::size_t max_bytes_;
  Kernel flat_, steep_;  // kernels with different distances between rows of the copy
  std::optional<ArrayParameters<TiledAxes>> table_;
};

}  // namespace warpalign::opencl
