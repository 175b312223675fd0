// Reads and registers frames in the background while earlier frames are resampled and written.
#include "commands/frame_pipeline.hpp"

#include <memory>
#include <utility>

namespace warpalign::program {

void FramePipeline::add(ReadingPlan plan) {
  auto being_read = std::make_shared<std::future<Batch>>(
      reader_.give([this, plan = std::move(plan)] { return read(plan); }));
  batches_.push_back(finder_.give([this, being_read] {
    Batch batch = being_read->get();
    register_early(batch);
    return batch;
  }));
}

FramePipeline::Batch FramePipeline::read(const ReadingPlan& plan) {
  Batch batch;
  try {
    read_into(batch, plan);
  } catch (...) {
    batch.failure = std::current_exception();
    reached_end_ = true;
  }
  return batch;
}

void FramePipeline::read_into(Batch& batch, const ReadingPlan& plan) {
  auto wanted = plan.read.begin();
  for (std::size_t index = plan.first; index < plan.end && !reached_end_ && !is_cancelled_;
       ++index) {
    if (wanted == plan.read.end() || *wanted != index) {
      reached_end_ = !input_.skip();
      continue;
    }
    ++wanted;
    std::optional<Frame> frame = input_.next();
    reached_end_ = !frame;
    if (!frame) continue;
    batch.indices.push_back(index);
    batch.frames.push_back(*std::move(frame));
  }
}

void FramePipeline::register_early(const Batch& batch) {
  if (work_.frames_at_once() == 1) return;
  std::vector<UpcomingFrame> upcoming;
  for (std::size_t i = 0; i < batch.frames.size(); ++i) {
    const Frame& frame = batch.frames[i];
    if (work_.is_origin(batch.indices[i])) continue;
    if (frame.trouble.empty()) upcoming.push_back({batch.indices[i], &frame.image});
  }
  if (!upcoming.empty()) work_.register_early(upcoming);
}

std::optional<Frame> FramePipeline::next() {
  while (current_.frames.empty()) {
    if (current_.failure) std::rethrow_exception(std::exchange(current_.failure, nullptr));
    if (batches_.empty()) return {};
    std::future<Batch> next = std::move(batches_.front());
    batches_.pop_front();
    current_ = next.get();
  }
  Frame frame = std::move(current_.frames.front());
  current_.frames.pop_front();
  return frame;
}

}  // namespace warpalign::program
