// A pair of images from which a pattern of the sensor was masked or subtracted.
#pragma once

#include "registration/pair/context.hpp"
#include "registration/pyramid/image_pyramid.hpp"
#include "registration/scene/sensor_level.hpp"

#include <warpalign/device.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Makes pairs with other masks or values from a pair of images of one shape. Such a pair is valid
/// until the next one of its kind, with a mask or with values. A function returns nothing if too
/// little remains to register. Reuses its memory.
class RemainingPair {
 public:
  explicit RemainingPair(const Device& device) : device_(device) {}

  /// Both images with the pixels of a pattern masked, in addition to their own masks. `pattern`:
  /// not 0 for these, on the level.
  [[nodiscard]] std::optional<PairContext> without(const PairContext& context,
                                                   const SensorLevel& level,
                                                   std::span<const std::uint8_t> pattern);
  /// Masks no pattern: half() is one half of all pixels.
  void include_all(const PairContext& context);
  /// Both images with one half, 0 or 1, of the pixels that the last without() or include_all()
  /// left.
  [[nodiscard]] std::optional<PairContext> half(const PairContext& context, int which);

  /// Both images with other values, at full resolution, and their own masks.
  [[nodiscard]] std::optional<PairContext> with_values(const PairContext& context,
                                                       const SensorLevel::Values& values);

 private:
  struct Pyramids {
    std::optional<ImagePyramid> reference, moving;
  };

  template <class Pixels, class Mask>
  bool take(const PairContext& context, std::optional<ImagePyramid>& pyramid, PixelType type,
            const Pixels& pixels, const Mask* mask, const char* what);
  bool take_masked(const PairContext& context, const ImagePyramid& image,
                   const std::vector<std::uint8_t>& mask, std::optional<ImagePyramid>& pyramid,
                   const char* what);
  [[nodiscard]] std::optional<PairContext> masked(const PairContext& context,
                                                  const std::vector<std::uint8_t>& mask);

  Device device_;
  Pyramids masked_, of_values_;
  std::vector<std::uint8_t> mask_, half_, own_mask_;
};

}  // namespace warpalign::detail
