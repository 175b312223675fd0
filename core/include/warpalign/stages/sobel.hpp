// Stage: gradient magnitude by the 3 x 3 Sobel operator.
#pragma once

#include <warpalign/device.hpp>

namespace warpalign {

namespace backend {
class Sobel;
}

/// The kernels of the gradient magnitude. Both give identical results.
enum class SobelMethod {
  packed,  ///< a block of pixels per thread, four per load (registration paper, section 4: 4 x 2)
  plain    ///< one pixel per thread, reading its neighbours one by one (a baseline)
};

/// What a SobelPlan is made for.
struct SobelSpec {
  PixelType input = PixelType::u8;           ///< u8, u16 or f32
  Shape shape;                               ///< of input and output; depth 1
  SobelMethod method = SobelMethod::packed;  ///< which kernel
};

/// The signal that a stage computes from its input image.
enum class Signal {
  pixels,   ///< the pixels themselves
  gradient  ///< the gradient magnitude as computed by SobelPlan, computed on the fly
};

/// Computes the gradient magnitude sqrt(gx^2 + gy^2) of an image, with
/// gx = [-1 0 1; -2 0 2; -1 0 1] and gy its transpose (registration paper, section 4), without a
/// scale factor. Pixels beyond the edge repeat the edge. Output: f32, same shape.
///
/// The constructor throws Error(invalid_argument) for a wrong spec, and Error(build_failed) if a
/// kernel does not compile. Executions throw Error(invalid_argument) for images of another
/// device, type or shape, before anything is enqueued.
class WARPALIGN_API SobelPlan {
 public:
  /// Throws Error(invalid_argument) for other pixel types or an empty shape.
  SobelPlan(const Device& device, const SobelSpec& spec);
  /// Enqueues the computation. `output` may not be `input`.
  void execute(Stream& stream, const Image& input, Image& output) const;

 private:
  Device device_;
  SobelSpec spec_;
  std::shared_ptr<backend::Sobel> kernel_;
};

}  // namespace warpalign
