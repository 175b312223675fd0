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
}

StackFrame StackWork::take_first(const Frame& first) {
  StackFrame done{0, first.name, {}, {}, {}};
  done.place.confidence = done.place.correlation = done.place.overlap = 1;
  done.place.reliable = true;
  done.aligned = outputs_.write_aligned(0, first.stem, &first.image);
  return done;
}

StackFrame StackWork::take(const Frame& frame, std::size_t index) {
  StackFrame done{index, frame.name, {}, frame.trouble, {}};
  if (done.trouble.empty()) {
    try {
      naming(frame.name, [&] { done.place = registrar_->place(frame.image, index); });
    } catch (const UsageError& error) {
      done.trouble = error.what();
    }
  }
  if (!outputs_.wants_frames()) return done;
  std::optional<LoadedImage> aligned;
  if (done.place.reliable) aligned = warper_.warp(frame.image, done.place.matrix);
  done.aligned = outputs_.write_aligned(index, frame.stem, aligned ? &*aligned : nullptr);
  return done;
}

}  // namespace warpalign::program
