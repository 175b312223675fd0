// Reads the input frames of `warpalign stack`.
#include "commands/stack_input.hpp"

#include "commands/fixed_pattern.hpp"
#include "commands/line_offset_search.hpp"
#include "io/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace warpalign::program {
namespace {

constexpr std::int64_t min_side = 16;

void check_size(const Frame& frame) {
  if (frame.image.width >= min_side && frame.image.height >= min_side) return;
  throw UsageError(fmt::format("{}: is {} x {} pixels; registration needs sides of at least {}",
                               frame.name, frame.image.width, frame.image.height, min_side));
}

LoadedImage without_pixels(const LoadedImage& image) {
  return {image.width, image.height, image.channels, image.type, {}};
}

}  // namespace

StackInput::StackInput(std::vector<std::string> files, const RegisteredBy& by)
    : by_(by), source_(std::move(files), by.planes()) {
  std::string trouble;
  first_ = taken;
  while (first_ == taken || ahead_.size() < first_ + 2) {
    std::optional<Frame> frame = read();
    if (!frame) break;
    if (!frame->trouble.empty() && trouble.empty()) trouble = frame->trouble;
    if (frame->trouble.empty() && first_ == taken) {
      check_size(*frame);
      first_ = ahead_.size();
      like_ = {frame->name, frame->stem, without_pixels(frame->image), {}};
      for (const LoadedImage& plane : frame->planes) {
        like_.planes.push_back(without_pixels(plane));
      }
    }
    ahead_.push_back(*std::move(frame));
  }
  if (first_ != taken && ahead_.size() > first_ + 1) return;
  if (!trouble.empty()) throw FileError(trouble);
  const std::string early = source_.ended_early();
  if (ahead_.empty()) {
    throw FileError(early.empty() ? fmt::format("{}: contains no frames", source_.files().front())
                                  : early);
  }
  if (!early.empty()) throw FileError(early + "; only one frame is left, and a stack needs two");
  throw UsageError(fmt::format("{}: is a single frame; a stack needs two or more", like_.name));
}

void StackInput::check_like_first(Frame& frame) const {
  const LoadedImage& image = frame.all_planes().front();
  const LoadedImage& first = like_.all_planes().front();
  if (!frame.trouble.empty()) return;
  if (image.shape() != first.shape()) {
    frame.trouble = fmt::format("{}: is {}, but the first frame is {}", frame.name,
                                to_string(image.shape()), to_string(first.shape()));
  } else if (image.type != first.type || image.channels != first.channels) {
    frame.trouble = fmt::format("{}: is {}, but the first frame is {}", frame.name, describe(image),
                                describe(first));
  }
}

void StackInput::undo_offset(Frame& frame) const {
  if (line_offset_ == 0) return;
  if (frame.planes.empty()) return undo_line_offset_in(frame.image, line_offset_);
  for (LoadedImage& plane : frame.planes) undo_line_offset_in(plane, line_offset_);
}

void StackInput::undo_line_offset(double pixels) {
  line_offset_ = pixels;
  for (Frame& frame : ahead_) {
    if (!frame.trouble.empty()) continue;
    undo_offset(frame);
    registered_->set_image(frame);
  }
}

/// A frame of one plane keeps it as it is, apart from the image.
void StackInput::subtract_pattern(Frame& frame) const {
  if (!pattern_) return;
  if (frame.planes.empty()) frame.planes.push_back(frame.image);
  subtract_from(frame.image);
}

void StackInput::subtract_from(LoadedImage& image) const {
  if (pattern_) subtract_pattern_in(image, *pattern_);
}

double StackInput::subtract_if_shown(LoadedImage& image, const LoadedImage* mask) const {
  if (!pattern_) return 0;
  const double gain = pattern_gain_in(image, *pattern_, mask);
  if (gain != 0) subtract_pattern_in(image, *pattern_, gain);
  return gain;
}

void StackInput::leave_out(SensorPattern pattern) {
  pattern_ = std::move(pattern);
  for (Frame& frame : ahead_) {
    if (frame.trouble.empty()) subtract_pattern(frame);
  }
}

std::size_t StackInput::count_frames() const {
  FrameSequence again(source_.files(), by_.planes());
  std::size_t frames = 0;
  while (again.skip()) ++frames;
  return frames;
}

/// Checks a frame and makes the image by which it is registered.
void StackInput::prepare(Frame& frame) const {
  if (like_.image.width > 0) check_like_first(frame);
  if (frame.trouble.empty()) {
    undo_offset(frame);
    registered_->set_image(frame);
    subtract_pattern(frame);
  } else {
    frame.image = {};
    frame.planes.clear();
  }
}

std::optional<Frame> StackInput::read() {
  std::optional<Frame> frame = source_.next();
  if (!frame) return frame;
  if (!registered_ && frame->trouble.empty()) {
    registered_.emplace(by_, source_.recording(), source_.files().front());
  }
  prepare(*frame);
  return frame;
}

RecordingFormat StackInput::recording() const {
  const RecordingFormat* format = source_.recording();
  return format == nullptr ? RecordingFormat{} : *format;
}

const Frame* StackInput::peek(std::size_t index) {
  while (ahead_.size() <= index) {
    std::optional<Frame> frame = read();
    if (!frame) return nullptr;
    ahead_.push_back(*std::move(frame));
  }
  return &ahead_[index];
}

void StackInput::mark_unusable(std::size_t index, std::string trouble) {
  Frame& frame = ahead_[index];
  frame.trouble = std::move(trouble);
  std::vector<std::byte>().swap(frame.image.pixels);
  frame.planes.clear();
}

std::optional<Frame> StackInput::next() {
  if (ahead_.empty()) return read();
  Frame frame = std::move(ahead_.front());
  ahead_.pop_front();
  first_ = first_ == 0 || first_ == taken ? taken : first_ - 1;
  return frame;
}

bool StackInput::skip() {
  if (ahead_.empty()) return source_.skip();
  return next().has_value();
}

std::optional<std::string> StackInput::pipe() const {
  for (const std::string& file : source_.files()) {
    if (is_pipe(file)) return file == "-" ? "standard input" : file;
  }
  return {};
}

}  // namespace warpalign::program
