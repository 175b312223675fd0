// One image of a pair on the device, at full resolution and at coarser levels.
#pragma once

#include "device/readback.hpp"
#include "registration/pyramid/base_scales.hpp"
#include "registration/pyramid/border.hpp"
#include "registration/pyramid/intensity_statistics.hpp"
#include "registration/pyramid/level_sampling.hpp"
#include "registration/pyramid/point_finder.hpp"
#include "registration/resources/plan_cache.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/filter/impulse_filter.hpp>
#include <warpalign/backend/stages/filter/local_normalization.hpp>
#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/backend/stages/volume/pad_volume.hpp>
#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace warpalign::detail {

/// A low-pass filtered, coarser version of an image. The normalized image and the spline
/// coefficients are allocated on first request.
class PyramidLevel {
 public:
  PyramidLevel(const Device& device, PixelType type, const Shape& image, bool masked,
               const Sampling2d& sampling);

  [[nodiscard]] const Sampling2d& sampling() const { return sampling_; }
  [[nodiscard]] PixelType type() const { return type_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] bool masked() const { return weight_.has_value(); }
  /// Level pixels -> image pixels.
  [[nodiscard]] const Affine& to_image() const { return to_image_; }

  [[nodiscard]] const Image& values() const { return values_; }
  /// The weight of each pixel, 0 to 1. Null unless the level is masked.
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
  ImagePyramid(const ImagePyramid&) = delete;
  ImagePyramid& operator=(const ImagePyramid&) = delete;

  [[nodiscard]] bool matches(PixelType type, const Shape& shape) const {
    return type == type_ && shape == shape_;
  }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] PixelType input_type() const { return type_; }
  /// The type of pixels(): f32 if pixels were replaced, else that of the input.
  [[nodiscard]] PixelType type() const { return image().replaced ? PixelType::f32 : type_; }
  /// The pixels, after the impulse noise filter if it was applied, and without the hot pixels of a
  /// sparse image.
  [[nodiscard]] const Image& pixels() const {
    return image().replaced ? *image().filled : image().pixels;
  }
  /// The pixels as they were taken.
  [[nodiscard]] const Image& input() const { return image().pixels; }
  /// Whether the image shows little but bright spots on an even background.
  [[nodiscard]] bool is_sparse() const { return image().sparse; }
  /// The point sources of an image that is sparse, or nearly so; none of any other.
  [[nodiscard]] std::span<const PointSource> points() const { return image().points; }
  /// The hot pixels of an image without point sources that is sparse, or nearly so: their indices,
  /// in ascending order. They may be all that there is to see, and are not replaced.
  [[nodiscard]] std::span<const std::size_t> hot_pixels() const { return image().hot; }
  /// Replaces them by the mean of their neighbours, unless nothing would be left. Waits for the
  /// device. Before any level is used.
  void replace_hot_pixels(Stream& stream, StageClock& clock, const char* what);
  /// u8, 0 for ignored pixels: the caller's mask, or that of a constant border. Null if all pixels
  /// count.
  [[nodiscard]] const Image* mask() const { return image().masked ? &*image().mask : nullptr; }

  /// The number of unmasked pixels among `pixels` pixels of this image or of one of its levels.
  [[nodiscard]] double num_unmasked(std::int64_t pixels) const {
    return image().valid_fraction * static_cast<double>(pixels);
  }

  /// The number of pixels that are NaN or infinite and not excluded by the caller's mask.
  [[nodiscard]] std::int64_t missing() const { return image().missing; }

  /// Copies the pixels, and the mask if there is one. Masks missing pixels. Without a mask and
  /// missing pixels, searches for a constant border around the content and masks it. Waits for the
  /// device. Throws Error(invalid_image) if the image cannot be registered; `what` names the image
  /// in the message.
  template <class Pixels, class Mask>
  void take(Stream& stream, StageClock& clock, const Pixels& pixels, const Mask* mask,
            const char* what) {
    load(stream, clock, pixels, begin_taking().pixels);
    if (mask != nullptr) load(stream, clock, *mask, begin_masking());
    start(stream, clock, what);
  }
  /// Refers to the image of another pyramid of this type and shape, with separate levels, for
  /// another thread and stream. Valid until the other pyramid takes an image or is destroyed.
  void share_image_of(const ImagePyramid& other);

  /// Smooths the pixels, within the mask if there is one. `weight` is null without a mask.
  void smooth(Stream& stream, const SmoothPlan& plan, Image& values, Image* weight) const;

  /// Returns the level with this sampling, valid until the next take(). Computes it if necessary.
  PyramidLevel& level(Stream& stream, StageClock& clock, const Sampling2d& sampling);
  /// Returns the level after local normalization: local mean 0, standard deviation about 1.
  const Image& normalized(Stream& stream, StageClock& clock, PyramidLevel& level);
  /// Returns the cubic spline coefficients of the normalized level.
  const Image& coefficients(Stream& stream, StageClock& clock, PyramidLevel& level);

 private:
  struct LevelKey {
    PixelType type;
    bool masked;
    Sampling2d sampling;
    friend bool operator==(const LevelKey&, const LevelKey&) = default;
  };
  /// The image and its measured properties.
  struct Taken {
    explicit Taken(Image of_input) : pixels(std::move(of_input)) {}
    Image pixels;
    std::optional<Image> mask;
    std::optional<Image> filled;
    bool masked = false;
    bool replaced = false;  ///< whether `filled` replaces `pixels`
    IntensityStatistics levels;
    bool sparse = false;
    std::vector<PointSource> points;
    std::vector<std::size_t> hot;  ///< see hot_pixels()
    double valid_fraction = 1;
    std::int64_t missing = 0;
  };
  [[nodiscard]] const Taken& image() const { return shared_ != nullptr ? *shared_ : own_.value(); }
  static void load(Stream& stream, StageClock& clock, const HostImage& from, Image& to);
  static void load(Stream& stream, StageClock& clock, const Image& from, Image& to);
  Taken& begin_taking();
  void invalidate_levels();
  Image& begin_masking();
  void start(Stream& stream, StageClock& clock, const char* what);
  void filter_impulses(Stream& stream, StageClock& clock);
  void mask_missing(Stream& stream, StageClock& clock);
  void rescale(Stream& stream, StageClock& clock);
  [[nodiscard]] double measured_bright_fraction();
  void find_points(Stream& stream, StageClock& clock, const char* what);
  void take_without_hot_pixels(Stream& stream, StageClock& clock, const char* what);
  void mask_border(Stream& stream, StageClock& clock, const PyramidLevel& level);
  void enlarge_nearest(std::span<const std::uint8_t> level, const Shape& coarse,
                       const Affine& to_level);
  void measure(Stream& stream, const PyramidLevel& level);
  void check_measured(const char* what) const;

  Device device_;
  PixelType type_;
  Shape shape_;
  std::optional<Taken> own_;                 // created for the first image
  const Taken* shared_ = nullptr;            // the image of another pyramid
  std::vector<std::uint8_t> border_mask_;    // the mask of a border, before its upload
  std::vector<std::size_t> border_columns_;  // column of the level for each column of the image
  BorderSearch border_search_;
  std::optional<Readback<float>> values_, weights_;  // of the measured level
  /// Keeps all levels of the current image. Beyond the bound, evicts only levels of earlier images.
  PlanCache<LevelKey, PyramidLevel> pyramid_levels_{max_searched_levels};
  std::optional<ImpulseFilterPlan> impulse_filter_;
  std::optional<PadVolumePlan> rescaling_;   // created for the first image of extreme values
  std::optional<PointFinder> point_finder_;  // created for the first image that may have points
};

}  // namespace warpalign::detail
