// The frames of many files, one file after the other.
#pragma once

#include "io/frames/frame_source.hpp"
#include "io/frames/tiff_axes.hpp"

#include <memory>
#include <string>
#include <vector>

namespace warpalign::program {

/// Images, TIFF stacks, .npy arrays and .y4m videos, told apart by their content. "-" is a video on
/// standard input. Every message names the file or the frame.
class FrameSequence : public FrameSource {
 public:
  /// `files`: as input_files() gives them, one or more. Each is opened when its first frame's turn
  /// comes; one that cannot be opened counts as one frame with trouble.
  FrameSequence(std::vector<std::string> files, const PlaneChoice& choice);

  /// Files that have not been opened count as one frame each.
  [[nodiscard]] FrameCount count() const override;
  [[nodiscard]] std::optional<Frame> next() override;
  bool skip() override;
  [[nodiscard]] std::string ended_early() const override { return ended_early_; }
  /// That of the first file.
  [[nodiscard]] const VideoFormat* video() const override;

  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }

 private:
  bool open_next();
  void close();
  template <typename Ask>
  auto first_answer(const Ask& ask);

  std::vector<std::string> files_;
  PlaneChoice choice_;
  std::size_t opened_ = 0;          ///< files
  std::size_t closed_frames_ = 0;   ///< of the files that are done
  std::size_t current_frames_ = 0;  ///< of the open one, those that are done
  std::unique_ptr<FrameSource> current_;
  std::optional<VideoFormat> video_;
  std::string ended_early_;
};

}  // namespace warpalign::program
