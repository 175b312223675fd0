// Finds the local motion between a reference and frames of its size.
#pragma once

#include "io/image_file.hpp"
#include "options/local_options.hpp"
#include "reports/frame_motion.hpp"

#include <warpalign/device.hpp>
#include <warpalign/local_motion.hpp>

#include <span>
#include <vector>

namespace warpalign::program {

class MotionFinder {
 public:
  /// For frames of this type and shape. Throws warpalign::Error.
  MotionFinder(const Device& device, PixelType type, const Shape& frame,
               const LocalSettings& settings);

  /// Colour counts by its luminance. The reference may be of another type.
  void set_reference(const LoadedImage& reference);
  [[nodiscard]] FrameMotion find(const LoadedImage& frame);
  /// The same for several frames, whose windows are registered in one batch.
  [[nodiscard]] std::vector<FrameMotion> find(std::span<const LoadedImage* const> frames);

 private:
  [[nodiscard]] FrameMotion motion_of(std::vector<WindowShift> shifts) const;

  PixelType type_;  ///< in which windows are registered: u8, u16, or f32 for all others
  Shape shape_;
  FieldOptions field_;
  WindowRegistrar registrar_;
};

}  // namespace warpalign::program
