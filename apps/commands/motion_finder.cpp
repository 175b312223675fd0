// Estimates the local motion between a reference and frames of the same size.
#include "commands/motion_finder.hpp"

#include "io/array_file.hpp"
#include "io/in_parallel.hpp"
#include "io/luminance.hpp"
#include "io/registrable_image.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace warpalign::program {
namespace {

PixelType registered_type(PixelType type) {
  return type == PixelType::u8 || type == PixelType::u16 ? type : PixelType::f32;
}

/// A frame's luminance in the registrar's type.
class GrayOfType {
 public:
  GrayOfType(const LoadedImage& image, PixelType type) : luminance_(image) {
    const LoadedImage& gray = luminance_.image();
    if (gray.type == type) return;
    converted_ = join_channels({to_float(split_channels(gray).front())});
  }
  [[nodiscard]] const LoadedImage& image() const {
    return converted_ ? *converted_ : luminance_.image();
  }

 private:
  Luminance luminance_;
  std::optional<LoadedImage> converted_;
};

}  // namespace

MotionFinder::MotionFinder(const Device& device, PixelType type, const Shape& frame,
                           const LocalSettings& settings)
    : type_(registered_type(type)),
      shape_(frame),
      field_(settings.field),
      registrar_(device, type_, frame, settings.windows) {}

void MotionFinder::set_reference(const LoadedImage& reference) {
  registrar_.set_reference(view_of(GrayOfType(reference, type_).image()));
}

FrameMotion MotionFinder::find(const LoadedImage& frame) {
  const LoadedImage* one = &frame;
  return std::move(find({&one, 1}).front());
}

std::vector<FrameMotion> MotionFinder::find(std::span<const LoadedImage* const> frames) {
  std::vector<std::optional<GrayOfType>> gray(frames.size());
  std::vector<HostImage> views(frames.size());
  in_parallel(frames.size(), [&](std::size_t i) {
    gray[i].emplace(*frames[i], type_);
    views[i] = view_of(gray[i]->image());
  });
  const std::vector<WindowShift> shifts = registrar_.align(views);
  std::vector<FrameMotion> motions(frames.size());
  in_parallel(frames.size(), [&](std::size_t i) {
    const auto windows = static_cast<std::ptrdiff_t>(registrar_.windows());
    const auto first = shifts.begin() + static_cast<std::ptrdiff_t>(i) * windows;
    motions[i] = motion_of({first, first + windows});
  });
  return motions;
}

FrameMotion MotionFinder::motion_of(std::vector<WindowShift> shifts) const {
  FrameMotion motion;
  motion.windows_x = registrar_.windows_x();
  motion.windows_y = registrar_.windows_y();
  motion.shifts = std::move(shifts);
  motion.outliers = find_outliers(motion.shifts, motion.windows_x, motion.windows_y);
  if (motion.count_used() == 0) return motion;
  motion.field =
      DisplacementField::fit_means(shape_, registrar_.window(), motion.shifts, motion.outliers,
                                   motion.windows_x, motion.windows_y, field_);
  return motion;
}

}  // namespace warpalign::program
