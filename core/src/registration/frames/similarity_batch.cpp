// Registers many frames at once by similarities. Frames without a conclusive result are left to a
// Registrar.
#include "registration/frames/similarity_batch.hpp"

#include "registration/frames/frame_search.hpp"
#include "registration/local/windows/window_batch.hpp"
#include "registration/numerics/plane_geometry.hpp"
#include "registration/pair/candidate.hpp"
#include "registration/pair/search_limits.hpp"
#include "registration/proposers/rotation_scale_search.hpp"

#include <cmath>

namespace warpalign::detail {

namespace {

// At a larger ratio of scales, in either direction, the sharper image must be smoothed to match the
// other one, which a batch does not do.
constexpr double max_ratio = 1.25;

std::size_t frames_for(const Device& device, const Shape& frame, std::size_t frames_at_once) {
  return static_cast<std::size_t>(batch_of(device, whole_frame(frame), frames_at_once));
}

}  // namespace

SimilarityBatch::SimilarityBatch(const Device& device, const RegistrationOptions& options,
                                 PixelType type, const Shape& frame, std::size_t frames_at_once)
    : FrameBatch(options, type, frame),
      options_(options),
      frames_(frames_for(device, frame, frames_at_once)),
      upload_of_reference_(device, frame),
      reference_(Device(device).make_image(PixelType::f32, frame)),
      upload_(device, type, frame, static_cast<std::int64_t>(frames_)),
      judge_(device, frame, static_cast<std::int64_t>(frames_)),
      search_(device, frame, judge_.levels().shape(), judge_.levels().spacing(),
              static_cast<std::int64_t>(frames_), options.motion) {
  matrices_.reserve(frames_);
  results_.reserve(frames_);
}

bool SimilarityBatch::take_reference(StageClock& clock, const HostImage& image) {
  if (has_impulses(image)) return false;
  upload_of_reference_.run(clock.stream(), image, reference_);
  if (!judge_.take_reference(clock, reference_)) return false;
  search_.take_reference(clock, reference_, judge_.levels());
  return true;
}

std::span<const std::optional<BatchedFrame>> SimilarityBatch::run(
    StageClock& clock, std::span<const HostImage> frames) {
  upload_.run(clock, frames);
  judge_.take(clock, upload_.pixels());
  const std::span<const FrameSimilarity> found =
      search_.run(clock, upload_.pixels(), judge_.levels(), frames.size());
  matrices_.clear();
  for (const FrameSimilarity& frame : found) matrices_.push_back(frame.frame_to_reference);
  const std::span<const FrameScore> judged = judge_.run(clock, matrices_);
  results_.clear();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    results_.emplace_back();
    const Affine matrix = matrices_[i].inverse();
    if (!is_certain(found[i], matrix, judged[i]) || has_impulses(frames[i])) continue;
    results_.back() = certain(matrix, found[i].found_by, judged[i]);
    results_.back()->result.tried.clear();
    results_.back()->result.tried.add(SearchMethod::log_polar);
    results_.back()->result.tried.add(SearchMethod::shifts);
  }
  return results_;
}

bool SimilarityBatch::is_certain(const FrameSimilarity& found, const Affine& matrix,
                                 const FrameScore& judgement) const {
  return found.found && found.even_illumination && judgement.ordinary &&
         judgement.significance >= conclusive_significance && is_allowed(matrix);
}

bool SimilarityBatch::is_allowed(const Affine& matrix) const {
  const Similarity found = Similarity::of(matrix, frame(), frame());
  const RotationScaleLimits limits = RotationScaleLimits::of(options_);
  const bool near = found.scale <= max_ratio && found.scale >= 1 / max_ratio;
  return limits.allows_angle(found.rotation_deg) && near &&
         (options_.motion == Motion::rigid || limits.allows_scale(found.scale)) &&
         allows_shift(options_, found.translation);
}

}  // namespace warpalign::detail
