// Stage: one step of the optimisation of a free-form deformation.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <array>
#include <memory>

namespace warpalign {

namespace backend {
class DeformationStep;
}

struct DeformationStepSpec {
  Shape grid;  ///< the control points; depth 1 in the plane

  [[nodiscard]] int dimensions() const noexcept { return grid.depth > 1 ? 3 : 2; }
  /// The number of different entries of a symmetric matrix: 3 or 6.
  [[nodiscard]] int entries() const noexcept { return grid.depth > 1 ? 6 : 3; }
  [[nodiscard]] Shape grids(int count) const noexcept {
    return {grid.width, grid.height, grid.depth * count};
  }
};

/// Factors of a step, along x, y and z.
struct DeformationStepFactors {
  std::array<float, 3> force{1, 1, 1};       ///< of the sums of forces
  std::array<float, 3> smoothness{1, 1, 1};  ///< of the bending energy
  std::array<float, 3> limit{1, 1, 1};       ///< of the length of a step along each axis
  float momentum = 0;                        ///< 0 to below 1
};

/// One step of accelerated descent, preconditioned at each control point. With c, the control
/// points after the step before, and y, those at which the forces are given:
///   s = clamp(P (force f - smoothness B y)), c' = y + s, y' = c' + momentum (c' - c)
/// B y is half the derivative of the bending energy: the sum of squared second differences along
/// each axis, and twice those of mixed ones, over the control points that have the neighbours. P is
/// symmetric: xx, xy, yy in the plane, else xx, xy, xz, yy, yz, zz. All images are f32.
class WARPALIGN_API DeformationStepPlan {
 public:
  DeformationStepPlan(const Device& device, const DeformationStepSpec& spec);
  /// `next` becomes y', and `coefficients` changes from c to c': grids(dimensions()), as are
  /// `forces` and `point`, y. `preconditioner`: grids(entries()).
  void execute(Stream& stream, const Image& forces, const Image& preconditioner,
               const DeformationStepFactors& factors, const Image& point, Image& coefficients,
               Image& next) const;

 private:
  Device device_;
  DeformationStepSpec spec_;
  std::shared_ptr<backend::DeformationStep> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

class DeformationStep : public Stage {
 public:
  using Setup = DeformationStepSpec;

  virtual void enqueue(Queue& queue, const Memory& forces, const Memory& preconditioner,
                       const DeformationStepFactors& factors, const Memory& point,
                       Memory& coefficients, Memory& next) = 0;
};

}  // namespace warpalign::backend
