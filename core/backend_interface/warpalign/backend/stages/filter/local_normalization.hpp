// Stage: local normalization of brightness and contrast.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/backend/stages/filter/axis_weights.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <memory>

namespace warpalign {

namespace backend {
class LocalNormalization;
}

struct LocalNormalizationSpec {
  Shape shape;          ///< of input and output; depth 1
  double sigma = 3;     ///< standard deviation in pixels of the Gaussian neighbourhood, > 0
  bool masked = false;  ///< whether a weight image says which pixels count
  std::int64_t images =
      1;  ///< of this shape, stacked along the depth; each is normalized by itself
};

/// (v - m) / sqrt(d^2 + floor^2), where m and d are the mean and the standard deviation of the
/// surrounding pixels, weighted by a Gaussian that is cut off at 4 sigma along each axis; pixels
/// outside the image do not take part. This removes uneven illumination, gain and offset. Input and
/// output f32.
class WARPALIGN_API LocalNormalizationPlan {
 public:
  LocalNormalizationPlan(const Device& device, const LocalNormalizationSpec& spec);
  /// `mean`: approximately the input's mean; it keeps squares accurate in single precision.
  /// `floor`: the contrast below which nothing is amplified, > 0.
  void execute(Stream& stream, const Image& input, float mean, float floor, Image& output) const;
  /// `weight`: f32, from 0 to 1, how much a pixel counts; the output is 0 where it is below 1/2.
  void execute(Stream& stream, const Image& input, const Image& weight, float mean, float floor,
               Image& output) const;

 private:
  Device device_;
  LocalNormalizationSpec spec_;
  std::shared_ptr<backend::LocalNormalization> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

class LocalNormalization : public Stage {
 public:
  /// Images that are stacked are one tall image here, `spec.images` is 1, and the weights say which
  /// rows belong together.
  struct Setup {
    const LocalNormalizationSpec& spec;
    const PlaneWeights& weights;
  };

  /// `weight` is null unless `masked` is set.
  virtual void enqueue(Queue& queue, const Memory& input, const Memory* weight, float mean,
                       float floor, Memory& output) = 0;
};

}  // namespace warpalign::backend
