// Iterates over a stack's frames in order.
#include "commands/stack_walk.hpp"

#include "io/one_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace warpalign::program {
namespace {

/// The number of frames for the progress bar; 0 if it is unknown.
std::size_t steps_of(const StackInput& input) {
  const FrameCount count = input.count();
  return count.exact ? count.frames : 0;
}

}  // namespace

StackWalk::StackWalk(StackInput& input, StackWork& work, StackOutputs& outputs,
                     StackJournal* journal, const Shard& shard)
    : input_(input),
      work_(work),
      outputs_(outputs),
      journal_(journal),
      shard_(shard),
      progress_(steps_of(input)),
      pipeline_(input, work) {}

StackTotals StackWalk::go() {
  for (std::size_t index = 0; step(index); ++index) {
  }
  pipeline_.settle();
  totals_.ended_early = input_.ended_early();
  if (!totals_.ended_early.empty()) {
    progress_.say(on_one_line(fmt::format("warpalign: {}", totals_.ended_early)));
  }
  if (totals_.failed == totals_.frames()) {
    progress_.say(fmt::format("warpalign: none of the {} frames can be used", totals_.failed));
  }
  return std::move(totals_);
}

/// Processes a frame. Returns false after the last one.
bool StackWalk::step(std::size_t index) {
  std::optional<JournalEntry> known;
  if (journal_ != nullptr) known = journal_->find(index);
  if (known) return complete(*known);
  if (!shard_.has(index)) return index < planned_ || skip();
  const std::optional<Frame> frame = new_frame(index);
  if (!frame) return false;
  progress_.next(frame->name);
  const StackFrame found = work_.take(*frame, index);
  record_in_journal(found);
  report_frame(found);
  return true;
}

std::optional<Frame> StackWalk::frame() {
  pipeline_.settle();
  return input_.next();
}

bool StackWalk::skip() {
  pipeline_.settle();
  return input_.skip();
}

/// The next frame that no earlier run has processed.
std::optional<Frame> StackWalk::new_frame(std::size_t index) {
  plan_ahead(index);
  return pipeline_.next();
}

/// Plans to read the frames of this run from `index` on, up to the first frame that an earlier run
/// has processed. complete() later reads or skips that frame.
void StackWalk::plan_ahead(std::size_t index) {
  planned_ = std::max(planned_, index);
  while (pipeline_.has_room()) {
    ReadingPlan plan;
    plan.first = planned_;
    while (plan.read.size() < work_.frames_at_once()) {
      if (journal_ != nullptr && journal_->find(planned_)) break;
      if (shard_.has(planned_)) plan.read.push_back(planned_);
      ++planned_;
    }
    plan.end = planned_;
    if (plan.end == plan.first) return;
    pipeline_.add(std::move(plan));
  }
}

bool StackWalk::complete(const JournalEntry& known) {
  StackFrame done = known.frame;
  done.note = work_.note_of(done.index);
  const std::size_t last = journal_->last_reliable().value_or(0);
  if (work_.needs_finished(done, last)) {
    const std::optional<Frame> frame = this->frame();
    if (!frame || !frame->trouble.empty()) {
      throw FileError(
          frame ? frame->trouble
                : fmt::format("{}: no longer exists; restore the file and run the command again",
                              done.file));
    }
    work_.add_finished(done, &*frame, last);
  } else {
    if (!skip()) {
      throw FileError(fmt::format(
          "{}: no longer exists; restore the file and run the command again", done.file));
    }
    work_.add_finished(done, nullptr, last);
  }
  if (known.is_of_shard)
    journal_->append(done);  // so that this journal is complete without the shards' journals
  report_frame(done);
  return true;
}

/// Appends the frame to the journal, with a mark every two seconds: a crash of the machine loses at
/// most the work since the last mark.
void StackWalk::record_in_journal(const StackFrame& done) {
  if (journal_ == nullptr) return;
  journal_->append(done);
  const auto now = std::chrono::steady_clock::now();
  if (now - marked_ < std::chrono::seconds(2)) return;
  marked_ = now;
  outputs_.sync();
  journal_->mark();
}

void StackWalk::report_frame(const StackFrame& done) {
  totals_.count(done);
  progress_.pause();
  outputs_.report(done);
  if (done.trouble.empty()) return;
  std::string trouble = done.trouble;
  const std::string number = fmt::format("[{}]", done.index);
  if (done.file.ends_with(number) && trouble.starts_with(done.file)) {
    trouble.erase(done.file.size() - number.size(), number.size());  // the line begins with it
  }
  progress_.say(on_one_line(fmt::format("warpalign: frame {}: {}", done.index, trouble)));
}

}  // namespace warpalign::program
