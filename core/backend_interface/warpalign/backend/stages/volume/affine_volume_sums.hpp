// Stage: the sums for one Gauss-Newton step on the affine transform between two volumes.
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
  int margin = 1;               ///< voxels at the reference's faces that do not count; at least 1
  std::int64_t max_states = 1;  ///< evaluated at once, at most
  bool marked = false;          ///< NaN in either volume marks voxels that do not count
};

/// A transform at which the sums are computed, as the device reads it.
struct AffineVolumeState {
  /// Three rows (a b c d) that map (u, 1), where u = p - (reference sides - 1) / 2 is a reference
  /// voxel counted from the centre, to a moving voxel.
  std::array<float, 12> rows{};
  float gain = 1, offset = 0;  ///< m is compared with gain r + offset
  float inverse_scale = 0;     ///< of Tukey's weights: 1 / scale; 0: all voxels count equally
  std::int32_t active = 1;     ///< 0: left out, and its sums stay as they are
};

/// The sums at one state. r is the reference's value, a its gradient; m is the moving volume's
/// value and b its gradient with respect to the reference's coordinates; q = (2 u / side, 1) with
/// the largest of the reference's sides; w is Tukey's biweight of the residual e = m - gain r -
/// offset.
struct AffineVolumeSums {
  /// Sum of w S_ik q_j q_l, with S = (a b' + b a') / 2. Row 4 i + j and column 4 k + l of a
  /// symmetric matrix, whose entries are all here.
  std::array<double, 144> matrix{};
  std::array<double, 12> vector{};  ///< sum of w a_i q_j e, at 4 i + j
  double weight = 0;                ///< sum of w
  /// Sums of w r, w m, w r r, w m m and w r m.
  double r = 0, m = 0, rr = 0, mm = 0, rm = 0;
  double voxels = 0;    ///< that count
  double absolute = 0;  ///< sum of |e|
};

/// One pass over the reference for all states. The moving volume is the spline sum_k moving(k)
/// beta_3(p - k), as in VolumeSumsPlan; the reference is to be smoothed alike. Its gradient is half
/// the difference of the neighbours. Voxels count outside the margin, where the spline needs only
/// voxels that exist; in marked volumes, where none of the voxels that they need is NaN. Products
/// are computed in single precision and summed by work groups; the host adds up the sums of the
/// groups in double precision.
class WARPALIGN_API AffineVolumeSumsPlan {
 public:
  AffineVolumeSumsPlan(const Device& device, const AffineVolumeSumsSpec& spec);
  /// `sums`: one for each of the states, of which there are at most `max_states`. Waits for the
  /// result.
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
/// yz, zz of S by the upper triangle of q q'), the vector, and the others in their order. Sum i of
/// part p of a state is stored at (state affine_volume_sum_count + i) parts + p.
inline constexpr std::size_t affine_volume_sum_count = 80;

struct AffineVolumeSumsMemory {
  const Memory& reference;
  const Memory& moving;
  const Memory& states;
};

class AffineVolumeSums : public Stage {
 public:
  using Setup = AffineVolumeSumsSpec;

  /// Into how many parts the reference is divided, each of them a work group for each state.
  [[nodiscard]] virtual int parts() const noexcept = 0;
  /// `states`: how many there are.
  virtual void enqueue(Queue& queue, const AffineVolumeSumsMemory& memory, std::int64_t states,
                       Memory& partials) = 0;
};

/// The number of parts that serve a reference of so many voxels: enough to fill a device, and no
/// more than its work groups have rows for.
[[nodiscard]] constexpr int affine_volume_parts(const Shape& reference, std::int64_t max_states) {
  constexpr std::int64_t groups = 1024;
  const std::int64_t rows = reference.height * reference.depth;
  const std::int64_t wanted = (groups + max_states - 1) / max_states;
  const std::int64_t useful = (rows + 3) / 4;
  return static_cast<int>(wanted < useful ? wanted : useful);
}

}  // namespace warpalign::backend
