// What `warpalign stack` writes.
#pragma once

#include "commands/stack_input.hpp"
#include "commands/stack_options.hpp"
#include "io/atomic_file.hpp"
#include "io/frames/frame_sink.hpp"
#include "reports/drift_plot.hpp"
#include "reports/stack_report.hpp"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// The outputs that were asked for. That they can be written is checked at once. What grows with
/// the frames is written as they come; nothing is at its place before finish().
class StackOutputs {
 public:
  /// Throws FileError.
  StackOutputs(const StackOptions& options, const StackInput& input);

  [[nodiscard]] bool wants_frames() const { return !sinks_.empty(); }
  /// Hands a frame to everything that holds aligned frames. `aligned`: null where it could not be
  /// aligned. Returns what it was written as, empty where it was not. Throws FileError.
  std::string write_aligned(std::size_t index, const std::string& stem, const LoadedImage* aligned);

  /// Writes what stands in front of the frames. Throws FileError.
  void start(const StackSetting& setting);
  /// Writes a frame's lines. They come in the frames' order. Throws FileError.
  void report(const StackFrame& frame);
  /// Finishes everything. Throws FileError.
  void finish(StackTotals& totals);
  /// Where text for people goes: standard output, unless a video goes there.
  [[nodiscard]] std::FILE* text() const { return text_; }

 private:
  void open_sinks(const StackOptions& options, const StackInput& input);
  [[nodiscard]] std::vector<std::string> names() const;

  StackOptions options_;
  StackSetting setting_;
  std::vector<std::unique_ptr<FrameSink>> sinks_;
  std::optional<AtomicFile> csv_;
  std::optional<AtomicFile> json_;
  std::optional<AtomicFile> plot_;
  DriftPlot drift_;
  bool is_first_ = true;
  std::FILE* text_;
};

}  // namespace warpalign::program
