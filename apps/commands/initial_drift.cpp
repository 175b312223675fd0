// The transforms of `stack --initial`, near which the registration of each frame looks first.
#include "commands/initial_drift.hpp"

#include "commands/initial_transform.hpp"
#include "commands/known_drift.hpp"
#include "io/drift_file.hpp"
#include "io/image_file.hpp"
#include "io/initial_file.hpp"
#include "io/usage_error.hpp"

#include <warpalign/batch.hpp>
#include <warpalign/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace warpalign::program {

InitialDrift::InitialDrift(std::string file, const RegistrationOptions& options, const Shape& shape)
    : file_(std::move(file)), options_(options), shape_(shape) {
  if (is_identity(file_) || !is_drift(file_)) {
    const Homography transform = load_initial_transform(file_, options.motion);
    if (!transform.is_affine()) {
      throw UsageError(fmt::format(
          "--initial {}: is projective, and frames are registered by affine transforms", file_));
    }
    same_ = transform.affine();
    return;
  }
  const DriftFile drift = load_drift(file_);
  if (drift.shape && *drift.shape != shape) {
    throw UsageError(fmt::format("--initial {}: holds transforms of frames of {}, and these are {}",
                                 file_, to_string(*drift.shape), to_string(shape)));
  }
  for (const FrameAlignment& frame : known_drift({file_, {}}, drift, shape)) {
    by_frame_.push_back(frame.reliable ? std::optional(frame.matrix) : std::nullopt);
  }
}

std::optional<std::size_t> InitialDrift::frames() const {
  if (same_) return {};
  return by_frame_.size();
}

void InitialDrift::check(const Affine& transform, const std::string& what) const {
  try {
    check_initial(transform, options_, shape_, shape_);
  } catch (const Error& error) {
    throw UsageError(fmt::format("--initial {}: {}{}", file_, what, error.message()));
  }
}

void InitialDrift::check(StackReference to) const {
  if (same_) return check(*same_, "");
  std::optional<Affine> last;
  for (std::size_t i = 0; i < by_frame_.size(); ++i) {
    if (!by_frame_[i]) continue;
    // A singular matrix has no inverse: it is refused before the next one is divided by it.
    const bool is_chained = to == StackReference::previous && last;
    check(is_chained ? *by_frame_[i] * last->inverse() : *by_frame_[i],
          fmt::format("frame {}: ", i));
    last = by_frame_[i];
  }
}

void InitialDrift::set_origin(std::optional<std::size_t> index) {
  const bool is_known = index && *index < by_frame_.size() && by_frame_[*index];
  from_origin_ = is_known ? by_frame_[*index]->inverse() : Affine{};
}

std::optional<Affine> InitialDrift::of(std::size_t frame, const Affine& origin_to_reference) const {
  std::optional<Affine> transform = same_;
  if (!same_ && frame < by_frame_.size() && by_frame_[frame]) {
    transform = *by_frame_[frame] * from_origin_;
  }
  if (!transform) return {};
  transform = *transform * origin_to_reference.inverse();
  try {
    check_initial(*transform, options_, shape_, shape_);
  } catch (const Error&) {
    return {};  // check() has accepted it from another reference
  }
  return transform;
}

}  // namespace warpalign::program
