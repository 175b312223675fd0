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
  Shape shape;              ///< of input and output; depth 1
  double sigma = 3;         ///< standard deviation in pixels of the Gaussian neighbourhood, > 0
  bool masked = false;      ///< whether a weight image tells which pixels are ignored
  std::int64_t images = 1;  ///< number of images, stacked along the depth, normalized separately
};

/// Computes (v - m) / sqrt(d^2 + floor^2), where m and d are the mean and the standard deviation of
/// the surrounding pixels, weighted by a Gaussian that is truncated at 4 sigma along each axis.
/// Pixels outside the image have no weight. This removes uneven illumination, gain and offset.
/// Input and output: f32.
class WARPALIGN_API LocalNormalizationPlan {
 public:
  LocalNormalizationPlan(const Device& device, const LocalNormalizationSpec& spec);
  /// `mean`: approximately the input's mean; it keeps squares accurate in single precision.
  /// `floor`: limits the amplification where the contrast d is below it; > 0.
  void execute(Stream& stream, const Image& input, float mean, float floor, Image& output) const;
  /// `weight`: f32, the weight of each pixel, 0 to 1. The output is 0 if it is below 1/2.
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
  /// Core passes stacked images as one tall image with `spec.images` = 1. The weights keep their
  /// rows apart.
  struct Setup {
    const LocalNormalizationSpec& spec;
    const PlaneWeights& weights;
  };

  /// `weight` is null unless `masked` is set.
  virtual void enqueue(Queue& queue, const Memory& input, const Memory* weight, float mean,
                       float floor, Memory& output) = 0;
};

}  // namespace warpalign::backend
