// Scores the similarities of a batch of frames: the correlation with the reference and its
// significance.
#include "registration/frames/rotated_frame_scorer.hpp"

#include "registration/frames/frame_fit.hpp"
#include "registration/numerics/confidence.hpp"
#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

RotatedFrameScorer::RotatedFrameScorer(const Device& device, const Shape& frame,
                                       std::int64_t frames, std::int64_t references,
                                       ParallelFor* loop)
    : frame_(frame),
      judged_(device, frame, frames, references, loop),
      to_frame_(level_to_image(frame, {judged_.spacing()})),
      cells_(cells_of(judged_.shape())),
      sums_(device,
            {judged_.shape(), static_cast<std::int64_t>(cells_.size()), frames, references}),
      states_(static_cast<std::size_t>(frames) * cells_.size()),
      results_(states_.size()),
      judgements_(static_cast<std::size_t>(frames)) {}

// Passes spline coefficients instead of samples, so that the kernel evaluates interpolated images
// rather than smoothed ones.
std::span<const FrameScore> RotatedFrameScorer::run(StageClock& clock,
                                                    std::span<const Affine> frame_to_reference) {
  std::fill(states_.begin(), states_.end(), FrameState{});
  const Affine from_frame = to_frame_.inverse();
  for (std::size_t i = 0; i < frame_to_reference.size(); ++i) {
    judgements_[i] = {};
    judgements_[i].ordinary = judged_.is_comparable(i);
    if (!judgements_[i].ordinary) continue;
    const Affine between_levels = from_frame * frame_to_reference[i] * to_frame_;
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      FrameState& state = states_[i * cells_.size() + c];
      state = frame_state_at(judged_.shape(), cells_[c], between_levels);
      state.active = 1;
    }
  }
  Stream& stream = clock.stream();
  clock.run("judgement",
            [&] { sums_.enqueue(stream, *coefficients_, judged_.references(), states_); });
  sums_.fetch(stream, states_, results_);
  for (std::size_t i = 0; i < frame_to_reference.size(); ++i) {
    if (!judgements_[i].ordinary) continue;
    FrameSums whole;
    for (std::size_t c = 0; c < cells_.size(); ++c) whole += results_[i * cells_.size() + c];
    describe(i, whole, scale_of(frame_to_reference[i]));
  }
  return std::span<const FrameScore>(judgements_).first(frame_to_reference.size());
}

void RotatedFrameScorer::describe(std::size_t frame, const FrameSums& s, double scale) {
  FrameScore& judgement = judgements_[frame];
  const double moving = s.mm - s.m * s.m / s.weight;
  const double reference = s.rr - s.r * s.r / s.weight;
  if (!(moving > 0) || !(reference > 0)) return;
  judgement.correlation = (s.rm - s.r * s.m / s.weight) / std::sqrt(reference * moving);
  const double independent = s.pixels * s.slopes / moving;
  judgement.significance = significance_of(judgement.correlation, independent);
  judgement.other_shift_ratio = judged_.other_shift_ratio(frame, judgement.correlation);
  const double side =
      scale * judged_.spacing();  // side of a pixel of the frame's level, in reference pixels
  judgement.overlap = std::min(1.0, s.pixels * side * side / static_cast<double>(frame_.plane()));
}

}  // namespace warpalign::detail
