// Reads the input frames of `warpalign stack`.
#include "commands/stack_input.hpp"

#include "io/usage_error.hpp"

#include <fmt/format.h>

#include <utility>

namespace warpalign::program {
namespace {

constexpr std::int64_t min_side = 16;

Frame first_of(FrameSequence& source) {
  std::optional<Frame> frame = source.next();
  if (!frame) {
    throw FileError(source.ended_early().empty()
                        ? fmt::format("{}: contains no frames", source.files().front())
                        : source.ended_early());
  }
  if (!frame->trouble.empty()) throw FileError(frame->trouble);
  if (frame->image.width < min_side || frame->image.height < min_side) {
    throw UsageError(fmt::format("{}: is {} x {} pixels; registration needs sides of at least {}",
                                 frame->name, frame->image.width, frame->image.height, min_side));
  }
  return *std::move(frame);
}

}  // namespace

StackInput::StackInput(std::vector<std::string> files, const PlaneChoice& choice)
    : source_(std::move(files), choice), first_(first_of(source_)), second_(source_.next()) {
  if (second_) check_like_first(*second_);
  if (second_) return;
  const std::string early = source_.ended_early();
  throw UsageError(fmt::format("{}: is a single frame; a stack needs two or more{}{}", first_.name,
                               early.empty() ? "" : ". ", early));
}

void StackInput::check_like_first(Frame& frame) const {
  const LoadedImage& image = frame.image;
  const LoadedImage& first = first_.image;
  if (!frame.trouble.empty()) return;
  if (image.shape() != first.shape()) {
    frame.trouble = fmt::format("{}: is {}, but the first frame is {}", frame.name,
                                to_string(image.shape()), to_string(first.shape()));
  } else if (image.type != first.type || image.channels != first.channels) {
    frame.trouble = fmt::format("{}: is {}, but the first frame is {}", frame.name, describe(image),
                                describe(first));
  }
}

std::optional<Frame> StackInput::next() {
  if (second_) return std::exchange(second_, std::nullopt);
  std::optional<Frame> frame = source_.next();
  if (frame) check_like_first(*frame);
  return frame;
}

bool StackInput::skip() {
  if (second_) {
    second_.reset();
    return true;
  }
  return source_.skip();
}

}  // namespace warpalign::program
