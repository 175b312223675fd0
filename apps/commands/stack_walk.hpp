// Goes through a stack's frames in their order: those that are new are worked on, those that an
// earlier run has done are only made complete.
#pragma once

#include "commands/stack_input.hpp"
#include "commands/stack_outputs.hpp"
#include "commands/stack_resume.hpp"
#include "commands/stack_work.hpp"
#include "io/progress.hpp"
#include "reports/stack_report.hpp"

#include <chrono>
#include <deque>
#include <exception>

namespace warpalign::program {

/// A frame that is read before its turn.
struct ReadFrame {
  std::size_t index = 0;
  Frame frame;
};

class StackWalk {
 public:
  /// `journal`: null where none is kept. Everything must outlive this.
  StackWalk(StackInput& input, StackWork& work, StackOutputs& outputs, StackJournal* journal,
            const Shard& shard);

  /// To the last frame. Throws FileError.
  [[nodiscard]] StackTotals go();

 private:
  bool step(std::size_t index);
  bool complete(const StackFrame& done);
  [[nodiscard]] std::optional<Frame> frame(std::size_t index);
  [[nodiscard]] std::optional<Frame> new_frame(std::size_t index);
  void read_ahead(std::size_t index);
  void note(const StackFrame& done);
  void tell(const StackFrame& done);

  StackInput& input_;
  StackWork& work_;
  StackOutputs& outputs_;
  StackJournal* journal_;
  Shard shard_;
  Progress progress_;
  StackTotals totals_;
  std::deque<ReadFrame> ahead_;            ///< frames that are read, and not yet worked on
  std::size_t read_ = 0;                   ///< all frames before this index are read or skipped
  std::exception_ptr reading_has_failed_;  ///< behind the frames that are read
  std::chrono::steady_clock::time_point marked_ = std::chrono::steady_clock::now();
};

}  // namespace warpalign::program
