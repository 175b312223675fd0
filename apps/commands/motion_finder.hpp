// Estimates the local motion between a reference and frames of the same size.
#pragma once

#include "io/image_file.hpp"
#include "options/local_options.hpp"
#include "reports/frame_motion.hpp"

#include <warpalign/device.hpp>
#include <warpalign/local_motion.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::program {

class MotionFinder {
 public:
  /// Prepares for frames of this type and shape. Throws warpalign::Error.
  MotionFinder(const Device& device, PixelType type, const Shape& frame,
               const LocalSettings& settings);

  /// Sets the reference. Colour is converted to luminance. The type may differ from that of the
  /// frames. Pixels of f32 images that are NaN or infinite are missing: smooth values take their
  /// place, and a window counts only if half of it is known in both images.
  void set_reference(const LoadedImage& reference);
  [[nodiscard]] FrameMotion find(const LoadedImage& frame);
  /// The same for several frames, with all of their windows registered in one batch.
  [[nodiscard]] std::vector<FrameMotion> find(std::span<const LoadedImage* const> frames);

 private:
  [[nodiscard]] FrameMotion motion_of(std::vector<WindowShift> shifts) const;

  PixelType type_;  ///< for registration: u8, u16, or f32 for all other types
  Shape shape_;
  FieldOptions field_;
  WindowRegistrar registrar_;
  std::vector<std::uint8_t> reference_known_;  ///< empty if all pixels are known
};

}  // namespace warpalign::program
