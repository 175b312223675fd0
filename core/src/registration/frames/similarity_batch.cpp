// Registers many frames, or many pairs, at once by similarities. Those without a conclusive result
// are left to a Registrar.
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

SimilarityMatcher::SimilarityMatcher(const Device& device, const RegistrationOptions& options,
                                     const Shape& frame, const StackSizes& sizes, ParallelFor* loop)
    : options_(options),
      frame_(frame),
      conclusive_(options, frame),
      scorer_(device, frame, sizes.frames, sizes.references, loop),
      search_(device, frame, scorer_.levels().shape(), scorer_.levels().spacing(), sizes,
              options.motion) {
  matrices_.reserve(static_cast<std::size_t>(sizes.frames));
}

void SimilarityMatcher::take_references(StageClock& clock, const Image& pixels, std::size_t count) {
  levels().take_references(clock, pixels, count);
  search_.take_references(clock, pixels, levels());
}

void SimilarityMatcher::run(StageClock& clock, const Image& frames, std::size_t count) {
  scorer_.take(clock, frames, count);
  found_ = search_.run(clock, frames, levels(), count);
  matrices_.clear();
  for (const FrameSimilarity& frame : found_) matrices_.push_back(frame.frame_to_reference);
  scores_ = scorer_.run(clock, matrices_);
}

std::optional<BatchedFrame> SimilarityMatcher::result(std::size_t frame) const {
  const FrameSimilarity& found = found_[frame];
  const FrameScore& score = scores_[frame];
  const Affine matrix = matrices_[frame].inverse();
  const bool is_certain = found.found && found.even_illumination && score.ordinary &&
                          score.significance >= conclusive_significance && is_allowed(matrix);
  if (!is_certain) return std::nullopt;
  BatchedFrame result = conclusive_.of(matrix, found.found_by, score);
  result.result.tried.clear();
  result.result.tried.add(SearchMethod::log_polar);
  result.result.tried.add(SearchMethod::shifts);
  return result;
}

std::span<const FrameScore> SimilarityMatcher::score_still(StageClock& clock, std::size_t count) {
  matrices_.assign(count, Affine{});
  return scorer_.run(clock, matrices_);
}

bool SimilarityMatcher::is_allowed(const Affine& matrix) const {
  const Similarity found = Similarity::of(matrix, frame_, frame_);
  const RotationScaleLimits limits = RotationScaleLimits::of(options_);
  const bool near = found.scale <= max_ratio && found.scale >= 1 / max_ratio;
  return limits.allows_angle(found.rotation_deg) && near &&
         (options_.motion == Motion::rigid || limits.allows_scale(found.scale)) &&
         allows_shift(options_, found.translation);
}

SimilarityBatch::SimilarityBatch(const Device& device, const RegistrationOptions& options,
                                 PixelType type, const Shape& frame, std::size_t frames_at_once)
    : FrameBatch(type, frame),
      frames_(frames_for(device, frame, frames_at_once)),
      host_(host_threads_of(device, lanes_of(device))),
      upload_of_reference_(device, frame),
      reference_(Device(device).make_image(PixelType::f32, frame)),
      upload_(device, type, frame, static_cast<std::int64_t>(frames_)),
      matcher_(device, options, frame, {static_cast<std::int64_t>(frames_), 1}, &host_.loop()) {
  results_.reserve(frames_);
}

bool SimilarityBatch::take_reference(StageClock& clock, const HostImage& image) {
  if (has_impulses(image)) return false;
  upload_of_reference_.run(clock.stream(), image, reference_);
  matcher_.take_references(clock, reference_, 1);
  return matcher_.levels().has_usable_reference(0);
}

std::span<const std::optional<BatchedFrame>> SimilarityBatch::run(
    StageClock& clock, std::span<const HostImage> frames) {
  upload_.run(clock, frames);
  matcher_.run(clock, upload_.pixels(), frames.size());
  results_.clear();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    results_.push_back(matcher_.result(i));
    if (results_.back() && has_impulses(frames[i])) results_.back().reset();
  }
  return results_;
}

}  // namespace warpalign::detail
