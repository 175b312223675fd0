// Registers the frames of a stack by smooth deformations, to one frame or a running mean.
#include "commands/deformable_stack.hpp"

#include "commands/affine_map.hpp"
#include "commands/positions_map.hpp"
#include "io/luminance.hpp"
#include "io/registrable_image.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace warpalign::program {
namespace {

/// The root mean square distance of positions from those of the affine step.
double spread_of(const Positions& positions, const Affine& matrix, const Shape& shape) {
  const auto values = positions.values();
  const std::size_t pixels = values.size() / 2;
  double sum = 0;
  for (std::size_t i = 0; i < pixels; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const Point affine =
        matrix({static_cast<double>(at % shape.width), static_cast<double>(at / shape.width)});
    sum += std::pow(static_cast<double>(values[i]) - affine.x, 2) +
           std::pow(static_cast<double>(values[pixels + i]) - affine.y, 2);
  }
  return std::sqrt(sum / static_cast<double>(pixels));
}

/// Frames of one specimen differ little, so their grid does not depend on them.
RegistrationOptions with_default_grid(RegistrationOptions options) {
  if (options.grid_spacing == RegistrationOptions::automatic_grid_spacing) {
    options.grid_spacing = RegistrationOptions::default_grid_spacing;
  }
  return options;
}

}  // namespace

DeformableStack::DeformableStack(const Device& device, const RegistrationOptions& options,
                                 StackReference to, const LoadedImage& frame,
                                 std::optional<LoadedImage> mask,
                                 std::optional<InitialDrift> initial, std::optional<double> nodata,
                                 FrameWarper& warper)
    : registrar_(device, with_default_grid(options)),
      sampler_(device, {frame.height, frame.width}),
      shape_(frame.shape()),
      mask_(std::move(mask)),
      initial_(std::move(initial)),
      nodata_(nodata),
      plain_warper_(warper),
      to_(to) {}

void DeformableStack::set_reference(const LoadedImage& image,
                                    const std::optional<LoadedImage>& mask) {
  const Luminance gray(image);
  if (mask) return registrar_.set_reference(view_of(gray.image()), view_of(*mask));
  registrar_.set_reference(view_of(gray.image()));
}

void DeformableStack::set_origin(const LoadedImage& image, std::optional<std::size_t> index) {
  set_reference(image, mask_);
  origin_ = index;
  if (initial_) initial_->set_origin(index);
  tried_.set_origin(index);
  index_.reset();
  if (to_ != StackReference::mean) return;
  mean_.emplace(shape_, mask_);
  AffineMap unmoved({}, plain_warper_);
  mean_->add(image, unmoved);
}

RegistrationResult DeformableStack::registered(const LoadedImage& frame, std::size_t index) {
  registrar_.clear_initial();
  if (initial_) {
    if (const std::optional<Affine> near = initial_->of(index)) registrar_.set_initial(*near);
  }
  const Luminance gray(frame);
  if (mask_) return registrar_.align(view_of(gray.image()), view_of(*mask_));
  return registrar_.align(view_of(gray.image()));
}

std::vector<Trial> DeformableStack::try_frames(std::span<const UpcomingFrame> frames) {
  std::vector<Trial> trials;
  for (const UpcomingFrame& frame : frames) {
    if (tried_.find(frame.index) == nullptr) {
      try {
        std::vector<RegistrationResult> found{registered(*frame.image, frame.index)};
        tried_.put(std::span(&frame, 1), std::move(found));
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::invalid_image) throw;
        trials.push_back(Trial::unusable);
        continue;
      }
    }
    trials.push_back(tried_.find(frame.index)->reliable ? Trial::reliable : Trial::unreliable);
  }
  return trials;
}

void DeformableStack::find(const LoadedImage& frame, std::size_t index) {
  positions_.reset();
  index_ = index;
  if (std::optional<RegistrationResult> known = tried_.take(index)) {
    found_ = *std::move(known);
    return;
  }
  if (std::exchange(mean_is_newer_, false)) set_reference(mean_->mean(), mean_->mask());
  found_ = registered(frame, index);
}

const Positions& DeformableStack::positions() {
  if (!positions_) {
    positions_.emplace(std::vector<std::int64_t>{shape_.height, shape_.width},
                       found_.deformation->transform);
  }
  return *positions_;
}

FrameAlignment DeformableStack::place(const LoadedImage& frame, std::size_t index) {
  find(frame, index);
  require_finite(found_);
  FrameAlignment place;
  static_cast<Alignment&>(place) = found_;
  place.motion = Motion::deformable;
  place.reliable = found_.reliable && found_.deformation;
  place.ambiguous = found_.ambiguous;
  place.period = found_.period;
  place.undetermined_direction = found_.undetermined_direction;
  if (!mean_) place.reference = origin_;
  if (!place.reliable) return place;
  place.correlation = found_.deformation->correlation;
  place.spread = spread_of(positions(), place.matrix, shape_);
  if (mean_ && index >= origin_.value_or(0)) {
    mean_->add(frame, *map_of(frame, place, index));
    mean_is_newer_ = true;
  }
  return place;
}

void DeformableStack::add_finished(const LoadedImage& frame, const FrameAlignment& /*place*/,
                                   std::size_t index) {
  (void)place(frame, index);
}

bool DeformableStack::needs_finished(std::size_t index, std::size_t /*last*/) const {
  return mean_ && index > origin_.value_or(0);
}

std::unique_ptr<GridMap> DeformableStack::map_of(const LoadedImage& frame,
                                                 const FrameAlignment& /*place*/,
                                                 std::size_t index) {
  if (index_ != index) find(frame, index);  // from an earlier run; the journal stores no fields
  if (!found_.deformation) {
    throw Error(ErrorKind::device_failure,
                fmt::format("frame {} was reliable in an earlier run but is not now; remove the "
                            "journal and start again",
                            index));
  }
  return std::make_unique<PositionsMap>(positions(), shape_.width, sampler_, nodata_);
}

}  // namespace warpalign::program
