// A task on its own thread.
#include "registration/tasks/background_task.hpp"

#include "device/fork.hpp"

#include <system_error>
#include <utility>

namespace warpalign::detail {

BackgroundTask::~BackgroundTask() {
  if (!thread_.joinable()) return;
  if (process_is_forked) {
    thread_.detach();  // after a fork() this process does not have the thread
    return;
  }
  cancel();
  state_ = State::ending;
  state_.notify_all();
  thread_.join();
  threads_->give_back();
}

void BackgroundTask::prepare() {
  if (thread_.joinable() || threads_ == nullptr || !threads_->take()) return;
  try {
    thread_ = std::thread([this] { worker_loop(); });
  } catch (const std::system_error&) {
    threads_->give_back();  // the thread that needs the result runs the task
  }
}

void BackgroundTask::begin() {
  prepare();
  if (!thread_.joinable()) return;
  cancelled_ = false;
  has_begun_ = true;
  state_ = State::running;
  state_.notify_all();
}

void BackgroundTask::worker_loop() noexcept {
  for (;;) {
    state_.wait(State::idle);
    if (state_ == State::ending) return;
    try {
      work_();
    } catch (...) {
      error_ = std::current_exception();
    }
    state_ = State::idle;
    state_.notify_all();
  }
}

void BackgroundTask::await_idle() noexcept {
  state_.wait(State::running);
  has_begun_ = false;
}

void BackgroundTask::wait() {
  await_idle();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void BackgroundTask::cancel() noexcept {
  if (!has_begun_) return;
  cancelled_ = true;
  await_idle();
  error_ = nullptr;
}

}  // namespace warpalign::detail
