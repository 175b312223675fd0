// Work on a pair that may begin before it is known to be needed.
#include "registration/search/speculation.hpp"

#include <algorithm>
#include <utility>

namespace warpalign::detail {

Speculation::Speculation(const Device& device, ThreadBudget* threads, Round round)
    : device_(device),
      threads_(threads),
      round_(std::move(round)),
      task_(threads, [this] { run_early(); }) {}

void Speculation::update_shapes(const PairContext& pair) {
  const Shapes shapes{pair.reference.shape(), pair.moving.shape(), pair.reference.mask() != nullptr,
                      pair.moving.mask() != nullptr};
  if (shapes_ == shapes) return;
  shapes_ = shapes;
  needed_ = 0;
}

const PairContext& Speculation::fork(const PairContext& pair, const std::atomic<bool>* cancelled) {
  if (!fork_) fork_.emplace(device_);
  if (!context_) context_.emplace(fork_->of(pair, cancelled));
  return *context_;
}

void Speculation::begin(const PairContext& pair) {
  update_shapes(pair);
  if (threads_ == nullptr || needed_ == 0) return;
  pair_.emplace(pair);
  task_.begin();
}

void Speculation::finish(const PairContext& pair, int round) {
  update_shapes(pair);
  if (task_.has_begun()) task_.wait();
  while (done_ <= round) {
    round_(threads_ != nullptr ? fork(pair, nullptr) : pair, done_);
    ++done_;
    needed_ = std::max(needed_, done_);
    if (threads_ != nullptr) task_.prepare();
  }
}

void Speculation::run_early() {
  const PairContext& context = fork(*pair_, &task_.cancelled());
  for (; done_ < needed_ && !context.is_cancelled(); ++done_) round_(context, done_);
  // Commands already enqueued still read the pair's images.
  if (context.is_cancelled()) context.stream.finish();
}

void Speculation::end() noexcept {
  task_.cancel();
  done_ = 0;
  context_.reset();
}

}  // namespace warpalign::detail
