// One image of a pair on the device, at its own resolution and at coarser ones.
#pragma once

#include "device/readback.hpp"
#include "registration/plan_cache.hpp"
#include "registration/similarity/border.hpp"
#include "registration/similarity/grey_levels.hpp"
#include "registration/stage_clock.hpp"

#include <warpalign/backend/stages/filter/impulse_filter.hpp>
#include <warpalign/backend/stages/filter/local_normalization.hpp>
#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <optional>
#include <vector>

namespace warpalign::detail {

/// What a picture is seen at: every `spacing`-th pixel, at most `most` pixels from side to side
/// about the centre (0: all).
struct Sampling2d {
  double spacing = 1;
  std::int64_t maximum = 0;
  friend bool operator==(const Sampling2d&, const Sampling2d&) = default;
};

/// A picture sampled more coarsely, properly low-passed. Images come into being when asked for.
class PyramidLevel {
 public:
  PyramidLevel(const Device& device, PixelType type, const Shape& image, bool masked,
               const Sampling2d& sampling);

  [[nodiscard]] const Sampling2d& sampling() const { return sampling_; }
  [[nodiscard]] PixelType type() const { return type_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] bool masked() const { return weight_.has_value(); }
  /// View pixels -> picture pixels.
  [[nodiscard]] const Affine& to_image() const { return to_image_; }

  [[nodiscard]] const Image& values() const { return values_; }
  /// With `masked`: 0 to 1.
  [[nodiscard]] const Image* weight() const { return weight_ ? &*weight_ : nullptr; }

 private:
  friend class ImagePyramid;
  Device device_;
  PixelType type_;
  Sampling2d sampling_;
  Shape shape_;
  Affine to_image_;
  SmoothPlan smooth_;
  Image values_;
  std::optional<Image> weight_;
  std::optional<LocalNormalizationPlan> normalization_;
  std::optional<Image> normalized_;
  std::optional<PrefilterPlan> prefilter_;
  std::optional<Image> coefficients_;
  bool has_values_ = false, has_normalized_ = false, has_coefficients_ = false;
};

class ImagePyramid {
 public:
  ImagePyramid(const Device& device, PixelType type, const Shape& shape);

  [[nodiscard]] bool fits(PixelType type, const Shape& shape) const {
    return type == type_ && shape == shape_;
  }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// Of the pixels as they are seen: f32 where impulses were filled.
  [[nodiscard]] PixelType type() const { return has_impulses_ ? PixelType::f32 : type_; }
  /// The pixels, with impulses filled.
  [[nodiscard]] const Image& pixels() const { return has_impulses_ ? *filled_ : pixels_; }
  /// u8, 0 where a pixel does not count: the mask given, or the frame found; null where all do.
  [[nodiscard]] const Image* mask() const { return masked_ ? &*mask_ : nullptr; }

  /// Copies the pixels, and the mask where there is one; without one, a constant frame around the
  /// content is looked for and masked. Waits. Throws
  /// Error(invalid_image) where there is nothing to register; `what` names the picture.
  void take(Stream& stream, StageClock& clock, const HostImage& pixels, const HostImage* mask,
            const char* what);
  void take(Stream& stream, StageClock& clock, const Image& pixels, const HostImage* mask,
            const char* what);

  /// Smooths the pixels, where the picture has a mask within it; `weight` is null without one.
  void smooth(Stream& stream, const SmoothPlan& plan, Image& values, Image* weight) const;

  /// Valid until the next take().
  PyramidLevel& level(Stream& stream, StageClock& clock, const Sampling2d& sampling);
  /// The view with brightness and contrast evened out locally: mean 0, deviation about 1.
  const Image& normalized(Stream& stream, StageClock& clock, PyramidLevel& level);
  /// The cubic spline of that.
  const Image& coefficients(Stream& stream, StageClock& clock, PyramidLevel& level);

 private:
  struct ViewKey {
    PixelType type;
    bool masked;
    Sampling2d sampling;
    friend bool operator==(const ViewKey&, const ViewKey&) = default;
  };
  void start(Stream& stream, StageClock& clock, const HostImage* mask, const char* what);
  void fill_impulses(Stream& stream, StageClock& clock);
  void mask_frame(Stream& stream, StageClock& clock, const PyramidLevel& level);
  void measure(Stream& stream, const PyramidLevel& level, const char* what);

  Device device_;
  PixelType type_;
  Shape shape_;
  Image pixels_;
  std::optional<Image> mask_;
  std::vector<std::uint8_t> found_mask_;  // of a frame, on its way to mask_
  bool masked_ = false;
  GreyLevels levels_;
  FrameSearch frame_search_;
  std::optional<Readback<float>> values_, weights_;  // of the view that was measured
  /// Those of this picture all stay; beyond the bound only what earlier ones needed goes.
  PlanCache<ViewKey, PyramidLevel> pyramid_levels_{8};
  std::optional<ImpulseFilterPlan> impulse_filter_;
  std::optional<Image> filled_;
  bool has_impulses_ = false;
};

}  // namespace warpalign::detail
