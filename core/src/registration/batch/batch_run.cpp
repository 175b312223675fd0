// Distributes the pairs of a batch over workers.
#include "registration/batch/batch_run.hpp"

#include "device/check.hpp"

#include <algorithm>
#include <cstddef>
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
  if (ended_) return;
  const bool has_remaining_pairs = next_ < pairs_ || !returned_.empty();
  if (has_remaining_pairs && !some_worker_finished_) throw Error(*lost_worker_);
  deliver_returned();
}

template <class Pair, class Outcome>
void BatchRunOf<Pair, Outcome>::work(const Workers& workers, std::size_t worker) noexcept {
  try {
    const Aligner align = workers.make(worker);
    const std::size_t device = workers.device_of ? workers.device_of(worker) : 0;
    Taken taken;
    while (!ended_) {
      Group group = next_group(align, taken);
      if (group.pairs.empty()) break;
      const std::optional<Error> failure = register_group(align, group, device);
      if (!failure) continue;
      give_back(group.numbers);
      give_back(taken.next.numbers);
      give_back(taken.numbers);
      return lose_worker(*failure);
    }
    some_worker_finished_ = true;
  } catch (...) {
    end_with(std::current_exception());
  }
}

// What a lost worker gave back comes first. Returns false if no pairs are left.
template <class Pair, class Outcome>
bool BatchRunOf<Pair, Outcome>::take(Taken& taken) {
  if (ended_) return false;
  {
    const std::scoped_lock lock(returned_mutex_);
    taken.numbers = std::exchange(returned_, {});
  }
  if (!taken.numbers.empty()) return true;
  const std::size_t first = next_.fetch_add(at_once_);
  for (std::size_t i = std::min(pairs_, first + at_once_); i > first; --i) {
    taken.numbers.push_back(i - 1);
  }
  return !taken.numbers.empty();
}

template <class Pair, class Outcome>
bool BatchRunOf<Pair, Outcome>::load(Taken& taken, Group& group) {
  if (taken.numbers.empty()) return false;
  group.pairs.push_back(source_(taken.numbers.back()));
  group.numbers.push_back(taken.numbers.back());
  taken.numbers.pop_back();
  return true;
}

// A group ends before a pair that is not like its first one, which begins the next group.
template <class Pair, class Outcome>
typename BatchRunOf<Pair, Outcome>::Group BatchRunOf<Pair, Outcome>::next_group(
    const Aligner& align, Taken& taken) {
  Group group = std::exchange(taken.next, {});
  if (group.pairs.empty()) {
    if (taken.numbers.empty() && !take(taken)) return group;
    load(taken, group);
  }
  const std::size_t size = align.groups ? align.groups->size_for(group.pairs[0]) : 1;
  while (group.pairs.size() < size) {
    if (!load(taken, taken.next)) break;
    if (!align.groups->are_alike(group.pairs[0], taken.next.pairs[0])) break;
    group.pairs.push_back(std::move(taken.next.pairs[0]));
    group.numbers.push_back(taken.next.numbers[0]);
    taken.next = {};
  }
  return group;
}

// What a group has found is delivered first, so that a failure of the device does not lose it.
template <class Pair, class Outcome>
std::optional<Error> BatchRunOf<Pair, Outcome>::register_group(const Aligner& align, Group& group,
                                                               std::size_t device) {
  std::vector<std::optional<Result>> together(group.pairs.size());
  if (group.pairs.size() > 1) together = align.groups->register_group(group.pairs);
  std::vector<std::size_t> left;  // the next one last
  for (std::size_t i = group.pairs.size(); i-- > 0;) {
    if (!together[i]) left.push_back(i);
  }
  for (std::size_t i = 0; i < group.pairs.size(); ++i) {
    if (!together[i]) continue;
    Outcome outcome;
    outcome.device = device;
    outcome.result = std::move(together[i]);
    deliver(group.numbers[i], std::move(outcome));
  }
  while (!left.empty() && !ended_) {
    const std::size_t i = left.back();
    left.pop_back();
    Outcome outcome;
    outcome.device = device;
    try {
      outcome.result = align.one(group.pairs[i]);
    } catch (const Error& failure) {
      outcome.error = failure;
    }
    const std::optional<Error> error = outcome.error;
    deliver(group.numbers[i], std::move(outcome));
    if (!error || !is_device_failure(*error)) continue;
    for (std::size_t& number : left) number = group.numbers[number];
    group.numbers = std::move(left);
    return error;
  }
  return std::nullopt;
}

template <class Pair, class Outcome>
void BatchRunOf<Pair, Outcome>::give_back(std::span<const std::size_t> numbers) {
  const std::scoped_lock lock(returned_mutex_);
  returned_.insert(returned_.end(), numbers.begin(), numbers.end());
}

// Pairs that a lost worker gave back after the others had finished get its failure.
template <class Pair, class Outcome>
void BatchRunOf<Pair, Outcome>::deliver_returned() {
  for (const std::size_t number : std::exchange(returned_, {})) {
    Outcome outcome;
    outcome.error = *lost_worker_;
    deliver(number, std::move(outcome));
  }
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
  lost_worker_ = failure;
}

template class BatchRunOf<HostPair, BatchResult>;
template class BatchRunOf<VolumePairInMemory, VolumeBatchResult>;

}  // namespace warpalign::detail
