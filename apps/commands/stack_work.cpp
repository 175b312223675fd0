// Processes each frame of a stack.
#include "commands/stack_work.hpp"

#include "commands/affine_map.hpp"
#include "commands/deformable_stack.hpp"
#include "commands/frames_per_batch.hpp"
#include "commands/known_drift.hpp"
#include "commands/known_fields.hpp"
#include "commands/local_stack.hpp"
#include "commands/stack_registrar.hpp"
#include "io/registrable_image.hpp"
#include "io/usage_error.hpp"

#include <utility>

namespace warpalign::program {

namespace {

constexpr double confidence_if_unclear = 0.4;  // less than that of a reliable frame

}  // namespace

StackWork::StackWork(std::span<const Device> devices, const StackMotion& motion, StackReference to,
                     const Frame& frame, std::optional<LoadedImage> mask, StackOutputs& outputs)
    : shape_(frame.image.shape()),
      max_frames_at_once_(frames_per_batch(frame.all_planes()) * devices.size()),
      warper_(devices.front(), shape_, shape_),
      outputs_(outputs) {
  naming(frame.name, [&] {
    if (motion.known_fields) {
      aligner_ = std::make_unique<KnownFields>(devices.front(), *motion.known_fields, shape_,
                                               motion.nodata);
    } else if (!motion.known.empty()) {
      aligner_ = std::make_unique<KnownDrift>(motion.known, warper_);
    } else if (motion.local) {
      aligner_ = std::make_unique<LocalStack>(devices.front(), *motion.local, to, frame.image,
                                              motion.nodata, warper_);
    } else if (motion.global.motion == Motion::deformable) {
      aligner_ = std::make_unique<DeformableStack>(devices.front(), motion.global, to, frame.image,
                                                   std::move(mask), motion.initial, motion.nodata,
                                                   warper_);
    } else {
      aligner_ = std::make_unique<StackRegistrar>(devices, motion.global, to, frame.image,
                                                  std::move(mask), motion.initial, warper_);
    }
  });
  const bool has_matrices =
      !motion.local && !motion.known_fields && motion.global.motion != Motion::deformable;
  if (motion.nodata && has_matrices)
    plane_warper_.emplace(devices.front(), shape_, shape_, motion.nodata);
  if (outputs_.needs_means()) means_.emplace(shape_);
}

void StackWork::set_origin(const Frame& frame, std::optional<std::size_t> index) {
  naming(frame.name, [&] { aligner_->set_origin(frame.image, index); });
}

StackFrame StackWork::take_origin(const Frame& frame, std::size_t index) {
  StackFrame done{index, frame.name, {}, {}, {}, {}, frame.stem};
  done.note = note_of(index);
  done.place.confidence = done.place.correlation = done.place.overlap = 1;
  done.place.reliable = true;
  if (aligner_->has_spread()) done.place.spread = 0;
  AffineMap unmoved({}, warper_);
  if (means_) means_->add(frame.image, unmoved);
  if (!outputs_.needs_aligned_frames()) return done;
  const AlignedFrame unchanged = unwarped(frame);
  done.aligned = outputs_.write_aligned(index, frame.stem, &unchanged);
  return done;
}

/// The transform to the channel of a plane, or null for the channel that is registered.
const Affine* StackWork::channel_transform(std::size_t plane) const {
  if (channels_.empty()) return nullptr;
  const Affine& matrix = channels_[plane % channels_.size()].matrix;
  return is_identity(matrix) ? nullptr : &matrix;
}

/// The planes that outputs need, resampled to the grid, each of them once.
AlignedFrame StackWork::aligned(const Frame& frame, GridMap& map, const FrameAlignment& place) {
  AlignedFrame aligned;
  if (outputs_.needs_field()) aligned.field = field_of(map);
  if (outputs_.needs_registered() && !frame.planes.empty()) {
    aligned.registered = map.warp(frame.image);
  }
  if (aligned.registered && !outputs_.needs_planes()) return aligned;
  const auto planes = frame.all_planes();
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const Affine* channel = channel_transform(i);
    if (channel == nullptr && !plane_warper_) {
      aligned.planes.push_back(map.warp_stored(planes[i]));
      continue;
    }
    const Affine matrix = channel == nullptr ? place.matrix : *channel * place.matrix;
    aligned.planes.push_back(AffineMap(matrix, plane_warper()).warp(planes[i]));
  }
  return aligned;
}

/// The displacements of the grid's pixels, along x and along y.
std::vector<LoadedImage> StackWork::field_of(const GridMap& map) const {
  std::vector<LoadedImage> field;
  for (int axis = 0; axis < 2; ++axis) {
    field.push_back(make_image(shape_.width, shape_.height, 1, PixelType::f32));
  }
  std::size_t i = 0;
  for (std::int64_t y = 0; y < shape_.height; ++y) {
    for (std::int64_t x = 0; x < shape_.width; ++x, ++i) {
      const Point p = map.at(x, y);
      field[0].samples<float>()[i] = static_cast<float>(p.x - static_cast<double>(x));
      field[1].samples<float>()[i] = static_cast<float>(p.y - static_cast<double>(y));
    }
  }
  return field;
}

/// The planes of the drift's origin: unchanged, except channels that are shifted.
AlignedFrame StackWork::unwarped(const Frame& frame) {
  const auto planes = frame.all_planes();
  AlignedFrame same{{planes.begin(), planes.end()}, {}, {}};
  if (outputs_.needs_field()) same.field = field_of(AffineMap({}, warper_));
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const Affine* channel = channel_transform(i);
    if (channel != nullptr) same.planes[i] = AffineMap(*channel, plane_warper()).warp(planes[i]);
  }
  if (outputs_.needs_registered()) same.registered = frame.image;
  return same;
}

std::string StackWork::note_of(std::size_t index) const {
  if (!origin_.is(index) || origin_.is_usual()) return {};
  return std::string("reference: ") + text_of(origin_.reason);
}

StackFrame StackWork::take(const Frame& frame, std::size_t index) {
  if (origin_.is(index)) return take_origin(frame, index);
  StackFrame done{index, frame.name, {}, frame.trouble, {}, {}, frame.stem};
  if (done.trouble.empty() && shows_only_pattern_) {
    done.trouble = frame.name + ": shows nothing but a pattern that is fixed to the sensor";
  }
  if (done.trouble.empty()) {
    try {
      naming(frame.name, [&] { done.place = aligner_->place(frame.image, index); });
      if (is_unclear_) {
        done.place.reliable = false;
        done.place.confidence = std::min(done.place.confidence, confidence_if_unclear);
        done.note =
            "the scene moves too little to be distinguished from a pattern that is fixed to the "
            "sensor";
      }
    } catch (const UsageError& error) {
      done.trouble = error.what();
    }
  }
  std::unique_ptr<GridMap> map;
  if (done.place.reliable && (means_ || outputs_.needs_aligned_frames())) {
    map = aligner_->map_of(frame.image, done.place, index);
    note_widest(done.place);
  }
  if (means_ && map) means_->add(frame.image, *map);
  if (!outputs_.needs_aligned_frames()) return done;
  std::optional<AlignedFrame> on_grid;
  if (map) on_grid = aligned(frame, *map, done.place);
  done.aligned = outputs_.write_aligned(index, frame.stem, on_grid ? &*on_grid : nullptr);
  return done;
}

void StackWork::note_widest(const FrameAlignment& place) {
  if (!outputs_.needs_means() || aligner_->motion() == nullptr) return;
  const double spread = place.spread.value_or(0);
  if (widest_ && spread <= widest_spread_) return;
  widest_ = *aligner_->motion();
  widest_spread_ = spread;
}

std::optional<MeanPictures> StackWork::means() const {
  if (!means_) return {};
  return means_->pictures();
}

bool StackWork::needs_finished(const StackFrame& done, std::size_t last) const {
  if (!done.place.reliable) return false;
  return means_ || outputs_.lack(done) || aligner_->needs_finished(done.index, last);
}

void StackWork::add_finished(const StackFrame& done, const Frame* frame, std::size_t last) {
  if (done.trouble.empty()) aligner_->note(done.place, done.index);
  if (frame == nullptr) return outputs_.write_lacking(done, nullptr);
  if (origin_.is(done.index)) {  // written unchanged
    AffineMap unmoved({}, warper_);
    if (means_) means_->add(frame->image, unmoved);
    if (!outputs_.lack(done)) return;
    const AlignedFrame unchanged = unwarped(*frame);
    return outputs_.write_lacking(done, &unchanged);
  }
  if (aligner_->needs_finished(done.index, last)) {
    aligner_->add_finished(frame->image, done.place, done.index);
  }
  if (!means_ && !outputs_.lack(done)) return;
  const std::unique_ptr<GridMap> map = aligner_->map_of(frame->image, done.place, done.index);
  note_widest(done.place);
  if (means_) means_->add(frame->image, *map);
  if (!outputs_.lack(done)) return;
  const AlignedFrame on_grid = aligned(*frame, *map, done.place);
  outputs_.write_lacking(done, &on_grid);
}

}  // namespace warpalign::program
