// Stage: the strength of the edges in a volume.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <array>
#include <memory>

namespace warpalign {

namespace backend {
class VolumeEdges;
}

struct VolumeEdgesSpec {
  Shape shape;              ///< of the f32 input and output
  Point3 spacing{1, 1, 1};  ///< from voxel to voxel along x, y and z; 1e-6 to 1e6
};

/// The strength of an edge as a function of the gradient magnitude g: g / (share g + epsilon).
struct EdgeCurve {
  float share = 0;    ///< 0: g / epsilon; 1: saturates at 1, and is 1/2 at g = epsilon
  float epsilon = 1;  ///< above 0

  [[nodiscard]] static EdgeCurve up_to_one(float epsilon) { return {1, epsilon}; }
};

/// Computes the edge strength at each voxel from the gradient in units of the spacing: central
/// differences, and at faces the difference from the only neighbour. Along an axis of one voxel the
/// slope is 0. The result is NaN if a neighbour is. It does not change if the contrast is reversed.
class WARPALIGN_API VolumeEdgesPlan {
 public:
  VolumeEdgesPlan(const Device& device, const VolumeEdgesSpec& spec);
  void execute(Stream& stream, const Image& volume, const EdgeCurve& curve, Image& edges) const;

 private:
  Device device_;
  VolumeEdgesSpec spec_;
  std::shared_ptr<backend::VolumeEdges> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// The factors along x, y and z from the difference of a voxel's two neighbours to a slope.
[[nodiscard]] inline std::array<float, 3> slope_factors(const VolumeEdgesSpec& spec) {
  return {static_cast<float>(0.5 / spec.spacing.x), static_cast<float>(0.5 / spec.spacing.y),
          static_cast<float>(0.5 / spec.spacing.z)};
}

class VolumeEdges : public Stage {
 public:
  using Setup = VolumeEdgesSpec;

  virtual void enqueue(Queue& queue, const Memory& volume, const EdgeCurve& curve,
                       Memory& edges) = 0;
};

}  // namespace warpalign::backend
