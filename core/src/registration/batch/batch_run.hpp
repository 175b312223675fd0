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
#include <type_traits>
#include <utility>
#include <vector>

namespace warpalign::detail {

/// Runs a batch of pairs of type `Pair`, each with a result of type `Outcome`, whose members are
/// those of BatchResult.
template <class Pair, class Outcome>
class BatchRunOf {
 public:
  using Result = typename decltype(Outcome::result)::value_type;
  using Source = std::function<Pair(std::size_t pair)>;
  using Sink = std::function<bool(std::size_t pair, Outcome outcome)>;
  /// Pairs that a worker may register together.
  struct Groups {
    /// The most pairs like this one in a group; 1 for a pair that belongs to none.
    std::function<std::size_t(const Pair&)> size_for;
    /// Whether two pairs may be in one group.
    std::function<bool(const Pair&, const Pair&)> are_alike;
    /// Registers a group. Pairs without a result are then registered one by one.
    std::function<std::vector<std::optional<Result>>(std::span<const Pair>)> register_group;
  };
  /// Registers pairs on behalf of a worker.
  struct Aligner {
    /// `call`: registers one pair; throws the pair's Error.
    template <class Call>
    requires std::is_invocable_r_v<Result, Call&, const Pair&> Aligner(Call call)
        : one(std::move(call)) {}  // NOLINT: converts
    template <class Call>
    Aligner(Call call, Groups together) : one(std::move(call)), groups(std::move(together)) {}

    std::function<Result(const Pair&)> one;
    std::optional<Groups> groups;
  };

  struct Workers {
    std::size_t count = 1;
    std::function<Aligner(std::size_t worker)> make;             ///< called on the worker's thread
    std::function<std::size_t(std::size_t worker)> device_of{};  ///< for BatchResult::device
  };

  /// Workers take `at_once` pairs of consecutive numbers, among which they look for groups. So the
  /// groups do not depend on the workers.
  BatchRunOf(std::size_t pairs, const Source& source, const Sink& sink, std::size_t at_once = 1)
      : pairs_(pairs), at_once_(at_once), source_(source), sink_(sink) {}

  /// Returns or throws after all workers have ended. May be called once. See align_batch.
  void run(const Workers& workers);

 private:
  /// Pairs that a worker registers together, and their numbers.
  struct Group {
    std::vector<std::size_t> numbers;
    std::vector<Pair> pairs;
  };
  /// What a worker has taken and not yet registered.
  struct Taken {
    std::vector<std::size_t> numbers;  ///< the next one last
    Group next;                        ///< a pair that the last group did not take
  };
  void work(const Workers& workers, std::size_t worker) noexcept;
  bool take(Taken& taken);
  /// Moves the next pair to a group. Returns false if there is none.
  bool load(Taken& taken, Group& group);
  [[nodiscard]] Group next_group(const Aligner& align, Taken& taken);
  /// Registers and delivers a group. Returns the failure of the device, if it fails; the numbers
  /// that are left are those of pairs without an outcome.
  std::optional<Error> register_group(const Aligner& align, Group& group, std::size_t device);
  void give_back(std::span<const std::size_t> numbers);
  void deliver(std::size_t pair, Outcome outcome);
  void end_with(std::exception_ptr failure);
  void lose_worker(const Error& failure);
  void deliver_returned();

  std::size_t pairs_, at_once_;
  const Source& source_;
  const Sink& sink_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> ended_{false};
  std::atomic<bool> some_worker_finished_{false};
  std::mutex returned_mutex_;
  std::vector<std::size_t> returned_;  // pairs that a worker took, and did not register
  std::mutex sink_mutex_;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;        // the exception that ended the batch
  std::optional<Error> lost_worker_;  // the failure of the device of the last worker that stopped
};

extern template class BatchRunOf<HostPair, BatchResult>;
extern template class BatchRunOf<VolumePairInMemory, VolumeBatchResult>;

using BatchRun = BatchRunOf<HostPair, BatchResult>;
using BatchWorkers = BatchRun::Workers;
using Aligner = BatchRun::Aligner;

/// Runs a batch with the workers that the options say. `make(device)` returns a worker's aligner.
/// `at_once`: as for BatchRunOf.
template <class Run, class Make>
void run_on_devices(std::span<const Device> devices, std::size_t pairs,
                    const typename Run::Source& source, const typename Run::Sink& sink,
                    const BatchOptions& batch, const Make& make, std::size_t at_once = 1) {
  // Assigns workers to the devices cyclically, so that even a few pairs use all devices.
  const auto device_of = [&](std::size_t worker) { return worker % devices.size(); };
  const auto make_worker = [&](std::size_t worker) { return make(devices[device_of(worker)]); };
  const std::size_t streams = devices.size() * static_cast<std::size_t>(batch.streams_per_device);
  const std::size_t parts = (pairs + at_once - 1) / at_once;
  Run(pairs, source, sink, at_once).run({std::min(streams, parts), make_worker, device_of});
}

/// Throws unless the options and the number of devices serve for a batch.
void check_batch_options(const char* stage, std::span<const Device> devices,
                         const BatchOptions& batch);

}  // namespace warpalign::detail
