// The interface of batches, which register many frames at once.
#include "registration/frames/frame_batch.hpp"

#include "device/check.hpp"
#include "registration/frames/similarity_batch.hpp"
#include "registration/frames/translation_batch.hpp"
#include "registration/numerics/plane_geometry.hpp"
#include "registration/pair/candidate.hpp"
#include "registration/pair/registration_result.hpp"
#include "registration/pair/search_limits.hpp"

#include <warpalign/backend/stages/filter/impulse_filter.hpp>

namespace warpalign::detail {

namespace {

constexpr std::int64_t min_side_of_frame = 32;
constexpr std::int64_t max_side_of_frame = 4096;
// A frame that matches equally well elsewhere has a ratio of 1, and a larger one if it is noisier
// than the reference. If it is less noisy, the ratio falls with the square root of its variance.
constexpr double min_ambiguous_ratio = 0.75;

// Whether the options of the log-polar search have their defaults. The search of a batch ignores
// these options.
bool has_usual_spectra(const RegistrationOptions& options) {
  const RegistrationOptions usual;
  return options.spectrum == usual.spectrum && options.window == usual.window &&
         options.spectrum_exponent == usual.spectrum_exponent &&
         options.log_polar_sigma == usual.log_polar_sigma;
}

bool is_batched(const RegistrationOptions& options) {
  switch (options.motion) {
    case Motion::translation:
      return true;
    case Motion::rigid:
    case Motion::similarity:
      return has_usual_spectra(options);
    default:
      return false;
  }
}

}  // namespace

bool has_impulses(const HostImage& image) {
  return impulse_statistics(image).isolated >= min_isolated;
}

bool can_be_batched(const RegistrationOptions& options) {
  return is_batched(options) && options.refine && !options.fast && options.candidates == 1 &&
         options.modality != Modality::other && options.search == Effort::standard;
}

bool can_be_batched(PixelType type, const Shape& shape) {
  return is_grey(type) && shape.depth == 1 && smaller_side(shape) >= min_side_of_frame &&
         larger_side(shape) <= max_side_of_frame;
}

ConclusiveResults::ConclusiveResults(const RegistrationOptions& options, const Shape& frame)
    : frame_(frame), motion_(options.motion), num_trials_(num_trials(options, frame, frame)) {}

BatchedFrame ConclusiveResults::of(const Affine& matrix, SearchMethod proposed_by,
                                   const FrameScore& score) const {
  Candidate candidate;
  candidate.significance = score.significance;
  BatchedFrame frame;
  frame.may_be_ambiguous = score.other_shift_ratio >= min_ambiguous_ratio;
  RegistrationResult& result = frame.result;
  static_cast<Alignment&>(result) = alignment_of(matrix, frame_, frame_);
  result.motion = motion_;
  result.correlation = score.correlation;
  result.significance = score.significance;
  result.overlap = score.overlap;
  result.confidence = candidate.confidence();
  result.refined = true;
  result.proposed_by = proposed_by;
  result.tried.add(proposed_by);
  result.num_trials = num_trials_;
  result.reliable = true;
  return frame;
}

std::unique_ptr<FrameBatch> make_frame_batch(const Device& device,
                                             const RegistrationOptions& options, PixelType type,
                                             const Shape& frame, std::size_t frames_at_once) {
  if (options.motion == Motion::translation) {
    return std::make_unique<TranslationBatch>(device, options, type, frame, frames_at_once);
  }
  return std::make_unique<SimilarityBatch>(device, options, type, frame, frames_at_once);
}

}  // namespace warpalign::detail
