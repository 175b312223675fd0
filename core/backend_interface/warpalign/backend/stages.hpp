// What a backend implements for each stage: one class, one enqueue.
//
// Core has validated everything before it calls these: types, shapes, sizes and devices match the
// plan. All geometry is decided in core and handed over as numbers. An enqueue allocates nothing,
// compiles nothing and does not wait; failures are thrown as warpalign::Error.
#pragma once

#include <warpalign/backend/memory.hpp>
#include <warpalign/backend/stages/filter/apodize.hpp>
#include <warpalign/backend/stages/spline/complex_bilinear.hpp>
#include <warpalign/stages/cross_power.hpp>
#include <warpalign/backend/stages/filter/impulse_filter.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/backend/stages/spectrum/radial_whitening.hpp>
#include <warpalign/stages/interpolate.hpp>
#include <warpalign/backend/stages/refinement/illumination.hpp>
#include <warpalign/backend/stages/filter/local_normalization.hpp>
#include <warpalign/stages/log_polar.hpp>
#include <warpalign/backend/stages/spectrum/magnitude.hpp>
#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/stages/peak.hpp>
#include <warpalign/stages/prefilter.hpp>
#include <warpalign/stages/resample.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>
#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/stages/sobel.hpp>
#include <warpalign/backend/stages/volume/spectrum_sums.hpp>
#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/backend/stages/volume/pad_volume.hpp>
#include <warpalign/backend/stages/volume/volume_peaks.hpp>
#include <warpalign/backend/stages/volume/volume_sums.hpp>
#include <warpalign/backend/stages/spline/warp.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::backend {

/// Common base: owned by plans, destroyed before the driver.
class Stage {
 public:
  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;
};

class Sobel : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& input, Memory& output) = 0;
};

class Statistics : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& input, Memory& record) = 0;
};

/// The window's weight of each of the input's columns and rows.
struct WindowWeights {
  std::vector<float> x, y;
};

class Apodize : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& input, const Memory& statistics,
                       Memory& canvas) = 0;
};

class RealFft : public Stage {
 public:
  virtual void enqueue_forward(Queue& queue, const Memory& real, Memory& spectrum) = 0;
  virtual void enqueue_inverse(Queue& queue, Memory& spectrum, Memory& real) = 0;
};

class Magnitude : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& spectrum, Memory& magnitude) = 0;
};

/// Point (i, j) of a log-polar grid is frequency (u, v) = radii[i] directions[j], u >= 0, in cycles
/// per width and per height of the image. Beyond half of these (Nyquist) the output is 0.
struct LogPolarPoints {
  std::vector<float> radii;
  std::vector<std::array<float, 2>> directions;
};

class LogPolar : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& magnitude, Memory& output) = 0;
};

class CrossPower : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& a, const Memory& b, Memory& output) = 0;
};

class Peak : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& input, Memory& records) = 0;
};

/// How samples, or coefficients, go on beyond their ends along one axis.
enum class Extension { mirror, reflect, periodic, clamp, fill };

/// What core derives from a PrefilterSpec. Filtering one axis of n samples gives n + 2 margin
/// coefficients; coefficient k belongs to position k - margin. Samples outside 0 ... n - 1 are
/// found by `extension`, `fill` meaning `cval`; index mapping alone makes every size right, 1
/// included.
struct PrefilterDetails {
  Extension extension = Extension::mirror;
  int margin = 0;
  std::vector<double> poles;     ///< exact, iir_line
  int horizon = 0;               ///< samples in which |z|^n falls below 2^-24, for the slowest pole
  std::vector<double> fir_taps;  ///< fir: b(-K) ... b(K)
};

class Prefilter : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& samples, Memory& coefficients) = 0;
};

/// What core derives from an InterpolateSpec: how a coordinate is brought to where coefficients
/// are, and how the neighbours' indices go on beyond the ends. Per axis of n samples:
/// - bounds of the point: `reject_outside`: points outside [0, n - 1] give cval (constant);
///   `clamp_to_margin`: points are clamped to [-reach, n - 1 + reach], reach = margin + degree,
///   where every neighbour is the same coefficient (nearest);
///   `period_minus_one`: points are brought into [0, n - 1] modulo n - 1 (wrap); `free`: any point.
/// - neighbour k (integer, in sample positions) is coefficient k + margin; outside of
///   0 ... n + 2 margin - 1 it is found by `extension` on the coefficients' own axis of n + 2
///   margin.
struct InterpolateDetails {
  enum class Points { free, reject_outside, clamp_to_margin, period_minus_one };
  Points points = Points::free;
  Extension extension = Extension::mirror;
  int margin = 0;
};

/// The points to evaluate at: one of the three, chosen by which pointer is set.
struct SamplingPoints {
  const Transform* transform = nullptr;
  const Memory* coordinates = nullptr;
  const LogPolarSampling* log_polar = nullptr;
};

class Interpolate : public Stage {
 public:
  /// `gradient` is null when only values are wanted.
  virtual void enqueue(Queue& queue, const Memory& coefficients, const SamplingPoints& points,
                       Memory& output, Memory* gradient) = 0;
};

/// Prefilter and evaluation in one kernel: exact prefilter, full precision. Made with the details
/// of both; those of the evaluation have no margin, as samples themselves go on beyond the edges.
class Resample : public Stage {
 public:
  /// False: this transform is none for it, and nothing was enqueued.
  [[nodiscard]] virtual bool enqueue(Queue& queue, const Memory& samples,
                                     const Transform& transform, Memory& output) = 0;
};

class ComplexBilinear : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& image, const Memory& x, const Memory& y,
                       Memory& output) = 0;
};

/// One axis of a separable weighting: output i is the sum over k of weights[k n + i] times input
/// first[i] + k, for n outputs. Every input named exists; the weights of an output sum to 1.
struct AxisWeights {
  int taps = 0;
  std::vector<std::int32_t> first;
  std::vector<float> weights;
};

struct PlaneWeights {
  AxisWeights x, y;
};

class Despeckle : public Stage {
 public:
  /// (lowest, highest) of every step-th row, as floats.
  virtual void enqueue_extremes(Queue& queue, const Memory& input, int step, Memory& rows) = 0;
  /// Isolated pixels at an end of the range in every step-th row, as floats.
  virtual void enqueue_isolated(Queue& queue, const Memory& input, int step,
                                const SpeckleCensus& census, Memory& rows) = 0;
  virtual void enqueue(Queue& queue, const Memory& input, const SpeckleCensus& census,
                       Memory& output) = 0;
};

class FlattenProfile : public Stage {
 public:
  virtual void enqueue(Queue& queue, Memory& image) = 0;
};

class Smooth : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& input, Memory& output) = 0;
  virtual void enqueue(Queue& queue, const Memory& input, const Memory& mask, Memory& output,
                       Memory& weight) = 0;
};

class LocalContrast : public Stage {
 public:
  /// `weight` is null unless masked.
  virtual void enqueue(Queue& queue, const Memory& input, const Memory* weight, float mean,
                       float floor, Memory& output) = 0;
};

/// Spectra of two pictures and of their weights.
struct OverlapSpectra {
  const Memory& a;
  const Memory& a_weight;
  const Memory& b;
  const Memory& b_weight;
};

class OverlapProducts : public Stage {
 public:
  virtual void enqueue(Queue& queue, const OverlapSpectra& spectra, Memory& products) = 0;
};

class OverlapScore : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& surfaces, const OverlapLimits& limits,
                       Memory& scores) = 0;
};

/// Sums of one work group, in this order: the upper triangle of the 4 x 4 matrix by rows (10), the
/// gradient (4), and the others as in SimilaritySumsResult (8).
inline constexpr int similarity_sum_count = 22;

/// What SimilarityImages names; the weights are null unless masked, the light unless lit.
struct SimilarityMemory {
  const Memory& reference;
  const Memory& coefficients;
  const Memory* reference_weight = nullptr;
  const Memory* moving_weight = nullptr;
  const Memory* light = nullptr;
};

class SimilaritySums : public Stage {
 public:
  /// Work groups, each of which writes similarity_sum_count floats: sum i of group g stands at
  /// i groups() + g.
  [[nodiscard]] virtual std::size_t groups() const noexcept = 0;
  virtual void enqueue(Queue& queue, const SimilarityMemory& images, const SimilarityState& state,
                       Memory& partials) = 0;
};

class LightField : public Stage {
 public:
  virtual void enqueue(Queue& queue, const SimilarityMemory& images, const Affine& matrix,
                       const LightPrior& prior, Memory& field) = 0;
};

class VolumeCanvas : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& input, const VolumeLevels& levels,
                       Memory& canvas) = 0;
};

/// What a VolumePeaks stage writes for a brick: its maximum (-infinity where no voxel may be a
/// peak), and where that is within a whole brick, row-major; the first of several.
struct BrickRecord {
  float value = 0;
  std::uint32_t position = 0;
};

/// Bricks are numbered row-major; those at the far faces may be smaller.
inline constexpr Shape brick{8, 4, 4};
[[nodiscard]] constexpr Shape bricks_of(const Shape& surface) noexcept {
  return {(surface.width + brick.width - 1) / brick.width,
          (surface.height + brick.height - 1) / brick.height,
          (surface.depth + brick.depth - 1) / brick.depth};
}

class VolumePeaks : public Stage {
 public:
  /// `reach`: as in VolumePeakLimits.
  virtual void enqueue(Queue& queue, const Memory& surface,
                       const std::array<std::int64_t, 3>& reach, Memory& records) = 0;
};

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

/// Sums of one work group: those of warpalign::SpectrumSums.
inline constexpr std::size_t spectrum_sum_count = 3;

class SpectrumSums : public Stage {
 public:
  /// Work groups, each of which writes its sums: sum i of group g stands at i groups() + g.
  [[nodiscard]] virtual std::size_t groups() const noexcept = 0;
  virtual void enqueue(Queue& queue, const Memory& a, const Memory& b, Memory& partials) = 0;
};

class Warp : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& input, const Affine& output_to_input,
                       Memory& output) = 0;
};

}  // namespace warpalign::backend
