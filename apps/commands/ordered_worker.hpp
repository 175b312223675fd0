// A thread that runs tasks one after the other.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace warpalign::program {

/// Runs tasks in the order in which they were given. The destructor drops tasks that have not
/// started.
class OrderedWorker {
 public:
  OrderedWorker();
  OrderedWorker(const OrderedWorker&) = delete;
  OrderedWorker& operator=(const OrderedWorker&) = delete;
  /// Waits for the running task.
  ~OrderedWorker();

  template <class Task>
  auto give(Task task) -> std::future<decltype(task())> {
    auto packed = std::make_shared<std::packaged_task<decltype(task())()>>(std::move(task));
    auto result = packed->get_future();
    push([packed] { (*packed)(); });
    return result;
  }

 private:
  void push(std::function<void()> task);
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace warpalign::program
