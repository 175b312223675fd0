// Rotation and scale from the log-polar spectra of two pyramid levels (registration paper,
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

/// Whether both lead to the same place: the shifts are searched for from near enough.
[[nodiscard]] bool are_the_same(const RotationScalePeak& a, const RotationScalePeak& b);

/// How many crops of a shape overlap by half and cover a level (CropsAlong).
[[nodiscard]] std::int64_t crops_of(const Shape& level, const Shape& crop);

/// The crops of a level.
struct LevelCrops {
  CutWindowsPlan cut;
  std::int64_t count;
  const char* stage;  ///< as timings name it: a crop, or the window of a level that is used whole
};

/// What is computed of crops whose log-polar spectra are found and correlated at once: plans and
/// memory for one number of them.
class CropBatch {
 public:
  CropBatch(const Device& device, const Shape& frame, const RegistrationOptions& options,
            std::int64_t crops);
  [[nodiscard]] std::int64_t size() const { return frames_.depth; }

  /// Enqueues the log-polar spectra of crops from number `first` on, for correlate() or into
  /// `result`.
  void log_polar_spectra(StageClock& clock, const Image& level, const LevelCrops& crops,
                         std::int64_t first);
  void log_polar_spectra(StageClock& clock, const Image& level, const LevelCrops& crops,
                         std::int64_t first, Image& result);
  /// Enqueues their correlation with the log-polar spectrum of a whole level, and the copy of it to
  /// the host. The copy before the last one must have been waited for.
  void correlate(StageClock& clock, const Image& whole, bool whole_is_reference);
  /// The surfaces of the last correlation, one after the other, once they are waited for.
  [[nodiscard]] Readback<float>& last_surfaces() { return surface_values_[last_]; }

 private:
  Shape frames_;  // stacked
  RealFftPlan fft_;
  LogPolarSpectraPlan log_polar_;
  CrossPowerPlan whole_first_, crops_first_;
  Buffer means_;
  Image frames_of_crops_;  // windowed crops, then their log-polar spectra, then the correlations
  Image spectra_, polar_spectra_;
  /// Of two batches in turn: the device goes on with one while the host looks for the other's
  /// peaks.
  std::array<Readback<float>, 2> surface_values_;
  std::size_t last_ = 0;
};

class RotationScaleSearch {
 public:
  /// `side`: of the padded frame on which crops are windowed, and of the log-polar grid.
  /// The options outlive the search.
  RotationScaleSearch(const Device& device, std::int64_t side, const RegistrationOptions& options);
  RotationScaleSearch(const Device&, std::int64_t, RegistrationOptions&&) = delete;

  [[nodiscard]] std::int64_t side() const { return frame_.width; }

  /// The highest peaks of the log-polar correlation of a whole level (at most side() pixels across)
  /// with each of the crops_of() another level, highest first, at most `maximum` per crop. Waits
  /// for the device. The result is valid until the next call.
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
  /// Pixels of one row of a surface, from `begin` up to before `end`.
  struct Range {
    std::int64_t begin, end;
  };
  /// The highest value in the allowed columns of an allowed row.
  struct RowMaximum {
    std::int64_t y;
    float value;
  };
  struct Pixel {
    std::int64_t x, y;
  };
  const LevelCrops& level_crops_of(const Shape& level, const Shape& crop);
  /// The largest batch that `crops` crops fill.
  CropBatch& batch_for(std::int64_t crops);
  /// The pixels of a level that the search compares.
  const Image& pixels_of(Stream& stream, StageClock& clock, ImagePyramid& pyramid,
                         PyramidLevel& level) const;
  [[nodiscard]] RotationScalePeak peak_at(const Point& p, double value) const;
  /// Sets where on a surface peaks may be.
  void allow(const RotationScaleLimits& limits);
  /// Adds the peaks of each of some correlations to found_.
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
  /// Easy pairs need the first only; the others are created when a pair first needs them.
  std::array<std::optional<CropBatch>, 3> batches_;
  Image whole_spectrum_;
  std::vector<Range> allowed_columns_;
  std::vector<std::int64_t> allowed_rows_;
  std::vector<RowMaximum> row_maxima_;  // of one surface
  std::vector<Pixel> peaks_;            // likewise
  std::vector<RotationScalePeak> found_;
};

}  // namespace warpalign::detail
