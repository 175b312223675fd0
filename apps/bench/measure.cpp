// The timing of a case.
#include "bench/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace warpalign::program::bench {
namespace {

/// Longer measurements are not repeated for the secondary columns.
constexpr double slow_ms = 30;
constexpr std::size_t mebibyte = std::size_t{1} << 20U;

template <class Action>
double wall_ms(Action&& action) {
  const auto start = std::chrono::steady_clock::now();
  std::forward<Action>(action)();
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count();
}

/// The number of samples of `sample_ms` each: at least 3, but 1 if a sample is very slow.
int samples_for(const Settings& settings, double sample_ms) {
  constexpr double very_slow_ms = 1000;
  constexpr double most = 50;
  if (settings.runs > 0) return settings.runs;
  if (sample_ms > very_slow_ms) return 1;
  return static_cast<int>(std::clamp(settings.budget_ms / std::max(sample_ms, 1e-6), 3.0, most));
}

void require_right(const Verdict& verdict) {
  if (!verdict.right()) throw WrongResult(verdict);
}

/// Times runs on one device. `turn_` advances with every run, so that buffers rotate.
class Stopwatch {
 public:
  Stopwatch(const Device& device, Work& work, HeadStart& head_start)
      : work_(work),
        head_start_(head_start),
        timed_(device.make_stream(true)),
        plain_(device.make_stream()) {}

  /// The host's time for one run and the wait for it.
  double alone() {
    return wall_ms([&] {
      work_.run(plain_, turn_++);
      plain_.finish();
    });
  }

  /// Device time of a run among `runs` back to back.
  double by_events(int runs) {
    head_start_.give(timed_, 1.5 * enqueue_ms_ * runs);
    const Mark from = timed_.mark();
    const double enqueued = wall_ms([&] {
      for (int i = 0; i < runs; ++i) work_.run(timed_, turn_++);
    });
    const Mark to = timed_.mark();
    const double elapsed = timed_.milliseconds_between(from, to) / runs;
    enqueue_ms_ = enqueued / runs;
    return elapsed;
  }

  /// Whether the device's events have times: Mesa's rusticl 22.3 reports a nanosecond at most.
  bool has_device_times() {
    constexpr double shortest_ms = 1e-4;  // no launch is that short
    return by_events(1) > shortest_ms;
  }

 private:
  Work& work_;
  HeadStart& head_start_;
  Stream timed_;
  Stream plain_;
  std::size_t turn_ = 0;
  double enqueue_ms_ = 0.02;  ///< host time of the last runs; initially a guess
};

Spread sampled(int samples, const std::function<double()>& take) {
  std::vector<double> values(static_cast<std::size_t>(samples));
  for (double& value : values) value = take();
  return spread_of(std::move(values));
}

double median_of(int samples, const std::function<double()>& take) {
  return sampled(samples, take).median;
}

/// Runs a first transfer without timing it: it includes page faults of untouched host memory.
double transfer_ms(const std::function<void()>& transfer) {
  transfer();
  const double first = wall_ms(transfer);
  if (first > slow_ms) return first;
  return median_of(3, [&] { return wall_ms(transfer); });
}

void time_by_events(Stopwatch& watch, const Device& device, const Settings& settings,
                    Timing& timing) {
  constexpr double sample_ms = 0.25;
  constexpr double max_runs = 32;
  const double pilot = watch.by_events(1);
  const bool gpu = device.info().kind == DeviceKind::gpu;
  timing.runs_per_sample = static_cast<int>(
      std::clamp(std::ceil(sample_ms / std::max(pilot, 1e-6)), 1.0, gpu ? max_runs : 4.0));
  if (timing.runs_per_sample > 1) (void)watch.by_events(timing.runs_per_sample);
  const int samples = samples_for(settings, pilot * timing.runs_per_sample);
  timing.time = sampled(samples, [&] { return watch.by_events(timing.runs_per_sample); });
  timing.by_events = true;
  timing.wall = median_of(pilot < slow_ms ? 5 : 1, [&] { return watch.alone(); });
}

void time_by_wall(Stopwatch& watch, const Settings& settings, Timing& timing) {
  const int samples = samples_for(settings, watch.alone());
  timing.time = sampled(samples, [&] { return watch.alone(); });
  timing.wall = timing.time.median;
}

}  // namespace

WrongResult::WrongResult(const Verdict& verdict)
    : std::runtime_error(fmt::format("the result is wrong: the error is {:.3g}, {:.3g} is allowed "
                                     "(compared with {})",
                                     verdict.error, verdict.tolerance, verdict.against)) {}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    const double t = place - static_cast<double>(below);
    return (1 - t) * values[below] + t * values[above];
  };
  return {at(0.5), at(0.16), at(0.84), static_cast<int>(values.size())};
}

HeadStart::HeadStart(const Device& device) {
  if (device.info().kind != DeviceKind::gpu) return;
  constexpr std::size_t bytes = 128 * mebibyte;  // a copy takes much longer than enqueueing it
  constexpr int copies = 4;
  from_.emplace(device.make_buffer(bytes));
  to_.emplace(device.make_buffer(bytes));
  Stream stream = device.make_stream(true);
  stream.copy(*from_, *to_);
  const Mark before = stream.mark();
  for (int i = 0; i < copies; ++i) stream.copy(*from_, *to_);
  const Mark after = stream.mark();
  copy_ms_ = stream.milliseconds_between(before, after) / copies;
}

void HeadStart::give(Stream& stream, double milliseconds) {
  constexpr double max_copies = 200;
  if (!from_) return;
  const double copies = std::ceil(milliseconds / std::max(copy_ms_, 1e-3));
  for (int i = 0; i < static_cast<int>(std::min(copies, max_copies)); ++i) {
    stream.copy(*from_, *to_);
  }
}

std::size_t buffer_sets(const Settings& settings, const Work& work, const Device& device) {
  constexpr std::size_t beyond_caches = 256 * mebibyte;
  constexpr std::size_t max_sets = 64;
  if (settings.hot) return 1;
  const std::size_t set = std::max<std::size_t>(work.set_bytes(), 1);
  const std::size_t affordable = device.info().memory_bytes / 4 / set;
  const std::size_t wanted = (beyond_caches + set - 1) / set;
  return std::clamp<std::size_t>(std::min(wanted, affordable), 1, max_sets);
}

Timing measure(const Device& device, Work& work, HeadStart& head_start, const Settings& settings,
               Verdict& verdict) {
  Timing timing;
  Stream stream = device.make_stream();
  timing.buffer_sets = static_cast<int>(buffer_sets(settings, work, device));
  work.make_sets(stream, static_cast<std::size_t>(timing.buffer_sets));
  timing.first_use = wall_ms([&] {
    work.make_plans();
    work.run(stream, 0);
    stream.finish();
  });
  verdict = work.verify(stream);
  require_right(verdict);
  timing.plan = wall_ms([&] { work.make_plans(); });
  timing.upload = transfer_ms([&] { work.upload(stream); });
  timing.download = transfer_ms([&] { work.download(stream); });

  Stopwatch watch(device, work, head_start);
  (void)watch.alone();  // the new plans' first run
  if (work.waits() || !watch.has_device_times()) {
    time_by_wall(watch, settings, timing);
  } else {
    time_by_events(watch, device, settings, timing);
  }
  timing.parts = work.parts(static_cast<std::size_t>(std::clamp(timing.time.samples, 1, 11)));
  return timing;
}

Timing measure(HostWork& work, const Settings& settings, Verdict& verdict) {
  const auto once = [&] {
    work.prepare();
    return wall_ms([&] { work.run(); }) / work.share();
  };
  Timing timing;
  const double first = once();
  verdict = work.verify();
  require_right(verdict);
  const int samples = samples_for(settings, first * work.share());
  timing.time = sampled(samples, once);
  timing.wall = timing.time.median;
  return timing;
}

}  // namespace warpalign::program::bench
