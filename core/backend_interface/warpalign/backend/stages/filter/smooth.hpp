// Stage: Gaussian smoothing and resampling to another grid.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/backend/stages/filter/axis_weights.hpp>
#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <cstdint>
#include <memory>

namespace warpalign {

namespace backend {
class Smooth;
}

struct SmoothSpec {
  PixelType input = PixelType::f32;  ///< u8, u16 or f32
  Shape shape;                       ///< of the input; depth 1
  Shape output;                      ///< of the output; depth 1
  Point origin;                      ///< position of output pixel (0, 0), in input pixels
  double spacing = 1;                ///< between output pixels, in input pixels; > 0
  double sigma = 1;     ///< standard deviation of the Gaussian in input pixels, 0 to 1000; 0: the
                        ///< nearest pixel
  bool masked = false;  ///< whether a mask tells which pixels are ignored
  std::int64_t images = 1;  ///< number of images, stacked along the depth, smoothed separately
};

/// Output pixel (i, j) is the mean of the input's pixels around origin + spacing (i, j), weighted
/// by a Gaussian that is truncated at 4 sigma along each axis. Pixels outside the image and masked
/// pixels have no weight; the weights of the others are scaled to the sum 1. Output: f32.
///
/// Every output pixel must lie within half a pixel of the image.
class WARPALIGN_API SmoothPlan {
 public:
  SmoothPlan(const Device& device, const SmoothSpec& spec);
  void execute(Stream& stream, const Image& input, Image& output) const;
  /// `mask`: u8 of the input's shape, 0 where a pixel is ignored (such a pixel may have any value,
  /// even NaN). `weight`: f32 of the output's shape, the fraction (0 to 1) of the Gaussian's weight
  /// within the image that lies on unmasked pixels; if it is 0, the output is 0.
  void execute(Stream& stream, const Image& input, const Image& mask, Image& output,
               Image& weight) const;

 private:
  Device device_;
  SmoothSpec spec_;
  std::shared_ptr<backend::Smooth> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

class Smooth : public Stage {
 public:
  /// Core passes stacked images as one tall image with `spec.images` = 1. The weights keep their
  /// rows apart.
  struct Setup {
    const SmoothSpec& spec;
    const PlaneWeights& weights;
  };

  virtual void enqueue(Queue& queue, const Memory& input, Memory& output) = 0;
  virtual void enqueue(Queue& queue, const Memory& input, const Memory& mask, Memory& output,
                       Memory& weight) = 0;
};

}  // namespace warpalign::backend
