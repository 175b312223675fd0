// Estimates the local motion between a reference and frames of the same size.
#include "commands/motion_finder.hpp"

#include "io/array_file.hpp"
#include "io/in_parallel.hpp"
#include "io/luminance.hpp"
#include "io/registrable_image.hpp"

#include <warpalign/missing.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace warpalign::program {
namespace {

PixelType registered_type(PixelType type) {
  return type == PixelType::u8 || type == PixelType::u16 ? type : PixelType::f32;
}

/// A frame's luminance in the registrar's type, with values in place of missing pixels.
class GrayOfType {
 public:
  GrayOfType(const LoadedImage& image, PixelType type) : luminance_(image) {
    const LoadedImage& gray = luminance_.image();
    if (gray.type != type) converted_ = join_channels({to_float(split_channels(gray).front())});
    if (type == PixelType::f32) fill();
  }
  [[nodiscard]] const LoadedImage& image() const {
    return converted_ ? *converted_ : luminance_.image();
  }
  /// For each pixel 0 if it is missing; empty if none is.
  [[nodiscard]] std::vector<std::uint8_t> take_known() { return std::move(known_); }

 private:
  void fill() {
    KnownSamples samples = known_samples(view_of(image()));
    if (samples.missing == 0) return;
    if (!converted_) converted_ = luminance_.image();
    known_ = std::move(samples.known);
    fill_missing(converted_->samples<float>(), known_, converted_->shape());
  }

  Luminance luminance_;
  std::optional<LoadedImage> converted_;
  std::vector<std::uint8_t> known_;
};

/// The share of a window's pixels within the frame that are known.
double known_share(const std::vector<std::uint8_t>& known, const Shape& frame, const Shape& window,
                   const Point& centre) {
  if (known.empty()) return 1;
  const auto first = [](double middle, std::int64_t side) {
    return static_cast<std::int64_t>(std::lround(middle - static_cast<double>(side - 1) / 2));
  };
  const std::int64_t left = first(centre.x, window.width), top = first(centre.y, window.height);
  std::int64_t inside = 0, count = 0;
  for (std::int64_t y = std::max<std::int64_t>(top, 0);
       y < std::min(top + window.height, frame.height); ++y) {
    for (std::int64_t x = std::max<std::int64_t>(left, 0);
         x < std::min(left + window.width, frame.width); ++x, ++inside) {
      count += known[static_cast<std::size_t>(y * frame.width + x)];
    }
  }
  return inside == 0 ? 0 : static_cast<double>(count) / static_cast<double>(inside);
}

}  // namespace

MotionFinder::MotionFinder(const Device& device, PixelType type, const Shape& frame,
                           const LocalSettings& settings)
    : type_(registered_type(type)),
      shape_(frame),
      field_(settings.field),
      registrar_(device, type_, frame, settings.windows) {}

void MotionFinder::set_reference(const LoadedImage& reference) {
  GrayOfType gray(reference, type_);
  registrar_.set_reference(view_of(gray.image()));
  reference_known_ = gray.take_known();
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
  std::vector<WindowShift> shifts = registrar_.align(views);
  std::vector<FrameMotion> motions(frames.size());
  in_parallel(frames.size(), [&](std::size_t i) {
    const auto windows = static_cast<std::ptrdiff_t>(registrar_.windows());
    const auto first = shifts.begin() + static_cast<std::ptrdiff_t>(i) * windows;
    const std::vector<std::uint8_t> known = gray[i]->take_known();
    const Shape& window = registrar_.window();
    for (auto shift = first; shift != first + windows; ++shift) {
      if (!shift->reliable || (known.empty() && reference_known_.empty())) continue;
      const Point moved{shift->centre.x + shift->shift.x, shift->centre.y + shift->shift.y};
      shift->reliable =
          known_share(reference_known_, shape_, window, shift->centre) >= min_known_share &&
          known_share(known, shape_, window, moved) >= min_known_share;
    }
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
