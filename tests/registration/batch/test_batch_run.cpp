// How a batch distributes pairs over workers, and how it ends. Needs no device.
#include "registration/batch/batch_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using warpalign::BatchResult;
using warpalign::Error;
using warpalign::ErrorKind;
using warpalign::HostPair;
using warpalign::RegistrationResult;
using warpalign::detail::Aligner;
using warpalign::detail::BatchRun;
using warpalign::detail::BatchWorkers;

// Passes the pair's number as the width of its reference. Workers return it as the confidence.
HostPair numbered(std::size_t pair) {
  HostPair result;
  result.reference.width = static_cast<std::int64_t>(pair);
  return result;
}

RegistrationResult echo(const HostPair& pair) {
  RegistrationResult result;
  result.confidence = static_cast<double>(pair.reference.width);
  return result;
}

BatchWorkers echoing(std::size_t count) {
  return {count, [](std::size_t) -> Aligner { return echo; }, {}};
}

// Records the calls of a sink, and whether two calls overlapped.
struct Collected {
  std::vector<std::size_t> pairs;
  std::vector<BatchResult> results;
  bool inside = false;
  bool overlapped = false;

  bool take(std::size_t pair, BatchResult result) {
    overlapped = overlapped || inside;
    inside = true;
    pairs.push_back(pair);
    results.push_back(std::move(result));
    inside = false;
    return true;
  }
};

}  // namespace

TEST_CASE("batch run: one worker registers each pair once, and sink calls never overlap") {
  constexpr std::size_t pairs = 1000;
  Collected collected;
  const warpalign::PairSource source = numbered;
  const warpalign::PairSink sink = [&](std::size_t pair, BatchResult result) {
    return collected.take(pair, std::move(result));
  };
  BatchRun(pairs, source, sink).run(echoing(8));
  CHECK_FALSE(collected.overlapped);
  REQUIRE(collected.pairs.size() == pairs);
  CHECK(std::set<std::size_t>(collected.pairs.begin(), collected.pairs.end()).size() == pairs);
  for (std::size_t i = 0; i < pairs; ++i) {
    REQUIRE(collected.results[i].result);
    CHECK(collected.results[i].result->confidence == static_cast<double>(collected.pairs[i]));
  }
}

TEST_CASE("batch run: workers register different pairs at the same time") {
  // Each worker waits for the other, so that the test would hang if they ran one after the other.
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t arrived = 0;
  const BatchWorkers meeting{2,
                             [&](std::size_t) -> Aligner {
                               return [&](const HostPair& pair) {
                                 std::unique_lock lock(mutex);
                                 ++arrived;
                                 changed.notify_all();
                                 changed.wait(lock, [&] { return arrived == 2; });
                                 return echo(pair);
                               };
                             },
                             [](std::size_t worker) { return worker; }};
  std::set<std::size_t> devices;
  const warpalign::PairSource source = numbered;
  const warpalign::PairSink sink = [&](std::size_t, BatchResult result) {
    devices.insert(result.device);
    return true;
  };
  BatchRun(2, source, sink).run(meeting);
  CHECK(devices == std::set<std::size_t>{0, 1});
}

TEST_CASE(
    "batch run: an exception of the source, the sink or a worker's start ends it and is rethrown") {
  const warpalign::PairSource good = numbered;
  const warpalign::PairSource bad = [](std::size_t pair) -> HostPair {
    if (pair == 5) throw std::runtime_error("the disk is gone");
    return numbered(pair);
  };
  std::size_t taken = 0;
  const warpalign::PairSink sink = [&](std::size_t, BatchResult) {
    ++taken;
    return true;
  };
  const warpalign::PairSink full = [](std::size_t, BatchResult) -> bool {
    throw std::runtime_error("the disk is full");
  };
  CHECK_THROWS_WITH(BatchRun(1000, bad, sink).run(echoing(3)), "the disk is gone");
  CHECK(taken < 1000);
  CHECK_THROWS_WITH(BatchRun(1000, good, full).run(echoing(3)), "the disk is full");
  const BatchWorkers hopeless{
      2, [](std::size_t) -> Aligner { throw std::runtime_error("no memory"); }, {}};
  CHECK_THROWS_WITH(BatchRun(1000, good, sink).run(hopeless), "no memory");
  // An Error that the source throws belongs to no pair.
  const warpalign::PairSource unreadable = [](std::size_t) -> HostPair {
    throw Error(ErrorKind::invalid_image, "unreadable");
  };
  CHECK_THROWS_WITH(BatchRun(10, unreadable, sink).run(echoing(2)), "unreadable");
}

TEST_CASE("batch run: a sink that returns false gets no more results") {
  std::size_t taken = 0;
  const warpalign::PairSource source = numbered;
  const warpalign::PairSink sink = [&](std::size_t, BatchResult) { return ++taken < 10; };
  BatchRun(100000, source, sink).run(echoing(4));
  CHECK(taken == 10);
}

TEST_CASE("batch run: a worker whose device fails reports its pair, and others register the rest") {
  const auto failing = [](std::size_t broken) {
    return BatchWorkers{2,
                        [broken](std::size_t worker) -> Aligner {
                          if (worker >= broken) return echo;
                          return [](const HostPair&) -> RegistrationResult {
                            throw Error(ErrorKind::device_failure, "it fell off the bus");
                          };
                        },
                        [](std::size_t worker) { return worker; }};
  };
  Collected collected;
  const warpalign::PairSource source = numbered;
  const warpalign::PairSink sink = [&](std::size_t pair, BatchResult result) {
    return collected.take(pair, std::move(result));
  };
  const auto errors = [&] {
    return std::count_if(collected.results.begin(), collected.results.end(),
                         [](const BatchResult& result) { return result.error.has_value(); });
  };
  BatchRun(1000, source, sink).run(failing(1));
  CHECK(collected.pairs.size() == 1000);
  CHECK(errors() <= 1);

  collected = {};
  CHECK_THROWS_WITH_AS(BatchRun(1000, source, sink).run(failing(2)), "it fell off the bus", Error);
  CHECK(collected.pairs.size() == 2);
  CHECK(errors() == 2);
}

TEST_CASE("batch run: an Error in one pair affects that pair alone") {
  const BatchWorkers workers{2,
                             [](std::size_t) -> Aligner {
                               return [](const HostPair& pair) {
                                 if (pair.reference.width % 10 == 3) {
                                   throw Error(ErrorKind::invalid_image, "constant");
                                 }
                                 return echo(pair);
                               };
                             },
                             {}};
  Collected collected;
  const warpalign::PairSource source = numbered;
  const warpalign::PairSink sink = [&](std::size_t pair, BatchResult result) {
    return collected.take(pair, std::move(result));
  };
  BatchRun(100, source, sink).run(workers);
  REQUIRE(collected.pairs.size() == 100);
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(collected.results[i].error.has_value() == (collected.pairs[i] % 10 == 3));
    CHECK(collected.results[i].result.has_value() == (collected.pairs[i] % 10 != 3));
  }
}

namespace {

/// Groups of pairs whose numbers have the same tens. The even numbers of a group have a result, the
/// others are left to one().
BatchWorkers grouping(std::size_t count, std::mutex& mutex,
                      std::vector<std::vector<std::size_t>>& groups) {
  const auto tens = [](const HostPair& pair) { return pair.reference.width / 10; };
  const auto group = [&](std::span<const HostPair> pairs) {
    std::vector<std::optional<RegistrationResult>> results;
    std::vector<std::size_t> numbers;
    for (const HostPair& pair : pairs) {
      numbers.push_back(static_cast<std::size_t>(pair.reference.width));
      results.emplace_back();
      if (pair.reference.width % 2 == 0) results.back() = echo(pair);
    }
    const std::scoped_lock lock(mutex);
    groups.push_back(numbers);
    return results;
  };
  return {count,
          [tens, group](std::size_t) -> Aligner {
            return {echo,
                    {[](const HostPair&) { return std::size_t{6}; },
                     [tens](const HostPair& a, const HostPair& b) { return tens(a) == tens(b); },
                     group}};
          },
          {}};
}

}  // namespace

TEST_CASE("batch run: groups consist of alike neighbours, whatever the number of workers") {
  std::set<std::vector<std::size_t>> expected;
  for (const std::size_t workers : {1U, 2U, 5U}) {
    CAPTURE(workers);
    std::mutex mutex;
    std::vector<std::vector<std::size_t>> groups;
    Collected collected;
    const warpalign::PairSource source = numbered;
    const warpalign::PairSink sink = [&](std::size_t pair, BatchResult result) {
      return collected.take(pair, std::move(result));
    };
    BatchRun(97, source, sink, 16).run(grouping(workers, mutex, groups));
    REQUIRE(collected.pairs.size() == 97);
    for (std::size_t i = 0; i < 97; ++i) {
      CHECK(collected.results[i].result->confidence == static_cast<double>(collected.pairs[i]));
    }
    for (const std::vector<std::size_t>& group : groups) {
      CHECK(group.size() <= 6);
      CHECK(group.front() / 10 == group.back() / 10);
      CHECK(group.front() / 16 == group.back() / 16);
      CHECK(group.back() - group.front() + 1 == group.size());
    }
    const std::set<std::vector<std::size_t>> found(groups.begin(), groups.end());
    if (workers == 1) expected = found;
    CHECK(found == expected);
  }
  CHECK(expected.contains({0, 1, 2, 3, 4, 5}));
  CHECK(expected.contains({6, 7, 8, 9}));
}

TEST_CASE("batch run: what a lost worker has taken is registered by others, or gets its failure") {
  const auto losing = [](std::size_t count) {
    return BatchWorkers{
        count,
        [](std::size_t worker) -> Aligner {
          if (worker > 0) return echo;
          const auto fail = [](const HostPair& pair) -> RegistrationResult {
            if (pair.reference.width % 16 == 5) {
              throw Error(ErrorKind::device_failure, "it fell off the bus");
            }
            return echo(pair);
          };
          return {fail,
                  {[](const HostPair&) { return std::size_t{16}; },
                   [](const HostPair&, const HostPair&) { return true; },
                   [](std::span<const HostPair> pairs) {
                     return std::vector<std::optional<RegistrationResult>>(pairs.size());
                   }}};
        },
        {}};
  };
  const warpalign::PairSource source = numbered;
  for (int run = 0; run < 20; ++run) {
    Collected collected;
    const warpalign::PairSink sink = [&](std::size_t pair, BatchResult result) {
      return collected.take(pair, std::move(result));
    };
    BatchRun(64, source, sink, 16).run(losing(2));
    CHECK(std::set<std::size_t>(collected.pairs.begin(), collected.pairs.end()).size() == 64);
    CHECK(collected.pairs.size() == 64);
  }
  Collected collected;
  const warpalign::PairSink sink = [&](std::size_t pair, BatchResult result) {
    return collected.take(pair, std::move(result));
  };
  CHECK_THROWS_WITH_AS(BatchRun(64, source, sink, 16).run(losing(1)), "it fell off the bus", Error);
  CHECK(collected.pairs.size() == 6);
}
