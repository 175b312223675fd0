// Translations of many frames at once, where they are beyond doubt.
#include "registration/frames/translation_batch.hpp"

#include "device/check.hpp"
#include "registration/confidence.hpp"
#include "registration/local/window_batch.hpp"
#include "registration/plane_geometry.hpp"
#include "registration/registration_result.hpp"
#include "registration/similarity/candidate.hpp"
#include "registration/similarity/search_limits.hpp"

#include <warpalign/backend/stages/filter/impulse_filter.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace warpalign::detail {

namespace {

constexpr std::int64_t min_side_of_frame = 32;
constexpr std::int64_t max_side_of_frame = 4096;

bool has_impulses(const HostImage& image) {
  return impulse_statistics(image).isolated >= min_isolated;
}

double reach_of(const RegistrationOptions& options) {
  return options.max_shift > 0 ? options.max_shift : std::numeric_limits<double>::infinity();
}

}  // namespace

bool can_be_batched(const RegistrationOptions& options) {
  return options.motion == Motion::translation && options.refine && !options.fast &&
         options.candidates == 1 && !options.collect_timings &&
         options.modality != Modality::other && options.search == Effort::standard;
}

bool can_be_batched(PixelType type, const Shape& shape) {
  return is_grey(type) && shape.depth == 1 && smaller_side(shape) >= min_side_of_frame &&
         larger_side(shape) <= max_side_of_frame;
}

TranslationBatch::TranslationBatch(const Device& device, const RegistrationOptions& options,
                                   PixelType type, const Shape& frame, std::size_t frames_at_once)
    : type_(type),
      frame_(frame),
      places_(places_searched(options, frame, frame)),
      max_shift_(reach_of(options)),
      reference_(device, frame),
      search_(device, type, frame, batch_of(device, whole_frame(frame), frames_at_once),
              max_shift_),
      judge_(device, frame, static_cast<std::int64_t>(search_.frames())) {
  shifts_.reserve(search_.frames());
  results_.reserve(search_.frames());
}

bool TranslationBatch::take_reference(Stream& stream, const HostImage& image) {
  if (has_impulses(image)) return false;
  reference_.take(stream, image);
  return judge_.take_reference(stream, reference_.window().pixels);
}

std::span<const std::optional<RegistrationResult>> TranslationBatch::run(
    Stream& stream, std::span<const HostImage> frames) {
  const std::span<const FrameShift> found = search_.run(stream, reference_, frames);
  shifts_.clear();
  for (const FrameShift& frame : found) shifts_.push_back(frame.found.shift);
  const std::span<const FrameJudgement> judged = judge_.run(stream, search_.pixels(), shifts_);
  results_.clear();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    results_.emplace_back();
    if (!is_certain(found[i], judged[i]) || has_impulses(frames[i])) continue;
    results_.back() = result_of(shifts_[i], judged[i]);
  }
  return results_;
}

bool TranslationBatch::is_certain(const FrameShift& shift, const FrameJudgement& judgement) const {
  const bool within = std::hypot(shift.found.shift.x, shift.found.shift.y) <= max_shift_;
  return shift.found.reliable && shift.evenly_lit && within && judgement.ordinary &&
         judgement.significance >= accepted_significance;
}

RegistrationResult TranslationBatch::result_of(const Point& shift,
                                               const FrameJudgement& judgement) const {
  Candidate candidate;
  candidate.significance = judgement.significance;
  RegistrationResult result;
  static_cast<Registered&>(result) =
      registered(Affine::translation(shift.x, shift.y), frame_, frame_);
  result.motion = Motion::translation;
  result.correlation = judgement.correlation;
  result.significance = judgement.significance;
  result.overlap = judgement.overlap;
  result.confidence = candidate.confidence();
  result.refined = true;
  result.proposed_by = Generator::shifts;
  result.tried.add(Generator::shifts);
  result.places_searched = places_;
  result.reliable = true;
  return result;
}

}  // namespace warpalign::detail
