// Stage: sums over what two shifted volumes have in common.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace warpalign {

namespace backend {
class VolumeSums;
}

struct VolumeSumsSpec {
  Shape reference;           ///< of the f32 reference volume
  Shape moving;              ///< of the f32 moving volume
  int reference_margin = 1;  ///< voxels at the reference's faces that do not count in step(); >= 1
};

/// Whole voxels along x, y and z: reference voxel p is compared with moving voxel p + shift.
using VoxelShift = std::array<std::int64_t, 3>;

/// Sums over the voxels that two volumes have in common.
struct VolumeMoments {
  double voxels = 0;            ///< how many they are
  double reference = 0;         ///< sum of r
  double moving = 0;            ///< sum of m
  double reference_square = 0;  ///< sum of r^2
  double moving_square = 0;     ///< sum of m^2
  double product = 0;           ///< sum of r m
};

/// What a step towards the shift needs: the moments, and sums of products with the slopes a_i of
/// the reference (half the difference of the neighbours along axis i) and b_i of the moving volume.
struct VolumeStepSums : VolumeMoments {
  std::array<double, 9> slopes{};           ///< sum of a_i b_j, row-major
  std::array<double, 3> slope_reference{};  ///< sum of a_i r
  std::array<double, 3> slope_moving{};     ///< sum of a_i m
  std::array<double, 3> slope{};            ///< sum of a_i
};

/// One pass over the overlap for each shift: products in single precision, summed by work groups,
/// and added up in double on the host.
class WARPALIGN_API VolumeSumsPlan {
 public:
  static constexpr std::size_t max_shifts = 128;  ///< at once

  VolumeSumsPlan(const Device& device, const VolumeSumsSpec& spec);

  /// For each of the shifts, of which there are at most `most_shifts`. Waits. The plan keeps them
  /// until it is asked again.
  [[nodiscard]] std::span<const VolumeMoments> moments(Stream& stream, const Image& reference,
                                                       const Image& moving,
                                                       std::span<const VoxelShift> shifts) const&;
  std::span<const VolumeMoments> moments(Stream& stream, const Image& reference,
                                         const Image& moving,
                                         std::span<const VoxelShift> shifts) const&& = delete;

  /// At a shift (x, y, z) of any fraction: m and its slopes are those of sum_k moving(k)
  /// beta_3(q - k), the cubic B-spline with the voxels themselves as coefficients, at q = p +
  /// shift. That smooths the moving volume; a reference smoothed alike (see VolumeRegistrar) is
  /// equal to it at the right shift. Counted are the voxels p that the reference's margin leaves
  /// and for which the spline takes only voxels that exist. Waits.
  [[nodiscard]] VolumeStepSums step(Stream& stream, const Image& reference, const Image& moving,
                                    const std::array<double, 3>& shift) const;

 private:
  struct Work;
  void check(const Stream& stream, const Image& reference, const Image& moving) const;

  Device device_;
  VolumeSumsSpec spec_;
  std::shared_ptr<backend::VolumeSums> kernel_;
  std::shared_ptr<Work> work_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// Reference voxels `first` to `first + size`, not empty, each compared with the moving voxel (or,
/// at a fraction, the spline's cell) `shift` further on. All that is read exists.
struct VolumeBox {
  std::array<std::int64_t, 3> first{};
  std::array<std::int64_t, 3> size{};
  VoxelShift shift{};
};

/// Sums of one work group: those of VolumeMoments but the first; and of VolumeStepSums its members
/// in their order (18), then the same moments (5).
inline constexpr std::size_t volume_moment_count = 5;
inline constexpr std::size_t volume_step_count = 23;

class VolumeSums : public Stage {
 public:
  using Setup = VolumeSumsSpec;

  /// Work groups, each of which writes its sums: sum i of group g and slot s stands at
  /// (s count + i) groups() + g.
  [[nodiscard]] virtual std::size_t groups() const noexcept = 0;
  virtual void enqueue_moments(Queue& queue, const Memory& reference, const Memory& moving,
                               const VolumeBox& box, std::size_t slot, Memory& partials) = 0;
  /// In slot 0.
  virtual void enqueue_step(Queue& queue, const Memory& reference, const Memory& moving,
                            const VolumeBox& box, const std::array<float, 3>& fraction,
                            Memory& partials) = 0;
};

}  // namespace warpalign::backend
