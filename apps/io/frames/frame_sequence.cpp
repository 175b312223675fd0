// Reads the frames of many files in order, and adds the names of the files to all messages.
#include "io/frames/frame_sequence.hpp"

#include "io/file_bytes.hpp"
#include "io/frames/npy_frames.hpp"
#include "io/frames/tiff_frames.hpp"
#include "io/frames/y4m_frames.hpp"
#include "io/starts_with.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

namespace warpalign::program {
namespace {

using Path = std::filesystem::path;

void refuse_choice(const PlaneChoice& choice) {
  if (choice.axes) throw FileError("has no axes to name: --axes is for TIFF and .npy; omit it");
  if (choice.channel.value_or(0) == 0 && choice.slice.value_or(0) == 0) return;
  throw FileError("has one channel and one plane; omit --channel and --z");
}

/// A file with one frame: an image, or a file that could not be opened.
class SingleFrame : public FrameSource {
 public:
  /// `trouble`: why the file could not be opened; empty for an image.
  SingleFrame(std::string file, std::string trouble)
      : file_(std::move(file)), trouble_(std::move(trouble)) {}

  [[nodiscard]] FrameCount count() const override { return {1, true}; }
  [[nodiscard]] std::optional<Frame> next() override {
    if (!skip()) return {};
    Frame frame{file_, Path(file_).stem().string(), {}, trouble_};
    try {
      if (trouble_.empty()) frame.image = load_image(file_);
    } catch (const FileError& error) {
      frame.trouble = error.what();
    }
    return frame;
  }
  bool skip() override { return !std::exchange(done_, true); }

 private:
  std::string file_;
  std::string trouble_;
  bool done_ = false;
};

/// The format of a pipe is not detected, because that would consume its start.
std::unique_ptr<FrameSource> open_frames(const std::string& file, const PlaneChoice& choice) {
  if (is_pipe(file)) {
    refuse_choice(choice);
    return std::make_unique<Y4mFrames>(file);
  }
  const FileBytes bytes(file);
  const auto head = bytes.head();
  if (is_tiff(head)) return std::make_unique<TiffFrames>(file, choice);
  if (starts_with(head, "\x93NUMPY")) return std::make_unique<NpyFrames>(file, choice);
  refuse_choice(choice);
  if (starts_with(head, "YUV4MPEG2")) return std::make_unique<Y4mFrames>(file);
  return std::make_unique<SingleFrame>(file, "");
}

/// Whether files with this extension may hold several frames.
bool may_be_a_stack(const std::string& file) {
  const std::string extension = Path(file).extension().string();
  return extension == ".tif" || extension == ".tiff" || extension == ".npy" || extension == ".y4m";
}

std::string named(const std::string& name, const std::string& words) {
  return fmt::format("{}: {}", name == "-" ? "standard input" : name, words);
}

}  // namespace

bool is_pipe(const std::string& file) {
  std::error_code failed;
  const auto status = std::filesystem::status(file, failed);
  return file == "-" || std::filesystem::is_fifo(status) ||
         std::filesystem::is_character_file(status);
}

FrameSequence::FrameSequence(std::vector<std::string> files, const PlaneChoice& choice)
    : files_(std::move(files)), choice_(choice) {}

FrameCount FrameSequence::count() const {
  const std::size_t unopened = files_.size() - opened_;
  const bool one_each = std::none_of(files_.begin() + static_cast<std::ptrdiff_t>(opened_),
                                     files_.end(), may_be_a_stack);
  if (!current_) return {closed_frames_ + unopened, one_each};
  const FrameCount current = current_->count();
  // The length of a pipe is unknown, and so is the total.
  if (!current.exact && current.frames == 0) return {};
  return {closed_frames_ + std::max(current.frames, current_frames_) + unopened,
          one_each && current.exact};
}

const VideoFormat* FrameSequence::video() const { return video_ ? &*video_ : nullptr; }

const RecordingFormat* FrameSequence::recording() const {
  return recording_ ? &*recording_ : nullptr;
}

/// All files must have the planes of the first one. A file without a format has one plane.
void FrameSequence::check_planes() {
  static const RecordingFormat one_plane;
  const RecordingFormat* format = current_->recording();
  if (!recording_) recording_ = format == nullptr ? one_plane : *format;
  const RecordingFormat& found = format == nullptr ? one_plane : *format;
  if (found.slices == recording_->slices && found.channels == recording_->channels) return;
  throw FileError(fmt::format(
      "has {} channels and {} planes in z at each time, but the first file has {} and {}",
      found.channels, found.slices, recording_->channels, recording_->slices));
}

void FrameSequence::close() {
  const std::string trouble = current_->ended_early();
  if (!trouble.empty()) {
    if (!ended_early_.empty()) ended_early_ += "; ";
    ended_early_ += named(files_[opened_ - 1], trouble);
  }
  current_.reset();
  closed_frames_ += std::exchange(current_frames_, 0);
}

/// Opens the next file. Returns false after the last one.
bool FrameSequence::open_next() {
  if (opened_ == files_.size()) return false;
  const std::string& file = files_[opened_++];
  try {
    current_ = open_frames(file, choice_);
    check_planes();
  } catch (const FileError& error) {
    current_ = std::make_unique<SingleFrame>(file, named(file, error.what()));
  }
  if (opened_ == 1 && current_->video() != nullptr) video_ = *current_->video();
  return true;
}

/// Calls `ask` with the open file and then with each following one until it returns an answer.
template <typename Ask>
auto FrameSequence::first_answer(const Ask& ask) {
  decltype(ask(*current_)) answer{};
  while (!answer && (current_ || open_next())) {
    try {
      answer = ask(*current_);
    } catch (const FileError& error) {
      throw FileError(named(files_[opened_ - 1], error.what()));
    }
    if (answer) ++current_frames_;
    if (!answer) close();
  }
  return answer;
}

std::optional<Frame> FrameSequence::next() {
  std::optional<Frame> frame = first_answer([](FrameSource& source) { return source.next(); });
  if (!frame || !frame->trouble.empty()) return frame;
  const int channels = frame->all_planes().front().channels;
  if (channels != 1 && channels != 3) {
    frame->trouble = fmt::format(
        "{}: has {} samples a pixel; the frames of a stack are gray or RGB: save the channels as "
        "pages",
        frame->name, channels);
    frame->image = {};
    frame->planes.clear();
  }
  return frame;
}

bool FrameSequence::skip() {
  return first_answer([](FrameSource& source) { return source.skip(); });
}

}  // namespace warpalign::program
