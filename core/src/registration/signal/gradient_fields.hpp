// The directions of edges in the levels of two image pyramids, for images of other modalities.
#pragma once

#include "registration/pyramid/image_pyramid.hpp"
#include "registration/resources/ones.hpp"
#include "registration/resources/plan_cache.hpp"
#include "registration/resources/stage_clock.hpp"

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

/// Which of a field is compared. A place is judged by the whole of it. Fits need it smoothed: it
/// changes from one sample to the next, even of noise alone, and a spline evens that out between
/// samples, so that the least differs where the images are half a sample apart.
enum class FieldDetail { whole, smoothed };

/// Where a thing is bright in one image and dark in the other, grey levels do not correlate, but
/// edges still lie along the same lines. A field has two channels, the cosine and the sine of twice
/// the angle of the gradient, each times a length that is near 1 at edges and near 0 where there
/// are none. The sum of the products of two fields is that of cos(2 (a - b)) = 2 cos^2(a - b) - 1
/// over the angles a and b: the measure of the normalised gradient fields of Haber & Modersitzki
/// (2006).
class GradientFields {
 public:
  GradientFields(const Device& device, Ones& ones) : device_(device), ones_(ones) {}

  struct Field {
    const Image& cosines;
    const Image& sines;
  };
  struct Statistics {
    Point mean;         ///< of cosine and sine
    double energy = 0;  ///< mean square of the distance from it; 0 where there is no edge
  };

  /// Forgets what it has computed. To be called when a pyramid has another image.
  void begin_pair() {
    ++pair_;
    turns_ = 0;
    measured_.clear();
  }
  static constexpr std::size_t turned_at_once = 8;

  /// The field of a level. Valid until the next pair.
  Field of(Stream& stream, StageClock& clock, ImagePyramid& pyramid, PyramidLevel& level);
  /// Its cubic spline coefficients. Valid until the next pair.
  Field coefficients(Stream& stream, StageClock& clock, ImagePyramid& pyramid, PyramidLevel& level,
                     FieldDetail detail = FieldDetail::whole);
  /// The field with all directions turned by `rotation` radians, from x towards y. Valid until
  /// turned_at_once more were asked for.
  Field turned(Stream& stream, StageClock& clock, ImagePyramid& pyramid, PyramidLevel& level,
               double rotation, FieldDetail detail = FieldDetail::whole);
  /// Begins what statistics() waits for. Where this is done for several levels first, one wait is
  /// for all of them.
  void measure(Stream& stream, StageClock& clock, ImagePyramid& pyramid, PyramidLevel& level);
  /// Of the field's pixels that have a direction. Waits for the device.
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
    std::uint64_t pair = 0;  ///< for which they were computed
  };
  struct Coefficients {
    Coefficients(const Device& device, const Shape& shape);
    PrefilterPlan prefilter;
    Channels values;
    std::uint64_t pair = 0;  ///< for which they were computed
  };
  struct OfLevel {
    OfLevel(const Device& device, const Shape& shape)
        : plan(device, {shape}), values(device, shape) {}
    DoubleAnglePlan plan;
    Channels values;
    std::optional<Smoothed> smoothed;
    std::array<std::optional<Coefficients>, 2> coefficients;  ///< by FieldDetail
    Statistics statistics;
    std::uint64_t values_pair = 0, statistics_pair = 0;  ///< for which they were computed
  };
  struct LevelKey {
    const ImagePyramid* pyramid;
    Sampling2d sampling;
    Shape shape;
    friend bool operator==(const LevelKey&, const LevelKey&) = default;
  };
  struct Turned {
    DoubleAnglePlan plan;
    Channels values;
  };
  struct TurnedKey {
    Shape shape;
    std::size_t turn;  ///< of turned_at_once, which take turns
    friend bool operator==(const TurnedKey&, const TurnedKey&) = default;
  };

  OfLevel& of_level(Stream& stream, StageClock& clock, ImagePyramid& pyramid, PyramidLevel& level);
  void measure(Stream& stream, StageClock& clock, OfLevel& entry);
  void take_measured(Stream& stream);
  /// The field of a level as it is compared. Valid until the next pair.
  Field detailed(Stream& stream, StageClock& clock, OfLevel& entry, FieldDetail detail);

  Device device_;
  Ones& ones_;
  std::uint64_t pair_ = 1;
  PlanCache<LevelKey, OfLevel> levels_{max_searched_levels};
  PlanCache<TurnedKey, Turned> turned_{8 * turned_at_once};
  std::size_t turns_ = 0;
  std::optional<DirectionSumsPlan> sums_;  ///< once a field is measured
  std::vector<OfLevel*> measured_;         ///< whose sums are on the device, result by result
};

}  // namespace warpalign::detail
