// Finds the local motion between a reference and frames of its size.
#include "commands/motion_finder.hpp"

#include "io/array_file.hpp"
#include "io/luminance.hpp"
#include "io/registrable_image.hpp"

#include <algorithm>

namespace warpalign::program {
namespace {

PixelType registered_type(PixelType type) {
  return type == PixelType::u8 || type == PixelType::u16 ? type : PixelType::f32;
}

LoadedImage gray_of_type(const LoadedImage& image, PixelType type) {
  LoadedImage gray = luminance(image);
  if (gray.type == type) return gray;
  return join_channels({to_float(split_channels(gray).front())});
}

}  // namespace

MotionFinder::MotionFinder(const Device& device, PixelType type, const Shape& frame,
                           const LocalSettings& settings)
    : type_(registered_type(type)),
      shape_(frame),
      field_(settings.field),
      registrar_(device, type_, frame, settings.windows) {}

void MotionFinder::set_reference(const LoadedImage& reference) {
  registrar_.set_reference(view_of(gray_of_type(reference, type_)));
}

FrameMotion MotionFinder::find(const LoadedImage& frame) {
  const LoadedImage gray = gray_of_type(frame, type_);
  const HostImage view = view_of(gray);
  FrameMotion motion;
  motion.windows_x = registrar_.windows_x();
  motion.windows_y = registrar_.windows_y();
  motion.shifts = registrar_.align({&view, 1});
  motion.outliers = find_outliers(motion.shifts, motion.windows_x, motion.windows_y);
  if (motion.count_used() == 0) return motion;
  motion.field =
      DisplacementField::fit(shape_, motion.shifts, motion.windows_x, motion.windows_y, field_);
  return motion;
}

}  // namespace warpalign::program
