// Registers many pairs at once, each with a reference of its own.
#include "registration/batch/pair_batch.hpp"

#include "registration/frames/frame_search.hpp"
#include "registration/local/windows/window_batch.hpp"
#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/transform_distance.hpp"
#include "registration/points/sparsity.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace warpalign::detail {

namespace {

// More pairs than that gain nothing, and the first result would be late.
constexpr std::size_t max_pairs_at_once = 32;
// Where less is in common, a Registrar asks whether only lines agree (strip_structure.hpp).
constexpr double min_overlap = 0.25;

bool is_sparse(std::span<const float> level, const IntensityStatistics& grey) {
  return bright_fraction(
             {level, {}, grey.mean, grey.deviation, static_cast<double>(grey.maximum)}) <=
         max_sparse_fraction;
}

}  // namespace

bool can_pairs_be_batched(const RegistrationOptions& options) {
  return can_be_batched(options) && options.motion != Motion::translation &&
         !options.collect_timings;
}

std::size_t pairs_at_once(const Device& device, PixelType type, const Shape& image) {
  if (!can_be_batched(type, image)) return 1;
  return static_cast<std::size_t>(batch_of(device, whole_frame(image), max_pairs_at_once));
}

PairBatch::PairBatch(const Device& device, const RegistrationOptions& options, PixelType type,
                     const Shape& image, std::size_t pairs, std::size_t threads)
    : type_(type),
      image_(image),
      pairs_(pairs),
      host_(threads),
      signs_(host_.threads()),
      references_(device, type, image, static_cast<std::int64_t>(pairs)),
      moving_(device, type, image, static_cast<std::int64_t>(pairs)),
      matcher_(device, options, image,
               {static_cast<std::int64_t>(pairs), static_cast<std::int64_t>(pairs)},
               &host_.loop()) {
  results_.reserve(pairs);
}

std::span<const std::optional<RegistrationResult>> PairBatch::run(
    StageClock& clock, std::span<const HostImage> references, std::span<const HostImage> moving) {
  references_.run(clock, references);
  moving_.run(clock, moving);
  matcher_.take_references(clock, references_.pixels(), references.size());
  matcher_.run(clock, moving_.pixels(), moving.size());
  results_.clear();
  looks_.clear();
  FrameLevels& levels = matcher_.levels();
  const Affine to_image = level_to_image(image_, {levels.spacing()});
  for (std::size_t i = 0; i < moving.size(); ++i) {
    results_.emplace_back();
    std::optional<BatchedFrame> found = matcher_.result(i);
    if (!found || found->may_be_ambiguous || !(found->result.overlap > min_overlap)) continue;
    const Affine& matrix = found->result.matrix;
    looks_.push_back(
        {i,
         {levels.shape().width,
          levels.shape().height,
          levels.reference_on_host(i),
          levels.values_on_host(i),
          {},
          {}},
         {Homography(to_image.inverse() * matrix * to_image),
          corner_distance(matrix, Affine{}, image_), scale_of(matrix), found->result.correlation},
         &levels.reference_grey(i),
         &levels.grey_of(i)});
    results_.back() = std::move(found->result);
  }
  look_again(references, moving);
  leave_still_rivals(clock);
  return results_;
}

// Leaves to a Registrar what it would look at again.
void PairBatch::look_again(std::span<const HostImage> references,
                           std::span<const HostImage> moving) {
  std::atomic<std::size_t> next = 0;
  host_.loop().run(0, looks_.size(), [&](std::size_t first, std::size_t end) {
    SensorSigns& signs = signs_[next++];
    for (std::size_t i = first; i < end; ++i) {
      const std::size_t pair = looks_[i].pair;
      const bool is_plain = !has_impulses(references[pair]) && !has_impulses(moving[pair]) &&
                            !are_sparse(looks_[i]) && !shows_pattern(looks_[i], signs);
      if (!is_plain) results_[pair].reset();
    }
  });
}

// A Registrar compares the points of sparse images.
bool PairBatch::are_sparse(const Look& look) {
  return is_sparse(look.level.reference, *look.reference) &&
         is_sparse(look.level.moving, *look.moving);
}

bool PairBatch::shows_pattern(const Look& look, SensorSigns& signs) const {
  return !is_beyond_reach(look.answer.distance, image_) && signs.any(look.level, look.answer);
}

// What has moved far may be a pattern with symmetries that matches itself, as a Registrar asks.
void PairBatch::leave_still_rivals(StageClock& clock) {
  std::erase_if(looks_, [&](const Look& look) {
    return !results_[look.pair] || !is_beyond_reach(look.answer.distance, image_);
  });
  if (looks_.empty()) return;
  const std::span<const FrameScore> still = matcher_.score_still(clock, results_.size());
  for (const Look& look : looks_) {
    std::optional<RegistrationResult>& result = results_[look.pair];
    if (still[look.pair].significance >= still_rival * result->significance) result.reset();
  }
}

}  // namespace warpalign::detail
