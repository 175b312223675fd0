// Chooses the image to which the frames of a stack are registered.
#include "commands/stack_reference.hpp"

#include "commands/frame_texture.hpp"
#include "io/registrable_image.hpp"
#include "io/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>
#include <vector>

namespace warpalign::program {
namespace {

using Reason = DriftOrigin::Reason;

/// How many frames with usable pixels are read ahead to find the first usable one.
constexpr std::size_t max_frames_ahead = 32;
constexpr std::size_t min_frames_ahead = 4;
constexpr std::size_t max_bytes_ahead = std::size_t{64} << 20;
/// How many of the next frames are registered to a frame other than the first one.
constexpr std::size_t frames_to_try = 3;
/// How many of the sharpest frames are tried for --to auto.
constexpr std::size_t sharpest_to_try = 8;

std::size_t frames_ahead(const StackInput& input) {
  std::size_t bytes = 0;
  for (const LoadedImage& plane : input.first().all_planes()) {
    bytes += plane.row_bytes() * static_cast<std::size_t>(plane.height);
  }
  return std::clamp(max_bytes_ahead / bytes, min_frames_ahead, max_frames_ahead);
}

[[noreturn]] void refuse_number(std::size_t frame, std::size_t frames) {
  throw UsageError(
      fmt::format("--to {}: the stack has {} frames; choose 0 to {}", frame, frames, frames - 1));
}

[[noreturn]] void refuse_pipe(const std::string& to, const std::string& pipe) {
  throw UsageError(
      fmt::format("--to {}: needs to read the frames twice, but {} can be read only once; save it "
                  "as a file, or choose one of the first frames",
                  to, pipe));
}

/// The reason why an image cannot be the reference, in the words for a frame that is registered.
std::string as_moving(std::string reason) {
  const std::string reference = "the reference image";
  const std::size_t at = reason.find(reference);
  if (at != std::string::npos) reason.replace(at, reference.size(), "the moving image");
  return reason;
}

/// Finds the first usable frame among those that are read ahead.
class FirstUsable {
 public:
  FirstUsable(StackInput& input, StackWork& work)
      : input_(input), work_(work), limit_(frames_ahead(input)) {}

  [[nodiscard]] DriftOrigin find() {
    std::optional<std::size_t> fallback;
    std::size_t tried = 0;
    std::size_t index = 0;
    for (; tried < limit_; ++index) {
      const Frame* frame = input_.peek(index);
      if (frame == nullptr) break;
      if (!frame->trouble.empty() || !set_origin(index)) continue;
      if (!fallback && another_registers(index, limit_ - 1)) return found(index);
      if (fallback && another_registers(index, frames_to_try)) return found(index);
      if (!fallback) fallback = index;
      ++tried;
    }
    if (!fallback) return {Reason::none, {}, ""};
    (void)set_origin(*fallback);  // another frame was the last one
    return {Reason::unconfirmed, *fallback, input_.peek(*fallback)->name};
  }

 private:
  /// Returns false if the frame's pixels cannot be used.
  bool set_origin(std::size_t index) {
    const Frame* frame = input_.peek(index);
    try {
      work_.set_origin(*frame, index);
    } catch (const UsageError& error) {
      input_.mark_unusable(index, as_moving(error.what()));
      return false;
    }
    return true;
  }

  /// Whether one of the next `count` frames registers to frame `index`, the origin. Tries the next
  /// frame first, which suffices in most stacks, and then as many together as is fast.
  bool another_registers(std::size_t index, std::size_t count) {
    std::vector<UpcomingFrame> frames;
    std::size_t at_once = 1;
    for (std::size_t next = index + 1; count > 0; ++next) {
      const Frame* frame = input_.peek(next);
      if (frame != nullptr && !frame->trouble.empty()) continue;
      if (frame != nullptr) frames.push_back({next, &frame->image});
      if (frame != nullptr && frames.size() < std::min(at_once, count)) continue;
      if (frames.empty()) return false;
      for (const Trial trial : work_.try_frames(frames)) {
        if (trial == Trial::reliable) return true;
        if (trial == Trial::unreliable) --count;
      }
      if (frame == nullptr) return false;
      frames.clear();
      at_once = work_.frames_at_once();
    }
    return false;
  }

  [[nodiscard]] DriftOrigin found(std::size_t index) {
    return {Reason::first_usable, index, input_.peek(index)->name};
  }

  StackInput& input_;
  StackWork& work_;
  std::size_t limit_;
};

struct TexturedFrame {
  std::size_t index = 0;
  double texture = 0;
};

std::vector<TexturedFrame> sharpest_first(const StackInput& input,
                                          const std::optional<LoadedImage>& mask) {
  std::vector<TexturedFrame> frames;
  input.read_again(0, [&](std::size_t index, const Frame& frame) {
    if (!frame.trouble.empty()) return true;
    const double texture = texture_of(frame.image, mask);
    if (texture > 0) frames.push_back({index, texture});
    return true;
  });
  std::stable_sort(frames.begin(), frames.end(),
                   [](const auto& a, const auto& b) { return a.texture > b.texture; });
  return frames;
}

/// Reads a frame and those next to it again, makes it the origin, and returns whether one of its
/// neighbours registers to it.
bool try_as_origin(std::size_t index, const StackInput& input, StackWork& work, std::string& name) {
  const std::size_t start = index > 0 ? index - 1 : 0;
  std::vector<Frame> frames;
  input.read_again(start, [&](std::size_t, Frame frame) {
    frames.push_back(std::move(frame));
    return start + frames.size() < index + 2;
  });
  if (start + frames.size() <= index) return false;
  const Frame& chosen = frames[index - start];
  name = chosen.name;
  try {
    work.set_origin(chosen, index);
  } catch (const UsageError&) {
    name.clear();
    return false;
  }
  std::vector<UpcomingFrame> neighbours;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (start + i == index || !frames[i].trouble.empty()) continue;
    neighbours.push_back({start + i, &frames[i].image});
  }
  const std::vector<Trial> trials = work.try_frames(neighbours);
  return std::find(trials.begin(), trials.end(), Trial::reliable) != trials.end();
}

DriftOrigin choose_sharpest(StackInput& input, StackWork& work,
                            const std::optional<LoadedImage>& mask) {
  std::vector<TexturedFrame> frames = sharpest_first(input, mask);
  if (frames.size() > sharpest_to_try) frames.resize(sharpest_to_try);
  for (const TexturedFrame& frame : frames) {
    std::string name;
    if (try_as_origin(frame.index, input, work, name)) return {Reason::sharpest, frame.index, name};
  }
  return FirstUsable(input, work).find();
}

/// Makes a frame of the stack the origin.
void set_frame(std::size_t index, const std::string& option, StackInput& input, StackWork& work,
               const std::optional<LoadedImage>& image, const std::string& name) {
  const Frame* ahead = image ? nullptr : input.peek(index);
  Frame frame{name, "", {}, ""};
  if (ahead != nullptr && !ahead->trouble.empty()) throw UsageError(option + ahead->trouble);
  if (image) frame.image = *image;
  try {
    work.set_origin(ahead != nullptr ? *ahead : frame, index);
  } catch (const UsageError& error) {
    throw UsageError(option + error.what());
  }
}

/// Loads frame `index` unless it is among those that are read ahead.
void load_frame(ReferenceChoice& choice, const std::string& option, StackInput& input) {
  if (choice.frame < frames_ahead(input)) {
    const Frame* frame = input.peek(choice.frame);
    if (frame != nullptr) {
      choice.name = frame->name;
      return;
    }
    std::size_t frames = 0;
    while (input.peek(frames) != nullptr) ++frames;
    refuse_number(choice.frame, frames);
  }
  if (const std::optional<std::string> pipe = input.pipe()) refuse_pipe(option, *pipe);
  const std::size_t frames = input.read_again(choice.frame, [&](std::size_t, Frame frame) {
    if (!frame.trouble.empty()) throw UsageError(fmt::format("--to {}: {}", option, frame.trouble));
    choice.name = frame.name;
    choice.image = std::move(frame.image);
    return false;
  });
  if (!choice.image) refuse_number(choice.frame, frames);
}

}  // namespace

ReferenceChoice reference_choice(const std::string& text) {
  for (const StackReference to : {StackReference::first, StackReference::previous,
                                  StackReference::mean, StackReference::automatic}) {
    if (text == name_of(to)) return {to, 0, {}, ""};
  }
  std::size_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, number);
  if (failed == std::errc{} && stop == end) return {StackReference::frame, number, {}, ""};
  std::error_code ignored;
  if (std::filesystem::is_regular_file(text, ignored)) return {StackReference::file, 0, {}, text};
  throw UsageError(
      fmt::format("invalid value '{}' for --to (choose from: first, previous, mean, auto, the "
                  "number of a frame, the name of an image file)",
                  text));
}

void load_reference(ReferenceChoice& choice, StackInput& input) {
  if (choice.to == StackReference::frame) {
    return load_frame(choice, std::to_string(choice.frame), input);
  }
  if (choice.to == StackReference::automatic) {
    if (const std::optional<std::string> pipe = input.pipe()) refuse_pipe("auto", *pipe);
  }
  if (choice.to != StackReference::file) return;
  choice.image = load_registrable(choice.name);
  const Shape frames = input.first().image.shape();
  if (choice.image->shape() == frames) return;
  throw UsageError(
      fmt::format("--to {}: is {}, but the frames are {}; crop or pad it to their size",
                  choice.name, to_string(choice.image->shape()), to_string(frames)));
}

DriftOrigin choose_origin(ReferenceChoice choice, const DriftOrigin* known, StackInput& input,
                          StackWork& work, const std::optional<LoadedImage>& mask) {
  const std::string option = fmt::format(
      "--to {}: ", choice.to == StackReference::file ? choice.name : std::to_string(choice.frame));
  if (choice.to == StackReference::file) {
    try {
      work.set_origin({choice.name, "", *std::move(choice.image), ""}, {});
    } catch (const UsageError& error) {
      throw UsageError(std::string("--to ") + error.what());
    }
    return {Reason::named, {}, choice.name};
  }
  if (choice.to == StackReference::frame) {
    set_frame(choice.frame, option, input, work, choice.image, choice.name);
    return {Reason::named, choice.frame, choice.name};
  }
  if (known != nullptr && known->frame) {
    ReferenceChoice again{StackReference::frame, *known->frame, {}, ""};
    load_frame(again, std::to_string(again.frame), input);
    set_frame(again.frame, "", input, work, again.image, again.name);
    return {known->reason, again.frame, again.name};
  }
  if (choice.to == StackReference::automatic) return choose_sharpest(input, work, mask);
  return FirstUsable(input, work).find();
}

}  // namespace warpalign::program
