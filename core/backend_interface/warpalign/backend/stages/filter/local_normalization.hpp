// Stage: brightness and contrast evened out locally.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/backend/stages/filter/axis_weights.hpp>
#include <warpalign/device.hpp>

#include <memory>

namespace warpalign {

namespace backend {
class LocalNormalization;
}

struct LocalNormalizationSpec {
  Shape shape;       ///< of input and output; depth 1
  double sigma = 3;  ///< standard deviation in pixels of the Gaussian that says what is local, > 0
  bool masked = false;  ///< whether weights tell which pixels count
};

/// (v - m) / sqrt(d^2 + floor^2), with the mean m and the standard deviation d of the pixels
/// around, weighted by a Gaussian that is cut off at 4 sigma along each axis; pixels outside of the
/// image do not take part. Uneven light, gain and offset fall out. Input and output f32.
class WARPALIGN_API LocalNormalizationPlan {
 public:
  LocalNormalizationPlan(const Device& device, const LocalNormalizationSpec& spec);
  /// `mean`: about the input's mean, so that squares lose nothing in single precision; `floor`: the
  /// contrast below which nothing is amplified, > 0.
  void execute(Stream& stream, const Image& input, float mean, float floor, Image& output) const;
  /// `weight`: f32, 0 to 1, how much a pixel counts; the output is 0 where it is below 1/2.
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
  struct Setup {
    const LocalNormalizationSpec& spec;
    const PlaneWeights& weights;
  };

  /// `weight` is null unless masked.
  virtual void enqueue(Queue& queue, const Memory& input, const Memory* weight, float mean,
                       float floor, Memory& output) = 0;
};

}  // namespace warpalign::backend
