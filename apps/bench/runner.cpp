// Runs cases on devices.
#include "bench/runner.hpp"

#include "bench/suites.hpp"
#include "io/usage_error.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace warpalign::program::bench {
namespace {

/// Sizes that are too slow on CPUs: a run of 8192 x 8192 or 512 x 512 x 512 takes seconds.
constexpr std::int64_t max_for_cpus = std::int64_t{1} << 24U;

bool is_named(const Run& run, const Case& what) {
  return what.size.depth == 1 ? run.sides_named : run.volumes_named;
}

bool is_spared(const Run& run, const Case& what, DeviceKind kind) {
  return !is_named(run, what) && kind != DeviceKind::gpu && what.size.pixels() > max_for_cpus;
}

bool fits(const Case& what, const DeviceInfo& device) {
  return what.memory_bytes <= device.memory_bytes / 10 * 9 &&
         what.max_allocation <= device.max_allocation_bytes;
}

std::string misfit(const Case& what, const DeviceInfo& device) {
  constexpr double mebibyte = 1024.0 * 1024.0;
  return fmt::format(
      "{} of {} does not fit {} ({}): it takes {:.0f} MiB, {:.0f} MiB of them in one piece; the "
      "device has {:.0f} MiB and gives at most {:.0f} MiB in one piece",
      what.suite, to_string(what.size), device.id, device.name,
      static_cast<double>(what.memory_bytes) / mebibyte,
      static_cast<double>(what.max_allocation) / mebibyte,
      static_cast<double>(device.memory_bytes) / mebibyte,
      static_cast<double>(device.max_allocation_bytes) / mebibyte);
}

std::vector<Case> with_copies(const std::vector<Case>& cases) {
  std::vector<Case> all;
  std::vector<Shape> known;
  for (const Case& what : cases) {
    if (std::find(known.begin(), known.end(), what.size) != known.end()) continue;
    known.push_back(what.size);
    all.push_back(copy_case(what.size));
  }
  all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

class Runner {
 public:
  Runner(const Run& run, const Watcher& watcher, Record& record)
      : run_(run), watcher_(watcher), record_(record) {}

  void on_all(const Case& what) {
    if (what.on_host) on_host(what);
    for (const Device& device : run_.devices) {
      const DeviceInfo& info = device.info();
      if (lost_.count(info.id) > 0 || is_spared(run_, what, info.kind)) continue;
      if (fits(what, info)) {
        on_device(what, device);
      } else {
        note(misfit(what, info));
      }
    }
  }

 private:
  void on_host(const Case& what) {
    if (is_spared(run_, what, DeviceKind::cpu)) return;
    attempt(what, host_column, [&] {
      const auto work = what.on_host();
      Result result = blank(what, host_column);
      result.timing = measure(*work, run_.settings, result.verdict);
      return result;
    });
  }

  void on_device(const Case& what, const Device& device) {
    attempt(what, device.info().id, [&] {
      const auto work = what.on_device(device);
      HeadStart& head_start = head_starts_.try_emplace(device.info().id, device).first->second;
      Result result = blank(what, device.info().id);
      result.timing = measure(device, *work, head_start, run_.settings, result.verdict);
      result.quality = work->quality();
      return result;
    });
  }

  template <class Measure>
  void attempt(const Case& what, const std::string& column, Measure&& measure_it) {
    watcher_.next(
        fmt::format("{} {} {} on {}", what.suite, what.name, to_string(what.size), column));
    try {
      record_.results.push_back(std::forward<Measure>(measure_it)());
    } catch (const Error& error) {
      failed(what, column, error.message());
      const bool lost = error.kind() == ErrorKind::device_failure ||
                        error.kind() == ErrorKind::device_unavailable;
      if (lost && column != host_column) lost_.insert(column);
    } catch (const std::bad_alloc&) {
      failed(what, column, "the machine has not enough memory for it");
    } catch (const WrongResult& error) {
      failed(what, column, error.what());
    }
  }

  void note(const std::string& words) {
    std::vector<std::string>& notes = record_.notes;
    if (std::find(notes.begin(), notes.end(), words) == notes.end()) notes.push_back(words);
  }

  void failed(const Case& what, const std::string& column, const std::string& reason) {
    record_.failures.push_back({column, what.suite, what.name, what.size, first_line(reason)});
  }

  static Result blank(const Case& what, const std::string& column) {
    return {column,    what.suite,      what.name,  what.size, what.yardstick,
            what.unit, what.operations, what.bytes, {},        {},
            {}};
  }

  const Run& run_;
  const Watcher& watcher_;
  Record& record_;
  std::set<std::string> lost_;
  std::map<std::string, HeadStart> head_starts_;
};

}  // namespace

Column column_of(const DeviceInfo& device) {
  const char* kind =
      device.kind == DeviceKind::gpu ? "gpu" : (device.kind == DeviceKind::cpu ? "cpu" : "other");
  std::string details = device.sampling == Sampling::texture
                            ? std::string("texture unit")
                            : "images by buffer loads: " + device.sampling_reason;
  return {device.id,     device.name, device.platform,
          device.driver, kind,        details + "; FFT: " + device.fft};
}

void refuse_oversized_cases(const Run& run) {
  for (const Case& what : run.cases) {
    if (!is_named(run, what)) continue;
    for (const Device& device : run.devices) {
      if (fits(what, device.info())) continue;
      throw UsageError(misfit(what, device.info()) + "; name smaller sizes");
    }
  }
}

std::size_t steps_of(const Run& run) {
  std::size_t steps = 0;
  for (const Case& what : with_copies(run.cases)) {
    if (what.on_host && !is_spared(run, what, DeviceKind::cpu)) ++steps;
    for (const Device& device : run.devices) {
      if (!is_spared(run, what, device.info().kind)) ++steps;
    }
  }
  return steps;
}

void run_cases(const Run& run, const Watcher& watcher, Record& record) {
  Runner runner(run, watcher, record);
  const std::vector<Case> cases = with_copies(run.cases);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    runner.on_all(cases[i]);
    if (i + 1 == cases.size() || cases[i + 1].suite != cases[i].suite) {
      watcher.suite_done(cases[i].suite);
    }
  }
}

}  // namespace warpalign::program::bench
