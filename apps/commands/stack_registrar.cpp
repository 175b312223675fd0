// Registers the frames of a stack one after the other, and maps each to the first.
#include "commands/stack_registrar.hpp"

#include "io/luminance.hpp"
#include "io/registrable_image.hpp"
#include "io/usage_error.hpp"

#include <fmt/format.h>

#include <utility>

namespace warpalign::program {

StackReference stack_reference_named(const std::string& name) {
  if (name == "first") return StackReference::first;
  if (name == "previous") return StackReference::previous;
  if (name == "mean") return StackReference::mean;
  throw UsageError(fmt::format("--to {}: is not known; there are first, previous and mean", name));
}

StackRegistrar::StackRegistrar(const Device& device, const RegistrationOptions& options,
                               StackReference to, const LoadedImage& first,
                               std::optional<LoadedImage> mask, FrameWarper& warper)
    : registrar_(device, options),
      to_(to),
      shape_(first.shape()),
      mask_(std::move(mask)),
      warper_(warper) {
  set_reference(luminance(first), mask_);
  if (to_ != StackReference::mean) return;
  mean_.emplace(shape_, mask_);
  AffineMap unmoved({}, warper_);
  mean_->add(first, unmoved);
}

void StackRegistrar::set_reference(const LoadedImage& gray,
                                   const std::optional<LoadedImage>& mask) {
  if (mask) return registrar_.set_reference(view_of(gray), view_of(*mask));
  registrar_.set_reference(view_of(gray));
}

FramePlace StackRegistrar::place(const LoadedImage& frame, std::size_t index) {
  if (std::exchange(mean_is_newer_, false)) set_reference(mean_->mean(), mean_->mask());
  const LoadedImage gray = luminance(frame);
  const RegistrationResult found =
      mask_ ? registrar_.align(view_of(gray), view_of(*mask_)) : registrar_.align(view_of(gray));
  require_finite(found);
  FramePlace place;
  static_cast<Registered&>(place) = found;
  place.reliable = found.reliable;
  if (to_ != StackReference::mean) place.reference = reference_index_;
  place.matrix = found.matrix * first_to_reference_;
  place.similarity = Similarity::of(place.matrix, shape_, shape_);
  if (place.reliable) take_reliable(frame, gray, place, index);
  return place;
}

void StackRegistrar::take_reliable(const LoadedImage& frame, const LoadedImage& gray,
                                   const FramePlace& place, std::size_t index) {
  if (to_ == StackReference::previous) {
    set_reference(gray, mask_);
    reference_index_ = index;
    first_to_reference_ = place.matrix;
  }
  if (to_ == StackReference::mean) {
    AffineMap map(place.matrix, warper_);
    mean_->add(frame, map);
    set_reference(mean_->mean(), mean_->mask());
  }
}

bool StackRegistrar::needs_again(std::size_t index, std::size_t last) const {
  if (index == 0) return false;  // the constructor has taken it
  return to_ == StackReference::mean || (to_ == StackReference::previous && index == last);
}

void StackRegistrar::take_again(const LoadedImage& frame, const FramePlace& place,
                                std::size_t index) {
  if (to_ == StackReference::previous) take_reliable(frame, luminance(frame), place, index);
  if (to_ != StackReference::mean) return;
  AffineMap map(place.matrix, warper_);
  mean_->add(frame, map);
  mean_is_newer_ = true;
}

std::unique_ptr<GridMap> StackRegistrar::map_of(const LoadedImage& /*frame*/,
                                                const FramePlace& place, std::size_t /*index*/) {
  return std::make_unique<AffineMap>(place.matrix, warper_);
}

}  // namespace warpalign::program
