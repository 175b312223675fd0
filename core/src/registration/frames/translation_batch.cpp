// Registers many frames at once by translations. Frames without a conclusive result are left to a
// Registrar.
#include "registration/frames/translation_batch.hpp"

#include "registration/local/windows/window_batch.hpp"
#include "registration/pair/candidate.hpp"
#include "registration/pair/search_limits.hpp"

#include <limits>

namespace warpalign::detail {

namespace {

double reach_of(const RegistrationOptions& options) {
  return options.max_shift > 0 ? options.max_shift : std::numeric_limits<double>::infinity();
}

}  // namespace

TranslationBatch::TranslationBatch(const Device& device, const RegistrationOptions& options,
                                   PixelType type, const Shape& frame, std::size_t frames_at_once)
    : FrameBatch(type, frame),
      options_(options),
      conclusive_(options, frame),
      host_(host_threads_of(device, lanes_of(device))),
      reference_(device, frame),
      search_(device, type, frame, batch_of(device, whole_frame(frame), frames_at_once),
              reach_of(options)),
      judge_(device, frame, static_cast<std::int64_t>(search_.frames()), &host_.loop()) {
  shifts_.reserve(search_.frames());
  results_.reserve(search_.frames());
}

bool TranslationBatch::take_reference(StageClock& clock, const HostImage& image) {
  if (has_impulses(image)) return false;
  reference_.take(clock, image);
  return judge_.take_reference(clock, reference_.window().pixels);
}

std::span<const std::optional<BatchedFrame>> TranslationBatch::run(
    StageClock& clock, std::span<const HostImage> frames) {
  const std::span<const FrameShift> found = search_.run(clock, reference_, frames);
  shifts_.clear();
  for (const FrameShift& frame : found) shifts_.push_back(frame.found.shift);
  const std::span<const FrameScore> judged = judge_.run(clock, search_.pixels(), shifts_);
  results_.clear();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    results_.emplace_back();
    if (!is_certain(found[i], judged[i]) || has_impulses(frames[i])) continue;
    results_.back() = conclusive_.of(Affine::translation(shifts_[i].x, shifts_[i].y),
                                     SearchMethod::shifts, judged[i]);
  }
  return results_;
}

bool TranslationBatch::is_certain(const FrameShift& shift, const FrameScore& judgement) const {
  return shift.found.reliable && shift.even_illumination &&
         allows_shift(options_, shift.found.shift) && judgement.ordinary &&
         judgement.significance >= accepted_significance;
}

}  // namespace warpalign::detail
