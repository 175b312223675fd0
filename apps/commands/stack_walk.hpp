// Iterates over a stack's frames in order: processes new frames, and completes the outputs of
// frames that an earlier run processed.
#pragma once

#include "commands/frame_pipeline.hpp"
#include "commands/stack_input.hpp"
#include "commands/stack_outputs.hpp"
#include "commands/stack_resume.hpp"
#include "commands/stack_work.hpp"
#include "io/progress.hpp"
#include "reports/stack_report.hpp"

#include <chrono>

namespace warpalign::program {

class StackWalk {
 public:
  /// `journal`: null if there is none. All arguments must outlive this object.
  StackWalk(StackInput& input, StackWork& work, StackOutputs& outputs, StackJournal* journal,
            const Shard& shard);

  /// Processes all frames. Throws FileError.
  [[nodiscard]] StackTotals go();

 private:
  bool step(std::size_t index);
  bool complete(const JournalEntry& known);
  [[nodiscard]] std::optional<Frame> frame();
  bool skip();
  [[nodiscard]] std::optional<Frame> new_frame(std::size_t index);
  void plan_ahead(std::size_t index);
  void record_in_journal(const StackFrame& done);
  void report_frame(const StackFrame& done);

  StackInput& input_;
  StackWork& work_;
  StackOutputs& outputs_;
  StackJournal* journal_;
  Shard shard_;
  Progress progress_;
  StackTotals totals_;
  FramePipeline pipeline_;
  std::size_t planned_ = 0;  ///< all earlier frames have been or will be read or skipped
  std::chrono::steady_clock::time_point marked_ = std::chrono::steady_clock::now();
};

}  // namespace warpalign::program
