// Distributes the pairs of a batch over workers. Does not depend on devices.
#pragma once

#include <warpalign/batch.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>

namespace warpalign::detail {

/// Registers one pair on behalf of a worker; throws the pair's Error.
using Aligner = std::function<RegistrationResult(const HostPair&)>;

struct BatchWorkers {
  std::size_t count = 1;
  std::function<Aligner(std::size_t worker)> make;             ///< called on the worker's thread
  std::function<std::size_t(std::size_t worker)> device_of{};  ///< for BatchResult::device
};

class BatchRun {
 public:
  BatchRun(std::size_t pairs, const PairSource& source, const PairSink& sink)
      : pairs_(pairs), source_(source), sink_(sink) {}

  /// Returns or throws after all workers have ended. May be called once. See align_batch.
  void run(const BatchWorkers& workers);

 private:
  void work(const BatchWorkers& workers, std::size_t worker) noexcept;
  std::optional<std::size_t> next_pair();
  void deliver(std::size_t pair, BatchResult result);
  void end_with(std::exception_ptr failure);
  void lose_worker(const Error& failure);

  std::size_t pairs_;
  const PairSource& source_;
  const PairSink& sink_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> ended_{false};
  std::mutex sink_mutex_;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;      // the exception that ended the batch
  std::exception_ptr lost_worker_;  // the failure of the device of the last worker that stopped
};

}  // namespace warpalign::detail
