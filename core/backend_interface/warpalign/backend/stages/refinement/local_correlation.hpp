// Stage: the normalised correlation of two volumes within windows, and its derivatives.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <memory>
#include <vector>

namespace warpalign {

namespace backend {
class LocalCorrelation;
}

/// The windows of this stage are 5 voxels wide along each axis.
struct LocalCorrelationSpec {
  static constexpr int radius = 2;  ///< of the windows

  Shape voxels;  ///< of both volumes; depth 1 in the plane, else a height of 2 or more
  /// Whether the measure of a window is r^2 / 2 instead of r: for images whose intensities depend
  /// on each other with any sign, as those of two modalities do.
  bool any_sign = false;

  [[nodiscard]] int dimensions() const noexcept { return voxels.depth > 1 ? 3 : 2; }
  [[nodiscard]] Shape volumes(int count) const noexcept {
    return {voxels.width, voxels.height, voxels.depth * count};
  }
};

/// Regularly spaced pixels of an image, from which the variance of its noise is estimated.
struct NoiseSampling {
  /// Takes few enough pixels to be quick, and enough for a median.
  explicit NoiseSampling(const Shape& shape) noexcept;

  std::int64_t every;  ///< the distance of samples in memory
  std::int64_t count;

  /// For each sample its value, and then for each the difference of the differences of its
  /// neighbours along x and y (and z).
  [[nodiscard]] Shape samples() const noexcept { return {count, 2, 1}; }
};

/// The mean of the windows' correlations, or of their squares with `any_sign`.
struct LocalCorrelationSum {
  double correlation = 0;  ///< the sum over all counted windows
  double windows = 0;      ///< their number

  [[nodiscard]] double mean() const { return windows > 0 ? correlation / windows : 0; }
};

/// The entries of a symmetric matrix: those of the row of x, xx and xy in the plane, else xx, xy
/// and xz; or the other ones, yy in the plane, else yy, yz and zz.
enum class CurvatureEntries { of_x, others };

/// For the window about each voxel (at the edges, its part within the volume), the correlation
/// r = cov(F, W) / sqrt((var F + floor_F) (var W + floor_W)) of the reference F and the warped
/// moving volume W. A floor, the variance of the noise, keeps windows without structure from
/// counting. All images are f32.
class WARPALIGN_API LocalCorrelationPlan {
 public:
  LocalCorrelationPlan(const Device& device, const LocalCorrelationSpec& spec);
  /// The mean of each window of the reference and 1 / sqrt(var F + floor): volumes(2).
  void execute_statistics(Stream& stream, const Image& reference, float floor,
                          Image& statistics) const;
  /// The second derivatives of the sum of the windows' measures for a perfect match, as
  /// Gauss-Newton approximates them: the sum over the windows about a voxel of
  /// 1 / (voxels (var F + floor)), times g g', g the reference's gradient. `curvatures`:
  /// volumes(dimensions()), of which the first ones get the entries. There are two executions for
  /// all of them, so that they need less memory. Gradients are half the differences of the
  /// neighbours, at the edges those to the next voxel.
  void execute_curvatures(Stream& stream, const Image& reference, const Image& statistics,
                          CurvatureEntries entries, Image& curvatures) const;
  /// The derivative of the sum of the windows' measures with respect to W, times the gradient of W:
  /// volumes(dimensions()). `samples`: W, then 1 or 0 for windows that count, or do not
  /// (volumes(2)).
  void execute_forces(Stream& stream, const Image& reference, const Image& statistics,
                      const Image& samples, float floor, Image& forces) const;
  /// The samples of an image of any shape. The differences are 0 at the far edges.
  void execute_noise_samples(Stream& stream, const Image& image, const NoiseSampling& sampling,
                             Image& samples) const;
  /// The sum of the correlations, or of their squares, of the last execute_forces(). Waits for it.
  [[nodiscard]] LocalCorrelationSum sum(Stream& stream) const;

 private:
  Device device_;
  LocalCorrelationSpec spec_;
  std::shared_ptr<backend::LocalCorrelation> kernel_;
  std::shared_ptr<Buffer> partials_;
  std::shared_ptr<std::vector<float>> fetched_;
};

}  // namespace warpalign

namespace warpalign::backend {

class LocalCorrelation : public Stage {
 public:
  using Setup = LocalCorrelationSpec;

  virtual void enqueue_statistics(Queue& queue, const Memory& reference, float floor,
                                  Memory& statistics) = 0;
  virtual void enqueue_curvatures(Queue& queue, const Memory& reference, const Memory& statistics,
                                  CurvatureEntries entries, Memory& curvatures) = 0;
  /// The number of parts of the sum.
  [[nodiscard]] virtual int parts() const noexcept = 0;
  /// `partials`: for each part, the sum of its correlations and the number of its windows.
  virtual void enqueue_forces(Queue& queue, const Memory& reference, const Memory& statistics,
                              const Memory& samples, float floor, Memory& partials,
                              Memory& forces) = 0;
  virtual void enqueue_noise_samples(Queue& queue, const Memory& image, const Shape& shape,
                                     std::int64_t every, std::int64_t count, Memory& samples) = 0;
};

}  // namespace warpalign::backend
