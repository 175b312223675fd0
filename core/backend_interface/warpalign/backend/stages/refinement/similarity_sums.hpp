// Stage: the sums for one Gauss-Newton step of registration by a similarity or a homography.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace warpalign {

namespace backend {
class SimilaritySums;
struct ResidentSums;
}  // namespace backend
namespace detail {
template <class Record>
class Results;
}

struct SimilaritySumsSpec {
  Shape reference;  ///< of the f32 reference image; depth 1
  Shape moving;     ///< of the moving image whose f32 cubic coefficients (mirror) are given
  int reference_margin = 0;   ///< pixels at the reference's edges that do not count; >= 0
  int moving_margin = 1;      ///< likewise of the moving image; >= 1
  bool masked = false;        ///< whether weight images say which pixels count
  int illumination_cell = 0;  ///< side in pixels of the cells of an illumination model (see
                              ///< IlluminationPlan) that replaces gain and offset; 0: none
  bool projective = false;    ///< the eight parameters of a homography instead of the four of a
                              ///< similarity
  std::size_t batch = 1;      ///< the most states that one call evaluates
  bool resident = false;      ///< whether the device has the states (FitStepPlan), not the host;
                              ///< without an illumination model
  friend bool operator==(const SimilaritySumsSpec&, const SimilaritySumsSpec&) = default;
};

/// The state at which a step starts.
struct SimilarityState {
  Homography matrix;  ///< reference pixels -> moving pixels; affine unless `projective`. With
                      ///< `projective` no point of the reference may lie at infinity or beyond.
  double gain = 1;    ///< moving(matrix(p)) is compared with gain reference(p) + offset
  double offset = 0;
  double scale = 0;  ///< of Tukey's weights: residuals beyond it do not count; 0: all count equally
  /// Only with `projective`: the point of the moving image about which it takes its parameters, and
  /// the distance from there at which they all move pixels by about as much.
  Point centre{};
  double unit = 1;
};

/// The same as it stays on the device, where FitStepPlan writes it.
struct ResidentState {
  std::array<float, 9> matrix{}, rest{};  ///< of pixels: each number is the sum of two
  float centre_x = 0, centre_y = 0, inverse_unit = 0;
  float gain = 0, offset = 0;
  float inverse_scale = 0;  ///< 0: all pixels count equally
  std::int32_t active = 0;  ///< 0: nothing is summed, and the sums stay as they are
};

/// The normal equations H delta = -b of one Gauss-Newton step, summed over the reference's pixels p
/// whose location q = matrix(p) lies within the moving image, with residuals
/// e = m(q) - (gain r(p) + offset), m the moving image's cubic spline, weights
/// w = (1 - (e/scale)^2)^2 (Tukey's biweight), and the parameters of a similarity
///   0, 1: shift of q along x and y; 2: logarithm of the scale and 3: rotation (radians,
///   counter-clockwise as displayed), both about the moving image's centre;
/// or, with `projective`, the eight of q = centre + (X, Y) -> centre + (X', Y') with
///   X' = (X + d0 + d2 X/unit + d3 Y/unit) / v, Y' = (Y + d1 + d4 X/unit + d5 Y/unit) / v,
///   v = 1 + (d6 X + d7 Y)/unit^2.
struct SimilaritySumsResult {
  std::size_t parameters = 4;        ///< 4, or 8 with `projective`
  std::array<double, 64> hessian{};  ///< sum of w J^T J, row-major, symmetric
  std::array<double, 8> gradient{};  ///< sum of w J^T e
  double weight = 0;                 ///< sum of w
  // Over all pixels in common, whatever their weight:
  double pixels = 0;            ///< their number
  double absolute = 0;          ///< sum of |e|
  double reference = 0;         ///< sum of r
  double moving = 0;            ///< sum of m
  double reference_square = 0;  ///< sum of r^2
  double moving_square = 0;     ///< sum of m^2
  double product = 0;           ///< sum of r m
};

/// The images of a step.
struct SimilarityImages {
  const Image& reference;
  const Image& coefficients;                ///< of the moving image's cubic spline
  const Image* reference_weight = nullptr;  ///< f32; with `masked`: pixels below 0.999 do not count
  const Image* moving_weight = nullptr;     ///< likewise, at the pixel nearest to q
  const Image* illumination = nullptr;      ///< c32, with `illumination_cell`
};

/// One pass over the images: the spline's value and gradient, the residual, the weight and the
/// products of every pixel are computed in single precision and summed by each work group; the host
/// adds up the sums of the groups in double precision.
class WARPALIGN_API SimilaritySumsPlan {
 public:
  SimilaritySumsPlan(const Device& device, const SimilaritySumsSpec& spec);
  /// Waits for the result.
  [[nodiscard]] SimilaritySumsResult execute(Stream& stream, const SimilarityImages& images,
                                             const SimilarityState& state) const;
  /// The same at several states, at most `batch` of the specification, as many as `results` has
  /// elements. Waits once for all results.
  void execute(Stream& stream, const SimilarityImages& images,
               std::span<const SimilarityState> states,
               std::span<SimilaritySumsResult> results) const;

  // execute() in parts, so that several plans' sums are waited for at once:

  /// How many numbers the partial sums of one state are.
  [[nodiscard]] std::size_t partial_count() const;
  /// Enqueues the sums at several states, at most `batch` of the specification. Their partial sums
  /// are written from number `first` on.
  void enqueue(Stream& stream, const SimilarityImages& images,
               std::span<const SimilarityState> states, detail::Results<float>& partials,
               std::size_t first) const;
  /// The same at states that the device has, of ResidentState: `count` of them, at most `batch`,
  /// from number `first_state` on. Only with `resident`, and no other function then.
  [[nodiscard]] backend::ResidentSums resident(const SimilarityImages& images,
                                               std::size_t first_state, std::size_t count,
                                               std::size_t first) const;
  /// Enqueues the sums of several plans, at one time where the device can. All of the plans have
  /// the same `projective`.
  static void enqueue_resident(Stream& stream, std::span<const backend::ResidentSums> sums,
                               const Buffer& states, detail::Results<float>& partials);
  /// Enqueues those of this plan.
  void enqueue_resident(Stream& stream, const SimilarityImages& images, const Buffer& states,
                        std::size_t first_state, std::size_t count,
                        detail::Results<float>& partials, std::size_t first) const;
  /// How many work groups share the sums of one state; see backend::SimilaritySums.
  [[nodiscard]] std::size_t groups() const;
  /// Adds up the partial sums of as many states as `results` has elements.
  void add_up(std::span<const float> partials, std::span<SimilaritySumsResult> results) const;

 private:
  void check_place(bool resident) const;
  void check_states(const SimilarityImages& images, std::size_t states) const;

  Device device_;
  SimilaritySumsSpec spec_;
  std::shared_ptr<backend::SimilaritySums> kernel_;
  std::shared_ptr<detail::Results<float>> partials_;  ///< of execute(); none with `resident`
};

}  // namespace warpalign

namespace warpalign::backend {

/// The number of sums of one work group, in this order: the upper triangle of the 4 x 4 matrix by
/// rows (10), the gradient (4), and the others as in SimilaritySumsResult (8).
inline constexpr int similarity_sum_count = 22;
/// The same with `projective`: 36, 8 and 8.
inline constexpr int homography_sum_count = 52;

[[nodiscard]] constexpr int sum_count(const SimilaritySumsSpec& spec) noexcept {
  return spec.projective ? homography_sum_count : similarity_sum_count;
}

/// The memory of SimilarityImages. The weights are null unless `masked` is set, the illumination
/// model is null unless `illumination_cell` is.
struct SimilarityMemory {
  const Memory& reference;
  const Memory& coefficients;
  const Memory* reference_weight = nullptr;
  const Memory* moving_weight = nullptr;
  const Memory* illumination = nullptr;
};

/// Sums at states that the device has.
struct ResidentSums {
  SimilaritySums* stage;  ///< that of the images' specification
  SimilarityMemory images;
  std::size_t first_state, count;
  std::size_t first;   ///< where the partial sums are written from
  std::size_t length;  ///< of those of a state
};

class SimilaritySums : public Stage {
 public:
  using Setup = SimilaritySumsSpec;

  /// The number of work groups of a state, each of which writes sum_count() floats: sum i of group
  /// g of state s is stored at first + (s sum_count() + i) groups() + g.
  [[nodiscard]] virtual std::size_t groups() const noexcept = 0;
  /// At least one state, and at most `batch` of the specification.
  virtual void enqueue(Queue& queue, const SimilarityMemory& images,
                       std::span<const SimilarityState> states, Memory& partials,
                       std::size_t first) = 0;
  /// With `resident`, in place of enqueue(): of stages of which this is one, all with the same
  /// `projective`. Each has at least one state.
  virtual void enqueue_resident(Queue& queue, std::span<const ResidentSums> sums,
                                const Memory& states, Memory& partials) = 0;
};

}  // namespace warpalign::backend
