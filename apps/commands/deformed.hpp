// Resamples images and volumes by the transform of a deformable registration.
#pragma once

#include "io/array_file.hpp"
#include "io/image_file.hpp"

#include <warpalign/deformation.hpp>
#include <warpalign/device.hpp>
#include <warpalign/stages/resample.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace warpalign::program {

/// Where the pixels of a grid of 2 or 3 axes lie in another image: an array for each axis, x first.
class Positions {
 public:
  /// The transformed pixels of a grid. `extents`: slowest axis first.
  Positions(const std::vector<std::int64_t>& extents, const Transform& transform);
  /// `values`: the positions themselves.
  Positions(const std::vector<std::int64_t>& extents, std::vector<float> values)
      : extents_(extents), values_(std::move(values)) {}

  [[nodiscard]] std::span<const float> values() const { return values_; }
  /// 1 for pixels of the grid whose positions lie within an array of `sampled` extents, else 0.
  [[nodiscard]] std::vector<std::uint8_t> inside(const std::vector<std::int64_t>& sampled) const;

 private:
  std::vector<std::int64_t> extents_;
  std::vector<float> values_;
};

/// Samples arrays and images at positions, by their cubic spline. Creates plans and memory once for
/// each type and shape.
class PositionSampler {
 public:
  /// `grid`: the extents of all results, slowest axis first.
  PositionSampler(const Device& device, const std::vector<std::int64_t>& grid);

  /// Of the array's type; 0 outside of it, and missing where too few of the samples are known.
  /// Samples are missing if they have the value `nodata`, or are not finite.
  [[nodiscard]] Array sample(const Array& array, const Positions& positions,
                             std::optional<double> nodata = {});
  /// The same for all channels of an image.
  [[nodiscard]] LoadedImage sample(const LoadedImage& image, const Positions& positions,
                                   std::optional<double> nodata = {});

 private:
  struct Plan {
    ResamplePlan resample;
    Image input, output;
  };
  /// The types, whether values are prefiltered, as those of masks are not, and the shape.
  using Key = std::tuple<PixelType, PixelType, bool, std::int64_t, std::int64_t, std::int64_t>;
  Plan& plan_of(const Array& array, PixelType result, const SplineModel& by);
  [[nodiscard]] Array sampled(const Array& array, PixelType result, const SplineModel& by);

  Device device_;
  std::vector<std::int64_t> grid_;
  Stream stream_;
  std::optional<Image> coordinates_;
  std::map<Key, Plan> plans_;
};

/// The displacements T(p) - p of the pixels of a grid, f32, of shape (axes, extents): along x, then
/// y, then z.
[[nodiscard]] Array displacements(const std::vector<std::int64_t>& extents,
                                  const Transform& transform);

/// The determinants of the Jacobian matrix of the B-spline alone, f32, of shape `extents`: the
/// factors by which it changes areas or volumes.
[[nodiscard]] Array jacobians(const std::vector<std::int64_t>& extents,
                              const Deformation& deformation);

/// local_agreement() of two arrays of the same shape (of 2 or 3 axes) and any real types, f32.
/// Pixels are unknown where `inside` is 0.
[[nodiscard]] Array agreement(const Array& reference, const Array& aligned,
                              const std::vector<std::uint8_t>& inside);

}  // namespace warpalign::program
