// What is done with each frame of a stack.
#include "commands/stack_work.hpp"

#include "io/registrable_image.hpp"
#include "io/usage_error.hpp"

#include <utility>

namespace warpalign::program {

StackWork::StackWork(const Device& device, const RegistrationOptions& settings, StackReference to,
                     const Frame& first, std::optional<LoadedImage> mask, StackOutputs& outputs)
    : shape_(first.image.shape()), warper_(device, shape_, shape_), outputs_(outputs) {
  naming(first.name,
         [&] { registrar_.emplace(device, settings, to, first.image, std::move(mask), warper_); });
  if (outputs_.wants_means()) means_.emplace(shape_);
}

StackFrame StackWork::take_first(const Frame& first) {
  StackFrame done{0, first.name, {}, {}, {}, first.stem};
  done.place.confidence = done.place.correlation = done.place.overlap = 1;
  done.place.reliable = true;
  if (means_) means_->add(first.image, {}, warper_);
  done.aligned = outputs_.write_aligned(0, first.stem, &first.image);
  return done;
}

StackFrame StackWork::take(const Frame& frame, std::size_t index) {
  StackFrame done{index, frame.name, {}, frame.trouble, {}, frame.stem};
  if (done.trouble.empty()) {
    try {
      naming(frame.name, [&] { done.place = registrar_->place(frame.image, index); });
    } catch (const UsageError& error) {
      done.trouble = error.what();
    }
  }
  if (means_ && done.place.reliable) means_->add(frame.image, done.place.matrix, warper_);
  if (!outputs_.wants_frames()) return done;
  std::optional<LoadedImage> aligned;
  if (done.place.reliable) aligned = warper_.warp(frame.image, done.place.matrix);
  done.aligned = outputs_.write_aligned(index, frame.stem, aligned ? &*aligned : nullptr);
  return done;
}

std::optional<MeanPictures> StackWork::means() const {
  if (!means_) return {};
  return means_->pictures();
}

bool StackWork::needs_again(const StackFrame& done, std::size_t last) const {
  if (!done.place.reliable) return false;
  return means_ || outputs_.lack(done) || registrar_->needs_again(done.index, last);
}

void StackWork::take_again(const StackFrame& done, const Frame* frame, std::size_t last) {
  if (frame == nullptr) return outputs_.write_lacking(done, nullptr);
  if (registrar_->needs_again(done.index, last)) {
    registrar_->take_again(frame->image, done.place, done.index);
  }
  if (means_) means_->add(frame->image, done.place.matrix, warper_);
  if (!outputs_.lack(done)) return;
  const bool is_first = done.index == 0;  // which is written as it is
  const LoadedImage aligned =
      is_first ? frame->image : warper_.warp(frame->image, done.place.matrix);
  outputs_.write_lacking(done, &aligned);
}

}  // namespace warpalign::program
