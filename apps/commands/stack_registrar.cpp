// Registers the frames of a stack and maps each of them to the drift's origin.
#include "commands/stack_registrar.hpp"

#include "commands/frames_per_batch.hpp"
#include "io/luminance.hpp"
#include "io/registrable_image.hpp"
#include "io/usage_error.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <iterator>
#include <utility>
#include <vector>

namespace warpalign::program {

namespace {

/// How many frames to register at once: one if the reference (the previous frame or the mean)
/// changes with every frame.
std::size_t frames_to_see(StackReference to, const LoadedImage& first, bool singly) {
  if (!is_fixed(to) || singly) return 1;
  return frames_per_batch(first);
}

}  // namespace

StackRegistrar::StackRegistrar(std::span<const Device> devices, const RegistrationOptions& options,
                               StackReference to, const LoadedImage& frame,
                               std::optional<LoadedImage> mask, std::optional<InitialDrift> initial,
                               FrameWarper& warper)
    : to_(to),
      shape_(frame.shape()),
      mask_(std::move(mask)),
      initial_(std::move(initial)),
      warper_(warper) {
  const std::size_t at_once = frames_to_see(to, frame, mask_ || initial_);
  for (const Device& device : devices) registrars_.emplace_back(device, options, at_once);
}

std::size_t StackRegistrar::frames_at_once() const {
  const std::size_t of_one = registrars_.front().frames_at_once();
  return of_one == 1 ? 1 : of_one * registrars_.size();
}

/// Each device registers as many of the frames as the others, on its own thread.
std::vector<BatchResult> StackRegistrar::shared_out(std::span<const HostImage> views) {
  const std::size_t devices = std::min(registrars_.size(), views.size());
  if (devices <= 1) return registrars_.front().align(views);
  std::vector<std::future<std::vector<BatchResult>>> parts;
  for (std::size_t i = 0; i < devices; ++i) {
    const std::size_t first = i * views.size() / devices;
    const std::size_t end = (i + 1) * views.size() / devices;
    parts.push_back(
        std::async(std::launch::async, [this, i, part = views.subspan(first, end - first)] {
          return registrars_[i].align(part);
        }));
  }
  for (const auto& part : parts) part.wait();  // before get() may throw
  std::vector<BatchResult> found;
  for (auto& part : parts) {
    std::vector<BatchResult> of_part = part.get();
    std::move(of_part.begin(), of_part.end(), std::back_inserter(found));
  }
  return found;
}

void StackRegistrar::set_origin(const LoadedImage& image, std::optional<std::size_t> index) {
  set_reference(Luminance(image).image(), mask_);
  origin_ = index;
  reference_index_ = index;
  if (initial_) initial_->set_origin(index);
  ahead_.set_origin(index);
  origin_to_last_ = origin_to_reference_ = {};
  last_index_ = index.value_or(0);
  is_lost_ = !index;
  if (to_ != StackReference::mean) return;
  mean_.emplace(shape_, mask_);
  AffineMap unmoved({}, warper_);
  mean_->add(image, unmoved);
}

std::vector<BatchResult> StackRegistrar::registered(std::span<const UpcomingFrame> frames) {
  std::vector<Luminance> gray;
  gray.reserve(frames.size());
  std::vector<HostImage> views;
  for (const UpcomingFrame& frame : frames) {
    views.push_back(view_of(gray.emplace_back(*frame.image).image()));
  }
  const std::scoped_lock lock(registrar_mutex_);
  if (!mask_ && !initial_) return shared_out(views);
  std::vector<BatchResult> found(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    try {
      found[i].result = single(views[i], frames[i].index);
    } catch (const Error& error) {
      found[i].error = error;
    }
  }
  return found;
}

RegistrationResult StackRegistrar::single(const HostImage& view, std::size_t index) {
  FrameRegistrar& registrar = registrars_.front();
  std::optional<Affine> initial;
  if (initial_) initial = initial_->of(index, origin_to_reference_);
  if (!initial) return mask_ ? registrar.align(view, view_of(*mask_)) : registrar.align(view);
  return mask_ ? registrar.align(view, view_of(*mask_), Homography(*initial))
               : registrar.align(view, Homography(*initial));
}

std::vector<Trial> StackRegistrar::try_frames(std::span<const UpcomingFrame> frames) {
  const std::vector<UpcomingFrame> missing = ahead_.without(frames);
  if (!missing.empty()) ahead_.put(missing, registered(missing));
  std::vector<Trial> trials;
  for (const UpcomingFrame& frame : frames) {
    const BatchResult& found = *ahead_.find(frame.index);
    const bool matches = found.result && (found.result->reliable || found.result->ambiguous);
    trials.push_back(found.error ? Trial::unusable : matches ? Trial::reliable : Trial::unreliable);
  }
  return trials;
}

// place() reports the problem of each frame. If the batch fails as a whole, place() registers each
// frame separately.
void StackRegistrar::register_early(std::span<const UpcomingFrame> frames) {
  const std::vector<UpcomingFrame> missing = ahead_.without(frames);
  if (missing.empty()) return;
  std::vector<BatchResult> found;
  try {
    found = registered(missing);
  } catch (const Error&) {
    return;
  }
  ahead_.put(missing, std::move(found));
}

RegistrationResult StackRegistrar::find(const LoadedImage& frame, std::size_t index) {
  const std::optional<MotionPrior> prior = prior_of(index);
  if (std::optional<BatchResult> known = ahead_.take(index)) {
    if (known->error) throw Error(*known->error);
    // register_early() did not know the prior.
    if (!known->result->ambiguous || !prior) return std::move(*known->result);
  }
  const std::scoped_lock lock(registrar_mutex_);
  const Luminance gray(frame);
  const HostImage view = view_of(gray.image());
  if (!prior) return single(view, index);
  FrameRegistrar& registrar = registrars_.front();
  return mask_ ? registrar.align(view, view_of(*mask_), *prior) : registrar.align(view, *prior);
}

std::optional<MotionPrior> StackRegistrar::prior_of(std::size_t index) const {
  if (is_lost_ || (initial_ && initial_->of(index, origin_to_reference_))) return {};
  const std::size_t apart = index > last_index_ ? index - last_index_ : last_index_ - index;
  return MotionPrior{origin_to_last_ * origin_to_reference_.inverse(), static_cast<int>(apart)};
}

void StackRegistrar::note(const FrameAlignment& place, std::size_t index) {
  if (place.reliable) {
    origin_to_last_ = place.matrix;
    last_index_ = index;
    is_lost_ = false;
  } else if (place.ambiguous) {
    is_lost_ = true;
  }
}

void StackRegistrar::set_reference(const LoadedImage& gray,
                                   const std::optional<LoadedImage>& mask) {
  for (FrameRegistrar& registrar : registrars_) {
    if (mask) {
      registrar.set_reference(view_of(gray), view_of(*mask));
    } else {
      registrar.set_reference(view_of(gray));
    }
  }
}

FrameAlignment StackRegistrar::place(const LoadedImage& frame, std::size_t index) {
  if (std::exchange(mean_is_newer_, false)) set_reference(mean_->mean(), mean_->mask());
  const RegistrationResult found = find(frame, index);
  require_finite(found);
  FrameAlignment place;
  static_cast<Alignment&>(place) = found;
  place.reliable = found.reliable;
  place.ambiguous = found.ambiguous;
  place.period = found.period;
  place.undetermined_direction = found.undetermined_direction;
  if (to_ != StackReference::mean) place.reference = reference_index_;
  place.matrix = found.matrix * origin_to_reference_;
  place.similarity = Similarity::of(place.matrix, shape_, shape_);
  note(place, index);
  if (place.reliable) take_reliable(frame, place, index);
  return place;
}

void StackRegistrar::take_reliable(const LoadedImage& frame, const FrameAlignment& place,
                                   std::size_t index) {
  if (origin_ && index < *origin_) return;  // the chain and the mean begin at the origin
  if (to_ == StackReference::previous) {
    set_reference(Luminance(frame).image(), mask_);
    reference_index_ = index;
    origin_to_reference_ = place.matrix;
  }
  if (to_ == StackReference::mean) {
    AffineMap map(place.matrix, warper_);
    mean_->add(frame, map);
    set_reference(mean_->mean(), mean_->mask());
  }
}

bool StackRegistrar::needs_finished(std::size_t index, std::size_t last) const {
  if (origin_ && index <= *origin_) return false;  // set_origin() added it
  return to_ == StackReference::mean || (to_ == StackReference::previous && index == last);
}

void StackRegistrar::add_finished(const LoadedImage& frame, const FrameAlignment& place,
                                  std::size_t index) {
  if (to_ == StackReference::previous) take_reliable(frame, place, index);
  if (to_ != StackReference::mean) return;
  AffineMap map(place.matrix, warper_);
  mean_->add(frame, map);
  mean_is_newer_ = true;
}

std::unique_ptr<GridMap> StackRegistrar::map_of(const LoadedImage& /*frame*/,
                                                const FrameAlignment& place,
                                                std::size_t /*index*/) {
  return std::make_unique<AffineMap>(place.matrix, warper_);
}

}  // namespace warpalign::program
