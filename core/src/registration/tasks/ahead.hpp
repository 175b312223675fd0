// Work that is begun before it is known whether it is needed.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

namespace warpalign::detail {

/// Does one piece of work again and again on a thread of its own, which waits in between, so that
/// to begin it allocates nothing. Used by one thread at a time.
class Ahead {
 public:
  explicit Ahead(std::function<void()> work) : work_(std::move(work)) {}
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;
  ~Ahead();

  /// Starts the thread, unless no more are to be had, so that begin() allocates nothing.
  void prepare();
  /// Begins the work, unless no more threads are to be had. What was begun before has been waited
  /// for, or dropped.
  void begin();
  [[nodiscard]] bool begun() const { return begun_; }
  /// Whether what was begun goes on.
  [[nodiscard]] bool is_at_work() const { return begun_ && state_ == State::asked; }
  /// Waits for what was begun. Throws what the work has thrown.
  void wait();
  /// Asks what was begun to stop, and waits until it has. What the work throws is nobody's:
  /// whatever has become of the device shows up in the next call.
  void drop() noexcept;
  /// Set while the work is asked to stop.
  [[nodiscard]] const std::atomic<bool>& stop() const { return stop_; }

 private:
  enum class State { idle, asked, ending };
  void live() noexcept;
  void await_idle() noexcept;

  std::function<void()> work_;
  std::atomic<State> state_{State::idle};
  std::atomic<bool> stop_{false};
  bool begun_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace warpalign::detail
