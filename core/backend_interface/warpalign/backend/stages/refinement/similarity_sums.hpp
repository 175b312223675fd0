// Stage: the sums for one Gauss-Newton step of a similarity transform or a homography.
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
  Shape moving;     ///< of the moving image, which is passed as f32 cubic coefficients (mirror)
  int reference_margin = 0;   ///< ignored pixels at the reference's edges; >= 0
  int moving_margin = 1;      ///< ignored pixels at the moving image's edges; >= 1
  bool masked = false;        ///< whether weight images tell which pixels are ignored
  int illumination_cell = 0;  ///< side in pixels of the cells of an illumination model (see
                              ///< IlluminationPlan) that replaces gain and offset; 0: none
  bool projective = false;    ///< the eight parameters of a homography instead of the four of a
                              ///< similarity
  std::size_t batch = 1;      ///< largest number of states per call
  bool resident = false;      ///< whether the states are on the device (FitStepPlan) instead of the
                              ///< host; requires illumination_cell = 0
  friend bool operator==(const SimilaritySumsSpec&, const SimilaritySumsSpec&) = default;
};

/// The initial state of a step.
struct SimilarityState {
  Homography matrix;  ///< reference pixels -> moving pixels; affine unless `projective`. With
                      ///< `projective` no point of the reference may lie at infinity or beyond.
  double gain = 1;    ///< moving(matrix(p)) is compared with gain reference(p) + offset
  double offset = 0;
  double scale = 0;  ///< of Tukey's weights: larger residuals have weight 0; 0: unit weights
  /// Only with `projective`: the point of the moving image that the parameters refer to, and the
  /// distance from it at which all parameters move pixels by about the same amount.
  Point centre{};
  double unit = 1;
};

/// The state in device memory. FitStepPlan writes it.
struct ResidentState {
  std::array<float, 9> matrix{},
      rest{};  ///< in pixels; an entry is the sum of matrix[i] and rest[i]
  float centre_x = 0, centre_y = 0, inverse_unit = 0;
  float gain = 0, offset = 0;
  float inverse_scale = 0;  ///< 0: unit weights
  std::int32_t active = 0;  ///< 0: the state is skipped, and its sums do not change
};

/// The normal equations H delta = -b of one Gauss-Newton step, summed over the reference's pixels p
/// whose position q = matrix(p) lies within the moving image, with residuals
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
  // Over all pixels of the overlap, without weights:
  double pixels = 0;            ///< number of pixels
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
  const Image* reference_weight = nullptr;  ///< f32; with `masked`: pixels below 0.999 are ignored
  const Image* moving_weight = nullptr;     ///< the same, at the pixel nearest to q
  const Image* illumination = nullptr;      ///< c32, with `illumination_cell`
};

/// Computes the normal equations in one pass over the images. Each work group evaluates the spline,
/// the residual and the products of its pixels and sums them in single precision; the host adds the
/// sums of the groups in double precision.
class WARPALIGN_API SimilaritySumsPlan {
 public:
  SimilaritySumsPlan(const Device& device, const SimilaritySumsSpec& spec);
  /// Computes the sums at one state and waits for the result.
  [[nodiscard]] SimilaritySumsResult execute(Stream& stream, const SimilarityImages& images,
                                             const SimilarityState& state) const;
  /// The same at several states: at most `batch`, and as many as `results` has elements. Waits once
  /// for all results.
  void execute(Stream& stream, const SimilarityImages& images,
               std::span<const SimilarityState> states,
               std::span<SimilaritySumsResult> results) const;

  // execute() in several steps, to wait for the sums of several plans at once:

  /// The number of partial sums of one state.
  [[nodiscard]] std::size_t partial_count() const;
  /// Enqueues the sums at several states, at most `batch`. Writes their partial sums from number
  /// `first` on.
  void enqueue(Stream& stream, const SimilarityImages& images,
               std::span<const SimilarityState> states, detail::Results<float>& partials,
               std::size_t first) const;
  /// Describes the sums at `count` states in device memory (ResidentState), at most `batch`, from
  /// number `first_state` on. With `resident`, use only this function and enqueue_resident().
  [[nodiscard]] backend::ResidentSums resident(const SimilarityImages& images,
                                               std::size_t first_state, std::size_t count,
                                               std::size_t first) const;
  /// Enqueues the sums of several plans, concurrently if the device can. All plans must have the
  /// same `projective`.
  static void enqueue_resident(Stream& stream, std::span<const backend::ResidentSums> sums,
                               const Buffer& states, detail::Results<float>& partials);
  /// Enqueues the sums of this plan alone.
  void enqueue_resident(Stream& stream, const SimilarityImages& images, const Buffer& states,
                        std::size_t first_state, std::size_t count,
                        detail::Results<float>& partials, std::size_t first) const;
  /// The number of work groups per state; see backend::SimilaritySums.
  [[nodiscard]] std::size_t groups() const;
  /// Adds the partial sums of each state. `results` has one element per state.
  void add_up(std::span<const float> partials, std::span<SimilaritySumsResult> results) const;

 private:
  void check_residency(bool resident) const;
  void check_states(const SimilarityImages& images, std::size_t states) const;

  Device device_;
  SimilaritySumsSpec spec_;
  std::shared_ptr<backend::SimilaritySums> kernel_;
  std::shared_ptr<detail::Results<float>> partials_;  ///< for execute(); null with `resident`
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

/// Sums at states in device memory.
struct ResidentSums {
  SimilaritySums* stage;  ///< the stage for these images
  SimilarityMemory images;
  std::size_t first_state, count;
  std::size_t first;   ///< number of the first partial sum
  std::size_t length;  ///< number of partial sums per state
};

class SimilaritySums : public Stage {
 public:
  using Setup = SimilaritySumsSpec;

  /// The number of work groups of a state, each of which writes sum_count() floats: sum i of group
  /// g of state s is stored at first + (s sum_count() + i) groups() + g.
  [[nodiscard]] virtual std::size_t groups() const noexcept = 0;
  /// Enqueues the sums at 1 to `batch` states.
  virtual void enqueue(Queue& queue, const SimilarityMemory& images,
                       std::span<const SimilarityState> states, Memory& partials,
                       std::size_t first) = 0;
  /// Replaces enqueue() with `resident`. `sums` belong to several stages, including this one, all
  /// with the same `projective`. Each has at least one state.
  virtual void enqueue_resident(Queue& queue, std::span<const ResidentSums> sums,
                                const Memory& states, Memory& partials) = 0;
};

}  // namespace warpalign::backend
