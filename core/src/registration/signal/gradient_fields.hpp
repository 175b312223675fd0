// Gradient orientation fields of pyramid levels, for images of different modalities.
#pragma once

#include "registration/pyramid/image_pyramid.hpp"
#include "registration/resources/plan_cache.hpp"
#include "registration/resources/stage_clock.hpp"
#include "registration/resources/unit_weights.hpp"

#include <warpalign/backend/stages/filter/direction_sums.hpp>
#include <warpalign/backend/stages/filter/double_angle.hpp>
#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace warpalign::detail {

/// The version of a field that is compared. Evaluation uses the whole field. Fits need a smoothed
/// one: the field, even that of noise, changes from one sample to the next, and a spline smooths it
/// between samples, so that the difference would be smallest at a misalignment of half a sample.
enum class FieldDetail { whole, smoothed };

/// Structures that are bright in one image and dark in the other do not correlate by intensity, but
/// their edges have the same orientations. A field has two channels, the cosine and the sine of
/// twice the angle of the gradient, each multiplied by a length that is near 1 at edges and near 0
/// elsewhere. The sum of the products of two fields is that of cos(2 (a - b)) = 2 cos^2(a - b) - 1
/// over the angles a and b: the measure of the normalized gradient fields of Haber & Modersitzki
/// (2006).
class GradientFields {
 public:
  GradientFields(const Device& device, UnitWeights& ones) : device_(device), unit_weights_(ones) {}

  struct Field {
    const Image& cosines;
    const Image& sines;
  };
  struct Statistics {
    Point mean;         ///< of cosine and sine
    double energy = 0;  ///< mean squared distance from the mean; 0 if there is no edge
  };

  /// Invalidates all fields. Call this when a pyramid gets another image.
  void begin_pair() {
    ++pair_;
    num_rotations_ = 0;
    measured_.clear();
  }
  static constexpr std::size_t max_rotated_fields = 8;

  /// Returns the field of a level, valid until the next pair.
  Field of(Stream& stream, StageClock& clock, ImagePyramid& pyramid, PyramidLevel& level);
  /// Returns the cubic spline coefficients of the field, valid until the next pair.
  Field coefficients(Stream& stream, StageClock& clock, ImagePyramid& pyramid, PyramidLevel& level,
                     FieldDetail detail = FieldDetail::whole);
  /// Returns the field with all orientations rotated by `rotation` radians, from x towards y. Valid
  /// until max_rotated_fields other calls.
  Field turned(Stream& stream, StageClock& clock, ImagePyramid& pyramid, PyramidLevel& level,
               double rotation, FieldDetail detail = FieldDetail::whole);
  /// Enqueues the measurement for statistics(). If several levels are enqueued first, one wait
  /// covers all of them.
  void measure(Stream& stream, StageClock& clock, ImagePyramid& pyramid, PyramidLevel& level);
  /// Returns the statistics of the pixels that have an orientation. Waits for the device.
  const Statistics& statistics(Stream& stream, StageClock& clock, ImagePyramid& pyramid,
                               PyramidLevel& level);

 private:
  struct Channels {
    Channels(const Device& device, const Shape& shape);
    [[nodiscard]] Field field() const { return {cosines, sines}; }
    Image cosines, sines;
  };
  struct Smoothed {
    Smoothed(const Device& device, const Shape& shape);
    SmoothPlan plan;
    Channels values;
    std::uint64_t pair = 0;  ///< the pair for which they were computed
  };
  struct Coefficients {
    Coefficients(const Device& device, const Shape& shape);
    PrefilterPlan prefilter;
    Channels values;
    std::uint64_t pair = 0;  ///< the pair for which they were computed
  };
  struct OfLevel {
    OfLevel(const Device& device, const Shape& shape)
        : plan(device, {shape}), values(device, shape) {}
    DoubleAnglePlan plan;
    Channels values;
    std::optional<Smoothed> smoothed;
    std::array<std::optional<Coefficients>, 2> coefficients;  ///< by FieldDetail
    Statistics statistics;
    std::uint64_t values_pair = 0, statistics_pair = 0;  ///< the pairs for which they were computed
  };
  struct LevelKey {
    const ImagePyramid* pyramid;
    Sampling2d sampling;
    Shape shape;
    friend bool operator==(const LevelKey&, const LevelKey&) = default;
  };
  struct Rotated {
    DoubleAnglePlan plan;
    Channels values;
  };
  struct RotatedKey {
    Shape shape;
    std::size_t slot;  ///< index of one of max_rotated_fields buffers, which are used in turn
    friend bool operator==(const RotatedKey&, const RotatedKey&) = default;
  };

  OfLevel& of_level(Stream& stream, StageClock& clock, ImagePyramid& pyramid, PyramidLevel& level);
  void measure(Stream& stream, StageClock& clock, OfLevel& entry);
  void take_measured(Stream& stream);
  /// Returns the field of a level at a detail. Valid until the next pair.
  Field detailed(Stream& stream, StageClock& clock, OfLevel& entry, FieldDetail detail);

  Device device_;
  UnitWeights& unit_weights_;
  std::uint64_t pair_ = 1;
  PlanCache<LevelKey, OfLevel> levels_{max_searched_levels};
  PlanCache<RotatedKey, Rotated> rotated_{8 * max_rotated_fields};
  std::size_t num_rotations_ = 0;
  std::optional<DirectionSumsPlan> sums_;  ///< created for the first measurement
  /// Levels whose sums are on the device, in order of the results.
  std::vector<OfLevel*> measured_;
};

}  // namespace warpalign::detail
