// Stage: local normalization of brightness and contrast.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/backend/stages/filter/axis_weights.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace warpalign {

namespace backend {
class LocalNormalization;
}

struct LocalNormalizationSpec {
  Shape shape;              ///< of input and output; depth 1
  double sigma = 3;         ///< standard deviation in pixels of the Gaussian neighbourhood, > 0
  bool masked = false;      ///< whether a weight image tells which pixels are ignored
  std::int64_t images = 1;  ///< number of images, stacked along the depth, normalized separately
  bool by_image = false;    ///< whether each image has levels of its own; not with `masked`
};

/// The levels of an image that local normalization needs.
struct LocalLevels {
  float mean = 0;   ///< approximately the image's mean; keeps squares accurate in single precision
  float floor = 1;  ///< > 0; limits the amplification where the contrast d is below it
};

/// Computes (v - m) / sqrt(d^2 + floor^2), where m and d are the mean and the standard deviation of
/// the surrounding pixels, weighted by a Gaussian that is truncated at 4 sigma along each axis.
/// Pixels outside the image have no weight. This removes uneven illumination, gain and offset.
/// Input and output: f32.
class WARPALIGN_API LocalNormalizationPlan {
 public:
  LocalNormalizationPlan(const Device& device, const LocalNormalizationSpec& spec);
  void execute(Stream& stream, const Image& input, const LocalLevels& levels, Image& output) const;
  /// `weight`: f32, the weight of each pixel, 0 to 1. The output is 0 if it is below 1/2.
  void execute(Stream& stream, const Image& input, const Image& weight, const LocalLevels& levels,
               Image& output) const;
  /// With `by_image`: the levels of each image.
  void execute(Stream& stream, const Image& input, std::span<const LocalLevels> levels,
               Image& output) const;

 private:
  void check_call(const Stream& stream, const Image& input, const Image& output) const;

  Device device_;
  LocalNormalizationSpec spec_;
  std::shared_ptr<backend::LocalNormalization> kernel_;
  std::shared_ptr<Buffer> levels_;  ///< of each image
};

}  // namespace warpalign

namespace warpalign::backend {

/// LocalLevels as kernels need them.
struct SquaredLevels {
  float mean = 0;
  float floor_square = 1;
};

/// The levels of all images, or of each.
struct KnownLevels {
  SquaredLevels of_all;
  const Memory* of_each = nullptr;  ///< with `by_image`: SquaredLevels of each image
};

class LocalNormalization : public Stage {
 public:
  /// Core passes stacked images as one tall image with `spec.images` = 1. The weights keep their
  /// rows apart.
  struct Setup {
    const LocalNormalizationSpec& spec;
    const PlaneWeights& weights;
    std::int64_t rows_of_image;  ///< of the tall image
  };

  /// `weight` is null unless `masked` is set.
  virtual void enqueue(Queue& queue, const Memory& input, const Memory* weight,
                       const KnownLevels& levels, Memory& output) = 0;
};

}  // namespace warpalign::backend
