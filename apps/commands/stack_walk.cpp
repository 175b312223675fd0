// Goes through a stack's frames in their order.
#include "commands/stack_walk.hpp"

#include "io/one_line.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace warpalign::program {
namespace {

/// For a bar of progress; 0 where no end is known.
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
      progress_(steps_of(input)) {}

StackTotals StackWalk::go() {
  for (std::size_t index = 0; step(index); ++index) {
    if (index == 0) input_.drop_first_pixels();
  }
  totals_.ended_early = input_.ended_early();
  if (!totals_.ended_early.empty()) {
    progress_.say(on_one_line(fmt::format("warpalign: {}", totals_.ended_early)));
  }
  return std::move(totals_);
}

/// False behind the last frame.
bool StackWalk::step(std::size_t index) {
  std::optional<StackFrame> done;
  if (journal_ != nullptr) done = journal_->find(index);
  if (done) return complete(*done);
  if (!shard_.has(index)) return index == 0 || index < read_ || input_.skip();
  const std::optional<Frame> frame = new_frame(index);
  if (!frame) return false;
  progress_.next(frame->name);
  const StackFrame found = index == 0 ? work_.take_first(*frame) : work_.take(*frame, index);
  note(found);
  tell(found);
  return true;
}

std::optional<Frame> StackWalk::frame(std::size_t index) {
  if (index == 0) return input_.first();
  return input_.next();
}

/// The next frame that no earlier run has done.
std::optional<Frame> StackWalk::new_frame(std::size_t index) {
  if (index == 0 || work_.frames_at_once() == 1) return frame(index);
  if (ahead_.empty()) read_ahead(index);
  if (ahead_.empty()) return {};
  Frame next = std::move(ahead_.front().frame);
  ahead_.pop_front();
  return next;
}

/// Reads the frames that this run works on from `index` on, up to one that an earlier run has done.
/// What reading throws is thrown when the frames before it are done.
void StackWalk::read_ahead(std::size_t index) {
  if (reading_has_failed_) std::rethrow_exception(std::exchange(reading_has_failed_, nullptr));
  try {
    for (read_ = index; ahead_.size() < work_.frames_at_once(); ++read_) {
      if (journal_ != nullptr && journal_->find(read_)) break;
      if (!shard_.has(read_)) {
        if (!input_.skip()) break;
        continue;
      }
      std::optional<Frame> next = input_.next();
      if (!next) break;
      ahead_.push_back({read_, std::move(*next)});
    }
  } catch (const FileError&) {
    if (ahead_.empty()) throw;
    reading_has_failed_ = std::current_exception();
  }
  std::vector<UpcomingFrame> upcoming;
  for (const ReadFrame& read : ahead_) {
    if (read.frame.trouble.empty()) upcoming.push_back({read.index, &read.frame.image});
  }
  if (!upcoming.empty()) work_.look_ahead(upcoming);
}

bool StackWalk::complete(const StackFrame& done) {
  const std::size_t last = journal_->last_reliable().value_or(0);
  if (work_.needs_again(done, last)) {
    const std::optional<Frame> frame = this->frame(done.index);
    if (!frame || !frame->trouble.empty()) {
      throw FileError(frame ? frame->trouble : fmt::format("{}: is not there any more", done.file));
    }
    work_.take_again(done, &*frame, last);
  } else {
    if (done.index > 0 && !input_.skip()) {
      throw FileError(fmt::format("{}: is not there any more", done.file));
    }
    work_.take_again(done, nullptr, last);
  }
  tell(done);
  return true;
}

/// A line of the journal for each frame, and a mark every two seconds: what a crash of the machine
/// may cost.
void StackWalk::note(const StackFrame& done) {
  if (journal_ == nullptr) return;
  journal_->append(done);
  const auto now = std::chrono::steady_clock::now();
  if (now - marked_ < std::chrono::seconds(2)) return;
  marked_ = now;
  outputs_.sync();
  journal_->mark();
}

void StackWalk::tell(const StackFrame& done) {
  totals_.count(done);
  progress_.pause();
  outputs_.report(done);
  if (done.trouble.empty()) return;
  progress_.say(on_one_line(fmt::format("warpalign: frame {}: {}", done.index, done.trouble)));
}

}  // namespace warpalign::program
