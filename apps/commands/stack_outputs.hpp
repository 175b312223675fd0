// Writes the outputs of `warpalign stack`.
#pragma once

#include "commands/stack_input.hpp"
#include "commands/stack_options.hpp"
#include "io/atomic_file.hpp"
#include "io/frames/frame_sink.hpp"
#include "reports/drift_plot.hpp"
#include "reports/stack_page.hpp"
#include "reports/stack_report.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// A frame on the grid of the drift's origin.
struct AlignedFrame {
  std::vector<LoadedImage> planes;        ///< all planes of the frame
  std::optional<LoadedImage> registered;  ///< the image that was registered, if an output takes
                                          ///< it and `planes` are several
  std::vector<LoadedImage> field;         ///< the displacements along x and y, if an output takes
                                          ///< them
};

/// The outputs that the user named. The constructor checks that they can be written. Outputs with
/// data per frame are written frame by frame. Files appear under their final names in finish(),
/// except for images in a folder. A shard writes only these images.
class StackOutputs {
 public:
  /// `done`: for a run that can be resumed, the number of frames that an earlier run has written.
  /// Throws FileError.
  StackOutputs(const StackOptions& options, const StackInput& input,
               std::optional<std::size_t> done);

  [[nodiscard]] bool needs_aligned_frames() const { return !sinks_.empty() || field_; }
  [[nodiscard]] bool needs_field() const { return field_ != nullptr; }
  [[nodiscard]] bool needs_means() const { return page_file_.has_value(); }
  /// Whether an output takes the image that was registered instead of all planes, and the reverse.
  [[nodiscard]] bool needs_registered() const { return takes(true); }
  [[nodiscard]] bool needs_planes() const { return takes(false); }
  /// Writes an aligned frame to all outputs that hold frames. `aligned`: null if the frame could
  /// not be aligned. Returns the name of the frame's image, or an empty string. Throws FileError.
  std::string write_aligned(std::size_t index, const std::string& stem,
                            const AlignedFrame* aligned);
  /// Whether an output lacks a frame that an earlier run has aligned.
  [[nodiscard]] bool lack(const StackFrame& done) const;
  /// Writes such a frame to the outputs that do not have it. Throws FileError.
  void write_lacking(const StackFrame& done, const AlignedFrame* aligned);
  /// Flushes the frames written so far to the disk. Throws FileError.
  void sync();

  /// Writes the headers that precede the frames. Throws FileError.
  void start(const StackSetting& setting);
  /// Writes a frame's lines. Frames must come in order. Throws FileError.
  void report(const StackFrame& frame);
  /// Finishes all outputs. `means`: null unless needs_means(). `widest`: the local motion to show
  /// on the page, or null. Throws FileError.
  void finish(StackTotals& totals, const MeanPictures* means, const FrameMotion* widest);
  /// Prints a message, unless --quiet is given.
  void say(const std::string& text) const;

 private:
  void open_sinks(const StackInput& input, std::optional<std::size_t> done);
  void open_reports(bool resumable);
  [[nodiscard]] bool takes(bool registered) const;
  void write_field(std::size_t index, const std::string& stem, const AlignedFrame* aligned);
  [[nodiscard]] std::vector<std::string> names() const;

  StackOptions options_;
  StackSetting setting_;
  std::vector<std::unique_ptr<FrameSink>> sinks_;
  std::unique_ptr<FrameSink> field_;
  std::vector<LoadedImage> no_field_;  ///< NaN, for frames that could not be aligned
  std::optional<AtomicFile> csv_;
  std::optional<AtomicFile> json_;
  std::optional<AtomicFile> plot_;
  std::optional<AtomicFile> page_file_;
  DriftPlot drift_;
  StackPage page_;
  bool is_first_ = true;
};

}  // namespace warpalign::program
