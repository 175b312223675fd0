// Stage: sums over the overlap of two shifted volumes.
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
  int reference_margin = 1;  ///< voxels at the reference's faces that step() ignores; >= 1
  bool marked = false;       ///< whether voxels that are NaN in either volume are ignored
};

/// A shift by whole voxels along x, y and z: reference voxel p corresponds to moving voxel p +
/// shift.
using VoxelShift = std::array<std::int64_t, 3>;

/// Sums over the voxels of the overlap.
struct VolumeMoments {
  double voxels = 0;            ///< number of voxels
  double reference = 0;         ///< sum of r
  double moving = 0;            ///< sum of m
  double reference_square = 0;  ///< sum of r^2
  double moving_square = 0;     ///< sum of m^2
  double product = 0;           ///< sum of r m
};

/// The sums for a Gauss-Newton step of the shift: the moments, and sums of products with the slopes
/// a_i of the reference (half the difference of the neighbours along axis i) and b_i of the moving
/// volume.
struct VolumeStepSums : VolumeMoments {
  std::array<double, 9> slopes{};           ///< sum of a_i b_j, row-major
  std::array<double, 3> slope_reference{};  ///< sum of a_i r
  std::array<double, 3> slope_moving{};     ///< sum of a_i m
  std::array<double, 3> slope{};            ///< sum of a_i
};

/// Computes the sums in one pass over the overlap for each shift. Work groups sum in single
/// precision; the host adds their sums in double precision. In marked volumes, a pair of voxels is
/// ignored if one of the voxels that it needs is NaN.
class WARPALIGN_API VolumeSumsPlan {
 public:
  static constexpr std::size_t max_shifts = 128;  ///< in one call of moments()

  VolumeSumsPlan(const Device& device, const VolumeSumsSpec& spec);

  /// Computes the moments at each shift, for at most `max_shifts` shifts. Waits for the result,
  /// which is valid until the next call.
  [[nodiscard]] std::span<const VolumeMoments> moments(Stream& stream, const Image& reference,
                                                       const Image& moving,
                                                       std::span<const VoxelShift> shifts) const&;
  std::span<const VolumeMoments> moments(Stream& stream, const Image& reference,
                                         const Image& moving,
                                         std::span<const VoxelShift> shifts) const&& = delete;

  /// Computes the sums at a fractional shift (x, y, z). m and its slopes are those of sum_k
  /// moving(k) beta_3(q - k), the cubic B-spline with the voxels as coefficients, at q = p + shift.
  /// This smooths the moving volume; a reference smoothed in the same way (see VolumeRegistrar)
  /// equals it at the right shift. The sums include voxels p outside the reference's margin if all
  /// voxels that the spline needs exist. Waits for the result.
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

/// A non-empty box of reference voxels, from `first` up to but excluding `first + size`. Each
/// corresponds to the moving voxel (or, at a fractional shift, the spline's cell) `shift` away. All
/// voxels that the kernel reads exist.
struct VolumeBox {
  std::array<std::int64_t, 3> first{};
  std::array<std::int64_t, 3> size{};
  VoxelShift shift{};
};

/// The number of sums of one work group. For moments: the members of VolumeMoments except the
/// first. For a step: the members of VolumeStepSums itself in their order (18), then the same
/// moments (5).
inline constexpr std::size_t volume_moment_count = 5;
inline constexpr std::size_t volume_step_count = 23;

/// The additional sums of marked volumes: the number of voxels, which comes last.
[[nodiscard]] constexpr std::size_t added_count(const VolumeSumsSpec& spec) {
  return spec.marked ? 1 : 0;
}

class VolumeSums : public Stage {
 public:
  using Setup = VolumeSumsSpec;

  /// The number of work groups, each of which writes its own sums. With `count` sums per slot, sum
  /// i of group g in slot s is stored at (s count + i) groups() + g, where the count includes
  /// added_count().
  [[nodiscard]] virtual std::size_t groups() const noexcept = 0;
  virtual void enqueue_moments(Queue& queue, const Memory& reference, const Memory& moving,
                               const VolumeBox& box, std::size_t slot, Memory& partials) = 0;
  /// Writes to slot 0.
  virtual void enqueue_step(Queue& queue, const Memory& reference, const Memory& moving,
                            const VolumeBox& box, const std::array<float, 3>& fraction,
                            Memory& partials) = 0;
};

}  // namespace warpalign::backend
