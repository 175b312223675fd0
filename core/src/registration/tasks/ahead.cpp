// Work that is begun before it is known whether it is needed.
#include "registration/tasks/ahead.hpp"

#include "device/fork.hpp"

#include <system_error>
#include <utility>

namespace warpalign::detail {

Ahead::~Ahead() {
  if (!thread_.joinable()) return;
  if (forked_from_user) {
    thread_.detach();  // it is not in this process
    return;
  }
  drop();
  state_ = State::ending;
  state_.notify_all();
  thread_.join();
}

void Ahead::prepare() {
  if (thread_.joinable()) return;
  try {
    thread_ = std::thread([this] { live(); });
  } catch (const std::system_error&) {
    return;  // what is to be begun is done when it is needed
  }
}

void Ahead::begin() {
  prepare();
  if (!thread_.joinable()) return;
  stop_ = false;
  begun_ = true;
  state_ = State::asked;
  state_.notify_all();
}

void Ahead::live() noexcept {
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

void Ahead::await_idle() noexcept {
  state_.wait(State::asked);
  begun_ = false;
}

void Ahead::wait() {
  await_idle();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Ahead::drop() noexcept {
  if (!begun_) return;
  stop_ = true;
  await_idle();
  error_ = nullptr;
}

}  // namespace warpalign::detail
