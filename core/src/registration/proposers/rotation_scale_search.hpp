// Finds rotation and scale from the log-polar spectra of two pyramid levels (registration paper,
// section 2).
#pragma once

#include "device/readback.hpp"
#include "registration/pair/rotation_scale_limits.hpp"
#include "registration/pyramid/image_pyramid.hpp"
#include "registration/resources/plan_cache.hpp"

#include <warpalign/backend/stages/filter/cut_windows.hpp>
#include <warpalign/backend/stages/spectrum/cross_power.hpp>
#include <warpalign/backend/stages/spectrum/log_polar_spectra.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/log_polar.hpp>

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Rotation and scale between two levels; the rotation has a 180 degree ambiguity.
struct RotationScalePeak {
  double rotation_deg = 0;
  double scale = 1;   ///< of the moving level's content relative to the reference's
  double height = 0;  ///< of the log-polar correlation; 1 for identical spectra
};

/// Whether both lead to the same candidate: the translation search tolerates the difference.
[[nodiscard]] bool lead_to_same_pose(const RotationScalePeak& a, const RotationScalePeak& b);

/// The number of crops of a shape that cover a level and overlap by half (CropsAlong).
[[nodiscard]] std::int64_t crops_of(const Shape& level, const Shape& crop);

/// The crops of a level.
struct LevelCrops {
  CutWindowsPlan cut;
  std::int64_t count;
  const char* stage;  ///< the name in timings: a crop, or a window on a whole level
};

/// The plans and memory for a batch of crops, whose log-polar spectra are computed and correlated
/// together.
class CropBatch {
 public:
  CropBatch(const Device& device, const Shape& frame, const RegistrationOptions& options,
            std::int64_t crops);
  [[nodiscard]] std::int64_t size() const { return frames_.depth; }

  /// Enqueues the log-polar spectra of the crops that start at number `first`, for correlate() or
  /// into `result`.
  void log_polar_spectra(StageClock& clock, const Image& level, const LevelCrops& crops,
                         std::int64_t first);
  void log_polar_spectra(StageClock& clock, const Image& level, const LevelCrops& crops,
                         std::int64_t first, Image& result);
  /// Enqueues the correlation with the log-polar spectrum of a whole level, and the copy to the
  /// host. The caller must have waited for the copy before the last one.
  void correlate(StageClock& clock, const Image& whole, bool whole_is_reference);
  /// The surfaces of the last correlation, concatenated. The caller must wait for them.
  [[nodiscard]] Readback<float>& last_surfaces() { return surface_values_[last_]; }

 private:
  Shape frames_;  // stacked
  RealFftPlan fft_;
  LogPolarSpectraPlan log_polar_;
  CrossPowerPlan whole_first_, crops_first_;
  Buffer means_;
  Image frames_of_crops_;  // windowed crops, then their log-polar spectra, then the correlations
  Image spectra_, polar_spectra_;
  /// Two batches alternate: the device computes one while the host finds the peaks of the other.
  std::array<Readback<float>, 2> surface_values_;
  std::size_t last_ = 0;
};

class RotationScaleSearch {
 public:
  /// `side` is the side of the padded frame for crops and of the log-polar grid. `options` must
  /// outlive the search.
  RotationScaleSearch(const Device& device, std::int64_t side, const RegistrationOptions& options);
  RotationScaleSearch(const Device&, std::int64_t, RegistrationOptions&&) = delete;

  [[nodiscard]] std::int64_t side() const { return frame_.width; }

  /// Returns the highest peaks of the log-polar correlation of a whole level (at most side() pixels
  /// wide and high) with each crop of another level, highest first, at most `maximum` per crop.
  /// Waits for the device. The result is valid until the next call.
  std::span<const RotationScalePeak> find(Stream& stream, StageClock& clock, ImagePyramid& whole,
                                          PyramidLevel& whole_level, ImagePyramid& cropped,
                                          PyramidLevel& cropped_level, const Shape& crop,
                                          bool whole_is_reference,
                                          const RotationScaleLimits& limits, std::size_t maximum);

 private:
  struct CropKey {
    Shape level, crop;
    friend bool operator==(const CropKey&, const CropKey&) = default;
  };
  /// A half-open range of pixels in a row of a surface.
  struct Range {
    std::int64_t begin, end;
  };
  /// The highest value of an allowed row, in its allowed columns.
  struct RowMaximum {
    std::int64_t y;
    float value;
  };
  struct Pixel {
    std::int64_t x, y;
  };
  const LevelCrops& level_crops_of(const Shape& level, const Shape& crop);
  /// Returns the largest batch size that `crops` crops fill.
  CropBatch& batch_for(std::int64_t crops);
  /// Returns the image of a level that the search compares.
  const Image& pixels_of(Stream& stream, StageClock& clock, ImagePyramid& pyramid,
                         PyramidLevel& level) const;
  [[nodiscard]] RotationScalePeak peak_at(const Point& p, double value) const;
  /// Sets the rows and columns of a surface in which peaks are accepted.
  void allow(const RotationScaleLimits& limits);
  /// Appends the peaks of several correlation surfaces to found_.
  void find_peaks_of_all(std::span<const float> surfaces, std::size_t maximum);
  void find_peaks(std::span<const float> surface, std::size_t maximum);
  void find_row_maxima(std::span<const float> surface);
  [[nodiscard]] bool is_near_a_peak(const Pixel& pixel) const;

  Device device_;
  Shape frame_;
  const RegistrationOptions& options_;
  LogPolarGrid grid_;
  double total_weight_;
  PlanCache<CropKey, LevelCrops> level_crops_{24};
  /// Easy pairs need only the first. The others are created for the first pair that needs them.
  std::array<std::optional<CropBatch>, 3> batches_;
  Image whole_spectrum_;
  std::vector<Range> allowed_columns_;
  std::vector<std::int64_t> allowed_rows_;
  std::vector<RowMaximum> row_maxima_;  // of one surface
  std::vector<Pixel> peaks_;            // of the same surface
  std::vector<RotationScalePeak> found_;
};

}  // namespace warpalign::detail
