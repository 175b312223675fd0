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

/// The terms of a slice in the form of the kernels.
struct DoubleAngleFactors {
  float mean_cosine, mean_sine, gain;
};
}  // namespace backend

struct DoubleAngleSpec {
  Shape image;              ///< of one slice of the input and the outputs; depth 1
  std::int64_t slices = 1;  ///< number of slices; one execution computes one or more
  float epsilon = 0.05F;    ///< the squared gradient at which the result has half its full length
};

/// A linear map of the result at every pixel that is not masked: (result - mean) gain.
struct DoubleAngleTerms {
  Point mean{};     ///< mean cosine and sine, which are subtracted
  double gain = 1;  ///< factor of the difference
};

/// Computes the double-angle representation (gx + i gy)^2 / (|g|^2 + epsilon) of the gradient
/// g = (gx, gy) by central differences (Granlund 1978; the regularisation is that of the normalised
/// gradient fields of Haber & Modersitzki 2006). The doubled angle is the same for an edge and its
/// inverse. The result is 0 if the pixel or one of its four neighbours has a weight below 0.99, and
/// at the edges of the slice. Input, weight and both outputs: f32.
class WARPALIGN_API DoubleAnglePlan {
 public:
  DoubleAnglePlan(const Device& device, const DoubleAngleSpec& spec);
  void execute(Stream& stream, const Image& input, const Image& weight,
               const DoubleAngleTerms& terms, Image& cosines, Image& sines,
               std::int64_t slice = 0) const;
  /// The same for several slices, from `first_slice` on, each with its own terms.
  void execute(Stream& stream, const Image& input, const Image& weight,
               std::span<const DoubleAngleTerms> terms, Image& cosines, Image& sines,
               std::int64_t first_slice = 0) const;
  /// Computes, for all slices, the representation of gradients that are rotated by `rotation`
  /// radians, from x towards y. It commutes with smoothing.
  void turn(Stream& stream, const Image& cosines, const Image& sines, double rotation,
            Image& rotated_cosines, Image& rotated_sines) const;

 private:
  [[nodiscard]] Shape stack() const {
    return {spec_.image.width, spec_.image.height, spec_.slices};
  }

  Device device_;
  DoubleAngleSpec spec_;
  std::shared_ptr<backend::DoubleAngle> kernel_;
  std::shared_ptr<std::vector<backend::DoubleAngleFactors>> factors_;  ///< of the last execution
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

/// A representation and its rotated copy.
struct RotatedMemory {
  const Memory& cosines;
  const Memory& sines;
  Memory& rotated_cosines;
  Memory& rotated_sines;
};

class DoubleAngle : public Stage {
 public:
  using Setup = DoubleAngleSpec;

  /// `slices`: the terms of slice `first_slice` and the following slices; not empty.
  virtual void enqueue(Queue& queue, const DoubleAngleMemory& memory,
                       std::span<const DoubleAngleFactors> slices, std::int64_t first_slice) = 0;
  /// Rotates all slices. `cosine` and `sine` are those of twice the rotation angle.
  virtual void enqueue_rotated(Queue& queue, const RotatedMemory& memory, float cosine,
                               float sine) = 0;
};

}  // namespace warpalign::backend
