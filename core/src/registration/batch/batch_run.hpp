// Distributes the pairs of a batch over workers. Does not depend on devices.
#pragma once

#include "registration/batch/volume_batch.hpp"

#include <warpalign/batch.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <span>

namespace warpalign::detail {

/// Runs a batch of pairs of type `Pair`, each with a result of type `Outcome`, whose members are
/// those of BatchResult.
template <class Pair, class Outcome>
class BatchRunOf {
 public:
  using Result = typename decltype(Outcome::result)::value_type;
  using Source = std::function<Pair(std::size_t pair)>;
  using Sink = std::function<bool(std::size_t pair, Outcome outcome)>;
  /// Registers one pair on behalf of a worker; throws the pair's Error.
  using Aligner = std::function<Result(const Pair&)>;

  struct Workers {
    std::size_t count = 1;
    std::function<Aligner(std::size_t worker)> make;             ///< called on the worker's thread
    std::function<std::size_t(std::size_t worker)> device_of{};  ///< for BatchResult::device
  };

  BatchRunOf(std::size_t pairs, const Source& source, const Sink& sink)
      : pairs_(pairs), source_(source), sink_(sink) {}

  /// Returns or throws after all workers have ended. May be called once. See align_batch.
  void run(const Workers& workers);

 private:
  void work(const Workers& workers, std::size_t worker) noexcept;
  std::optional<std::size_t> next_pair();
  void deliver(std::size_t pair, Outcome outcome);
  void end_with(std::exception_ptr failure);
  void lose_worker(const Error& failure);

  std::size_t pairs_;
  const Source& source_;
  const Sink& sink_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> ended_{false};
  std::mutex sink_mutex_;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;      // the exception that ended the batch
  std::exception_ptr lost_worker_;  // the failure of the device of the last worker that stopped
};

extern template class BatchRunOf<HostPair, BatchResult>;
extern template class BatchRunOf<VolumePairInMemory, VolumeBatchResult>;

using BatchRun = BatchRunOf<HostPair, BatchResult>;
using BatchWorkers = BatchRun::Workers;
using Aligner = BatchRun::Aligner;

/// Runs a batch with the workers that the options say. `make(device)` returns a worker's aligner.
template <class Run, class Make>
void run_on_devices(std::span<const Device> devices, std::size_t pairs,
                    const typename Run::Source& source, const typename Run::Sink& sink,
                    const BatchOptions& batch, const Make& make) {
  // Assigns workers to the devices cyclically, so that even a few pairs use all devices.
  const auto device_of = [&](std::size_t worker) { return worker % devices.size(); };
  const auto make_worker = [&](std::size_t worker) { return make(devices[device_of(worker)]); };
  const std::size_t streams = devices.size() * static_cast<std::size_t>(batch.streams_per_device);
  Run(pairs, source, sink).run({std::min(streams, pairs), make_worker, device_of});
}

/// Throws unless the options and the number of devices serve for a batch.
void check_batch_options(const char* stage, std::span<const Device> devices,
                         const BatchOptions& batch);

}  // namespace warpalign::detail
