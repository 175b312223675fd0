// Estimates the local motion of a stack's frames relative to the first frame or a running mean.
#include "commands/local_stack.hpp"

#include "commands/affine_map.hpp"
#include "commands/frames_per_batch.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace warpalign::program {
namespace {

/// The field's mean as a translation, with the median scores of the windows.
FrameAlignment alignment_of(const FrameMotion& motion) {
  FrameAlignment place;
  if (!motion.field) return place;
  const FieldSummary field = summary_of(motion);
  place.matrix = Affine::translation(field.mean.x, field.mean.y);
  place.homography = place.matrix;
  place.similarity = {0, 1, field.mean};
  place.confidence =
      static_cast<double>(motion.count_used()) / static_cast<double>(motion.shifts.size());
  place.correlation = field.correlation;
  place.significance = field.significance;
  place.overlap = field.inside;
  place.refined = true;
  place.reliable = motion.reliable();
  place.spread = field.spread;
  return place;
}

}  // namespace

LocalStack::LocalStack(const Device& device, const LocalSettings& settings, StackReference to,
                       const LoadedImage& frame, std::optional<double> nodata, FrameWarper& warper)
    : finder_(device, frame.type, frame.shape(), settings),
      warper_(device, frame.shape()),
      plain_warper_(warper),
      nodata_(nodata),
      to_(to) {
  if (to == StackReference::mean) return;
  frames_at_once_ = frames_per_batch(frame);
}

void LocalStack::set_origin(const LoadedImage& image, std::optional<std::size_t> index) {
  finder_.set_reference(image);
  origin_ = index;
  ahead_.set_origin(index);
  if (to_ != StackReference::mean) return;
  mean_.emplace(image.shape(), std::nullopt);
  AffineMap unmoved({}, plain_warper_);
  mean_->add(image, unmoved);
}

std::vector<Trial> LocalStack::try_frames(std::span<const UpcomingFrame> frames) {
  std::vector<Trial> trials;
  for (const UpcomingFrame& frame : frames) {
    register_early(std::span(&frame, 1));
    const FrameMotion* motion = ahead_.find(frame.index);
    trials.push_back(motion == nullptr    ? Trial::unusable
                     : motion->reliable() ? Trial::reliable
                                          : Trial::unreliable);
  }
  return trials;
}

// If the batch fails, place() registers each frame separately, so that errors belong to a frame.
void LocalStack::register_early(std::span<const UpcomingFrame> all) {
  const std::vector<UpcomingFrame> frames = ahead_.without(all);
  if (frames.empty()) return;
  std::vector<const LoadedImage*> images;
  for (const UpcomingFrame& frame : frames) images.push_back(frame.image);
  std::vector<FrameMotion> motions;
  try {
    const std::scoped_lock lock(finder_mutex_);
    motions = finder_.find(images);
  } catch (const Error&) {
    return;
  }
  ahead_.put(frames, std::move(motions));
}

void LocalStack::find(const LoadedImage& frame, std::size_t index) {
  index_ = index;
  if (std::optional<FrameMotion> known = ahead_.take(index)) {
    motion_ = *std::move(known);
    return;
  }
  const std::scoped_lock lock(finder_mutex_);
  if (std::exchange(mean_is_newer_, false)) finder_.set_reference(mean_->mean());
  motion_ = finder_.find(frame);
}

FrameAlignment LocalStack::place(const LoadedImage& frame, std::size_t index) {
  find(frame, index);
  FrameAlignment place = alignment_of(motion_);
  if (!mean_) place.reference = origin_;
  if (place.reliable && mean_ && index >= origin_.value_or(0)) {
    mean_->add(frame, *map_of(frame, place, index));
    mean_is_newer_ = true;
  }
  return place;
}

void LocalStack::add_finished(const LoadedImage& frame, const FrameAlignment& /*place*/,
                              std::size_t index) {
  (void)place(frame, index);
}

bool LocalStack::needs_finished(std::size_t index, std::size_t /*last*/) const {
  return mean_ && index > origin_.value_or(0);
}

std::unique_ptr<GridMap> LocalStack::map_of(const LoadedImage& frame,
                                            const FrameAlignment& /*place*/, std::size_t index) {
  if (index != index_) find(frame, index);  // from an earlier run; the journal stores no fields
  if (!motion_.field) {
    throw Error(ErrorKind::device_failure,
                fmt::format("frame {} was reliable in an earlier run but is not now; remove the "
                            "journal and start again",
                            index));
  }
  return std::make_unique<FieldMap>(*motion_.field, warper_, nodata_);
}

}  // namespace warpalign::program
