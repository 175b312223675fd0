// A thread that runs tasks one after the other.
#include "commands/ordered_worker.hpp"

namespace warpalign::program {

OrderedWorker::OrderedWorker() : thread_([this] { work(); }) {}

OrderedWorker::~OrderedWorker() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void OrderedWorker::push(std::function<void()> task) {
  {
    const std::scoped_lock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void OrderedWorker::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ || !tasks_.empty(); });
    if (ended_) return;
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
  }
}

}  // namespace warpalign::program
