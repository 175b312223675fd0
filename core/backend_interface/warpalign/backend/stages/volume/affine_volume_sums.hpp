// Stage: the sums for one Gauss-Newton step of the affine transform between two volumes.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace warpalign {

namespace backend {
class AffineVolumeSums;
}
namespace detail {
template <class Record>
class Results;
}

struct AffineVolumeSumsSpec {
  Shape reference;              ///< of the f32 reference volume
  Shape moving;                 ///< of the f32 moving volume
  int margin = 1;               ///< ignored voxels at the reference's faces; at least 1
  std::int64_t max_states = 1;  ///< largest number of states per execution
  bool marked = false;          ///< whether voxels that are NaN in either volume are ignored
};

/// A transform at which the sums are computed, in the layout of the device.
struct AffineVolumeState {
  /// Three rows (a b c d) that map (u, 1), where u = p - (reference sides - 1) / 2 is a reference
  /// voxel counted from the centre, to a moving voxel.
  std::array<float, 12> rows{};
  float gain = 1, offset = 0;  ///< m is compared with gain r + offset
  float inverse_scale = 0;     ///< 1 / scale of Tukey's weights; 0: unit weights
  std::int32_t active = 1;     ///< 0: the state is skipped, and its sums do not change
};

/// The sums at one state. r is the reference's value and a its gradient; m is the moving volume's
/// value and b its gradient with respect to the reference's coordinates; q = (2 u / side, 1), where
/// side is the largest side of the reference; w is Tukey's biweight of the residual
/// e = m - gain r - offset.
struct AffineVolumeSums {
  /// Sum of w S_ik q_j q_l in row 4 i + j and column 4 k + l, with S = (a b' + b a') / 2: a
  /// symmetric matrix with all its entries.
  std::array<double, 144> matrix{};
  std::array<double, 12> vector{};  ///< sum of w a_i q_j e, at 4 i + j
  double weight = 0;                ///< sum of w
  /// Sums of w r, w m, w r r, w m m and w r m.
  double r = 0, m = 0, rr = 0, mm = 0, rm = 0;
  double voxels = 0;    ///< number of voxels
  double absolute = 0;  ///< sum of |e|
};

/// Computes the sums at all states in one pass over the reference. The moving volume is the spline
/// sum_k moving(k) beta_3(p - k), as in VolumeSumsPlan; smooth the reference equally before. The
/// reference's gradient is half the difference of the neighbours. The sums include voxels outside
/// the margin if all voxels that they need exist and, in marked volumes, are not NaN. Work groups
/// sum in single precision; the host adds their sums in double precision.
class WARPALIGN_API AffineVolumeSumsPlan {
 public:
  AffineVolumeSumsPlan(const Device& device, const AffineVolumeSumsSpec& spec);
  /// `sums`: one for each state. There are at most `max_states` states. Waits for the result.
  void execute(Stream& stream, const Image& reference, const Image& moving,
               std::span<const AffineVolumeState> states, std::span<AffineVolumeSums> sums) const;

 private:
  Device device_;
  AffineVolumeSumsSpec spec_;
  std::shared_ptr<backend::AffineVolumeSums> kernel_;
  std::shared_ptr<Buffer> states_;
  std::shared_ptr<detail::Results<float>> partials_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// The number of sums of one work group: the 60 different entries of the matrix (xx, xy, xz, yy,
/// yz, zz of S times the upper triangle of q q'), the vector, and the others in their order. Sum i
/// of part p of a state is stored at (state affine_volume_sum_count + i) parts + p.
inline constexpr std::size_t affine_volume_sum_count = 80;

struct AffineVolumeSumsMemory {
  const Memory& reference;
  const Memory& moving;
  const Memory& states;
};

class AffineVolumeSums : public Stage {
 public:
  using Setup = AffineVolumeSumsSpec;

  /// The number of parts of the reference. A work group sums one part at one state.
  [[nodiscard]] virtual int parts() const noexcept = 0;
  /// `states`: the number of states.
  virtual void enqueue(Queue& queue, const AffineVolumeSumsMemory& memory, std::int64_t states,
                       Memory& partials) = 0;
};

/// A number of parts that fills a device, limited so that each part has at least four rows.
[[nodiscard]] constexpr int affine_volume_parts(const Shape& reference, std::int64_t max_states) {
  constexpr std::int64_t groups = 1024;
  const std::int64_t rows = reference.height * reference.depth;
  const std::int64_t wanted = (groups + max_states - 1) / max_states;
  const std::int64_t useful = (rows + 3) / 4;
  return static_cast<int>(wanted < useful ? wanted : useful);
}

}  // namespace warpalign::backend
