// What `warpalign stack` writes.
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

/// The outputs that were asked for. That they can be written is checked at once. What grows with
/// the frames is written as they come; nothing is at its place before finish(), except for the
/// images in a folder. A shard writes only these.
class StackOutputs {
 public:
  /// `done`: how many frames of an earlier run need not be written again, for a run that can be
  /// gone on with. Throws FileError.
  StackOutputs(const StackOptions& options, const StackInput& input,
               std::optional<std::size_t> done);

  [[nodiscard]] bool wants_frames() const { return !sinks_.empty(); }
  [[nodiscard]] bool wants_means() const { return page_file_.has_value(); }
  /// Hands a frame to everything that holds aligned frames. `aligned`: null where it could not be
  /// aligned. Returns what it was written as, empty where it was not. Throws FileError.
  std::string write_aligned(std::size_t index, const std::string& stem, const LoadedImage* aligned);
  /// Whether an output has not got a frame that an earlier run has aligned.
  [[nodiscard]] bool lack(const StackFrame& done) const;
  /// Hands such a frame to the outputs that have not got it. Throws FileError.
  void write_lacking(const StackFrame& done, const LoadedImage* aligned);
  /// Flushes to the disk what must not be lost. Throws FileError.
  void sync();

  /// Writes what stands in front of the frames. Throws FileError.
  void start(const StackSetting& setting);
  /// Writes a frame's lines. They come in the frames' order. Throws FileError.
  void report(const StackFrame& frame);
  /// Finishes everything. `means`: null unless they are wanted. `widest`: the local motion
  /// that the page shows, or null. Throws FileError.
  void finish(StackTotals& totals, const MeanPictures* means, const FrameMotion* widest);
  /// Tells people something, unless the program is to be quiet.
  void say(const std::string& text) const;

 private:
  void open_sinks(const StackInput& input, std::optional<std::size_t> done);
  void open_reports(bool resumable);
  [[nodiscard]] std::vector<std::string> names() const;

  StackOptions options_;
  StackSetting setting_;
  std::vector<std::unique_ptr<FrameSink>> sinks_;
  std::optional<AtomicFile> csv_;
  std::optional<AtomicFile> json_;
  std::optional<AtomicFile> plot_;
  std::optional<AtomicFile> page_file_;
  DriftPlot drift_;
  StackPage page_;
  bool is_first_ = true;
};

}  // namespace warpalign::program
