// Distributes the pairs of a batch over workers.
#include "registration/batch/batch_run.hpp"

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

BatchResult result_of(const Aligner& align, const HostPair& pair) {
  BatchResult result;
  try {
    result.result = align(pair);
  } catch (const Error& error) {
    result.error = error;
  }
  return result;
}

}  // namespace

void BatchRun::run(const BatchWorkers& workers) {
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

void BatchRun::work(const BatchWorkers& workers, std::size_t worker) noexcept {
  try {
    const Aligner align = workers.make(worker);
    while (const std::optional<std::size_t> number = next_pair()) {
      const HostPair pair = source_(*number);
      BatchResult result = result_of(align, pair);
      if (workers.device_of) result.device = workers.device_of(worker);
      const std::optional<Error> error = result.error;
      deliver(*number, std::move(result));
      if (error && is_device_failure(*error)) return lose_worker(*error);
    }
  } catch (...) {
    end_with(std::current_exception());
  }
}

std::optional<std::size_t> BatchRun::next_pair() {
  if (ended_) return std::nullopt;
  const std::size_t number = next_.fetch_add(1);
  if (number >= pairs_) return std::nullopt;
  return number;
}

void BatchRun::deliver(std::size_t pair, BatchResult result) {
  const std::scoped_lock lock(sink_mutex_);
  if (ended_) return;
  if (!sink_(pair, std::move(result))) ended_ = true;
}

void BatchRun::end_with(std::exception_ptr failure) {
  const std::scoped_lock lock(failure_mutex_);
  if (!failure_) failure_ = std::move(failure);
  ended_ = true;
}

void BatchRun::lose_worker(const Error& failure) {
  const std::scoped_lock lock(failure_mutex_);
  lost_worker_ = std::make_exception_ptr(failure);
}

}  // namespace warpalign::detail
