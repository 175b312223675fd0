// Finds the point sources of an image on a device.
#pragma once

#include "registration/points/point_detection.hpp"
#include "registration/points/point_source.hpp"
#include "registration/resources/plan_cache.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The device smooths the images; the host finds the maxima and fits the spots. For images of one
/// type and shape, with masks or without.
class PointFinder {
 public:
  PointFinder(const Device& device, PixelType type, const Shape& shape, bool masked);
  PointFinder(const PointFinder&) = delete;
  PointFinder& operator=(const PointFinder&) = delete;

  [[nodiscard]] bool matches(PixelType type, bool masked) const {
    return type == type_ && masked == mask_weight_.has_value();
  }
  /// Returns the sources, without hot pixels; none if the image shows no spots. `mask` as in
  /// SmoothPlan, if the finder is for masks. Waits for the device. Valid until the next call.
  const PointSources& find(Stream& stream, StageClock& clock, const Image& pixels,
                           const Image* mask);
  /// The indices of the hot pixels of the image of the last call, in ascending order.
  [[nodiscard]] std::span<const std::size_t> hot() const { return hot_; }
  /// The f32 image of the last call with its hot pixels replaced by the mean of their neighbours.
  [[nodiscard]] const Image& without_hot_pixels() const { return converted_; }
  /// The host's copy of it, and the weights of its pixels, none without a mask.
  [[nodiscard]] std::span<const float> values_without_hot_pixels() const { return pixels_; }
  [[nodiscard]] std::span<const float> weights() const { return weights_; }

 private:
  void smooth(Stream& stream, const Image* mask, double sigma, std::vector<float>& values);
  void smooth_both(Stream& stream, const Image* mask, double sigma);
  [[nodiscard]] SmoothedPlanes planes() const;
  void replace_hot(Stream& stream);

  Device device_;
  PixelType type_;
  Shape shape_;
  SmoothPlan convert_;
  Image converted_, smoothed_;
  std::optional<Image> mask_weight_;
  PlanCache<double, SmoothPlan> plans_;
  std::vector<std::size_t> hot_;
  double sigma_ = 0;
  PointSources points_;
  // Host copies.
  std::vector<float> pixels_, weights_, narrow_, wide_, difference_;
};

}  // namespace warpalign::detail
