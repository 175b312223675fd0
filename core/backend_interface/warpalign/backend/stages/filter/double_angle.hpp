// Stage: the double-angle representation of an image's gradient.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace warpalign {

namespace backend {
class DoubleAngle;

/// The terms of a slice, as kernels take them.
struct DoubleAngleFactors {
  float mean_cosine, mean_sine, gain;
};
}  // namespace backend

struct DoubleAngleSpec {
  Shape image;              ///< one slice of the input and of the outputs; depth 1
  std::int64_t slices = 1;  ///< of all of them; one execution computes one
  float epsilon = 0.05F;  ///< the squared slope whose result is half as long as that of a steep one
};

/// What is done to the representation of every pixel that counts.
struct DoubleAngleTerms {
  Point mean{};     ///< what is subtracted: cosine and sine
  double gain = 1;  ///< by which the difference is multiplied
};

/// Of the gradient g = (gx, gy), by central differences, the representation
/// (gx + i gy)^2 / (|g|^2 + epsilon) (Granlund 1978; the regularisation is that of the normalised
/// gradient fields of Haber & Modersitzki 2006). Twice the angle is the same for an edge and for
/// one of reversed contrast. 0 where the pixel or one of its four neighbours has a weight below
/// 0.99, and at the edges of the slice. Input, weight and both outputs: f32.
class WARPALIGN_API DoubleAnglePlan {
 public:
  DoubleAnglePlan(const Device& device, const DoubleAngleSpec& spec);
  void execute(Stream& stream, const Image& input, const Image& weight,
               const DoubleAngleTerms& terms, Image& cosines, Image& sines,
               std::int64_t slice = 0) const;
  /// The same for several slices, from `first_slice` on, each with terms of its own.
  void execute(Stream& stream, const Image& input, const Image& weight,
               std::span<const DoubleAngleTerms> terms, Image& cosines, Image& sines,
               std::int64_t first_slice = 0) const;
  /// The representation as it is where gradients are turned by `rotation` radians, from x towards
  /// y: of all slices. Smoothing may come before this or after it.
  void turn(Stream& stream, const Image& cosines, const Image& sines, double rotation,
            Image& turned_cosines, Image& turned_sines) const;

 private:
  [[nodiscard]] Shape stack() const {
    return {spec_.image.width, spec_.image.height, spec_.slices};
  }

  Device device_;
  DoubleAngleSpec spec_;
  std::shared_ptr<backend::DoubleAngle> kernel_;
  std::shared_ptr<std::vector<backend::DoubleAngleFactors>> factors_;  ///< of an execution
};

}  // namespace warpalign

namespace warpalign::backend {

/// The images of one execution.
struct DoubleAngleMemory {
  const Memory& input;
  const Memory& weight;
  Memory& cosines;
  Memory& sines;
};

/// A representation, and where it is written as it is once turned.
struct TurnedMemory {
  const Memory& cosines;
  const Memory& sines;
  Memory& turned_cosines;
  Memory& turned_sines;
};

class DoubleAngle : public Stage {
 public:
  using Setup = DoubleAngleSpec;

  /// `slices`: what is done to slice `first_slice` and those after it; not empty.
  virtual void enqueue(Queue& queue, const DoubleAngleMemory& memory,
                       std::span<const DoubleAngleFactors> slices, std::int64_t first_slice) = 0;
  /// Turns all slices, by an angle of twice which this is the direction.
  virtual void enqueue_turned(Queue& queue, const TurnedMemory& memory, float cosine,
                              float sine) = 0;
};

}  // namespace warpalign::backend
