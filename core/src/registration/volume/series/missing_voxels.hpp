// The voxels of a volume of a series that are NaN or infinite.
#pragma once

#include "registration/volume/series/voxel_places.hpp"

#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/pixel.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Which voxels are missing, and the volume with other values in their place.
class MissingVoxels {
 public:
  /// Nothing if no voxel is missing. Throws Error(invalid_image) if all are.
  [[nodiscard]] static std::optional<MissingVoxels> of(const HostVolume& volume);

  [[nodiscard]] std::int64_t count() const { return count_; }
  /// u8: 1 where the voxel is known, else 0.
  [[nodiscard]] HostVolume known() const { return {known_.data(), PixelType::u8, shape_}; }
  /// The volume's samples, in its type.
  [[nodiscard]] const std::vector<std::byte>& filled() const { return filled_; }

  /// Sets the weights of voxels to 0 from which a missing one is at most two voxels away along each
  /// axis: as far as the derivatives of a fit reach.
  void exclude_unknown(std::span<float> weights) const;
  /// The same for the voxels whose place in this volume, by `transform`, is at most 1.5 voxels from
  /// a missing one along each axis: as far as a cubic spline gives one a weight that matters.
  void exclude_unknown(const HomogeneousMatrix& transform, std::span<float> weights) const;
  /// Sets the voxels of a warped volume to NaN for which less than half of the spline's support is
  /// known (min_known_share).
  void set_missing(const HomogeneousMatrix& transform, PixelType type, void* warped) const;
  /// The same for the places of the voxels.
  void set_missing(const VoxelPlaces& places, PixelType type, void* warped) const;

 private:
  MissingVoxels(const Shape& shape, std::vector<std::uint8_t> known, std::int64_t count);

  [[nodiscard]] double known_share(double x, double y, double z) const;
  /// Whether less than half of the spline's support at a place is known.
  [[nodiscard]] bool is_missing_at(double x, double y, double z) const;

  Shape shape_;
  std::vector<std::uint8_t> known_;
  std::vector<std::uint8_t> near_known_;  ///< 1 if all voxels up to 1 away are known
  std::vector<std::uint8_t> near_any_;    ///< 1 if one of the voxels up to 2 away is missing
  std::int64_t count_;
  std::vector<std::byte> filled_;
};

}  // namespace warpalign::detail
