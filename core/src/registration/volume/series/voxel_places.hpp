// Where a transform leads the voxels of a volume.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/transform.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The places of all voxels of a shape, on the host and on the device, in single precision.
class VoxelPlaces {
 public:
  VoxelPlaces(const Device& device, const Shape& shape);

  /// `transform`: of three dimensions. Waits for the device.
  void compute(Stream& stream, const Transform& transform);

  /// As InterpolatePlan takes them: all x, then all y, then all z.
  [[nodiscard]] const Image& coordinates() const { return coordinates_; }
  [[nodiscard]] std::span<const float> x() const { return axis(0); }
  [[nodiscard]] std::span<const float> y() const { return axis(1); }
  [[nodiscard]] std::span<const float> z() const { return axis(2); }

 private:
  [[nodiscard]] std::span<const float> axis(std::size_t number) const {
    const std::size_t voxels = values_.size() / 3;
    return std::span(values_).subspan(number * voxels, voxels);
  }
  void compute_on_device(Stream& stream, const Transform& transform);
  void compute_on_host(const Transform& transform);

  Device device_;
  PointGrid grid_;
  Image coordinates_;
  std::vector<float> values_;
};

}  // namespace warpalign::detail
