// Distributes the pairs of a batch over workers.
#include "registration/batch/batch_run.hpp"

#include "device/check.hpp"

#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace warpalign::detail {

namespace {

/// Whether the error is a failure of the device, so that it should not get another pair.
bool is_device_failure(const Error& error) {
  return error.kind() == ErrorKind::device_failure || error.kind() == ErrorKind::device_unavailable;
}

constexpr int max_streams = 64;

}  // namespace

void check_batch_options(const char* stage, std::span<const Device> devices,
                         const BatchOptions& batch) {
  if (devices.empty()) refuse(stage, "devices is empty; at least one is needed");
  if (batch.streams_per_device < 1 || batch.streams_per_device > max_streams) {
    refuse(stage, "streams_per_device must be 1 to " + std::to_string(max_streams));
  }
}

template <class Pair, class Outcome>
void BatchRunOf<Pair, Outcome>::run(const Workers& workers) {
  {
    std::vector<std::jthread> threads;
    threads.reserve(workers.count);
    try {
      for (std::size_t worker = 0; worker < workers.count; ++worker) {
        threads.emplace_back([&, worker] { work(workers, worker); });
      }
    } catch (const std::system_error& error) {
      // If the system starts no more threads, the existing ones process all pairs.
      if (threads.empty()) {
        end_with(std::make_exception_ptr(Error(
            ErrorKind::out_of_memory, std::string("no thread can be started: ") + error.what())));
      }
    } catch (...) {
      end_with(std::current_exception());
    }
  }  // waits for the threads
  if (failure_) std::rethrow_exception(failure_);
  const bool has_remaining_pairs = next_ < pairs_ && !ended_;
  if (has_remaining_pairs) std::rethrow_exception(lost_worker_);
}

template <class Pair, class Outcome>
void BatchRunOf<Pair, Outcome>::work(const Workers& workers, std::size_t worker) noexcept {
  try {
    const Aligner align = workers.make(worker);
    while (const std::optional<std::size_t> number = next_pair()) {
      const Pair pair = source_(*number);
      Outcome outcome;
      try {
        outcome.result = align(pair);
      } catch (const Error& failure) {
        outcome.error = failure;
      }
      if (workers.device_of) outcome.device = workers.device_of(worker);
      const std::optional<Error> error = outcome.error;
      deliver(*number, std::move(outcome));
      if (error && is_device_failure(*error)) return lose_worker(*error);
    }
  } catch (...) {
    end_with(std::current_exception());
  }
}

template <class Pair, class Outcome>
std::optional<std::size_t> BatchRunOf<Pair, Outcome>::next_pair() {
  if (ended_) return std::nullopt;
  const std::size_t number = next_.fetch_add(1);
  if (number >= pairs_) return std::nullopt;
  return number;
}

template <class Pair, class Outcome>
void BatchRunOf<Pair, Outcome>::deliver(std::size_t pair, Outcome outcome) {
  const std::scoped_lock lock(sink_mutex_);
  if (ended_) return;
  if (!sink_(pair, std::move(outcome))) ended_ = true;
}

template <class Pair, class Outcome>
void BatchRunOf<Pair, Outcome>::end_with(std::exception_ptr failure) {
  const std::scoped_lock lock(failure_mutex_);
  if (!failure_) failure_ = std::move(failure);
  ended_ = true;
}

template <class Pair, class Outcome>
void BatchRunOf<Pair, Outcome>::lose_worker(const Error& failure) {
  const std::scoped_lock lock(failure_mutex_);
  lost_worker_ = std::make_exception_ptr(failure);
}

template class BatchRunOf<HostPair, BatchResult>;
template class BatchRunOf<VolumePairInMemory, VolumeBatchResult>;

}  // namespace warpalign::detail
