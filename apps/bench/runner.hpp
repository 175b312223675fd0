// Runs cases on devices; failures are recorded and do not stop the rest.
#pragma once

#include "bench/record.hpp"

#include <warpalign/device.hpp>

#include <functional>
#include <string>
#include <vector>

namespace warpalign::program::bench {

/// The column of the CPU forms, one thread of the host.
inline constexpr const char* host_column = "host";

[[nodiscard]] Column column_of(const DeviceInfo& device);

struct Run {
  std::vector<Device> devices;
  std::vector<Case> cases;
  Settings settings;
  /// Whether the user named the sizes of flat cases, and of volumes. Of sizes that were not named,
  /// those too large for a device are left out, and the largest are left to GPUs.
  bool sides_named = false;
  bool volumes_named = false;
};

/// Throws UsageError for the first case of a named size that cannot fit a device, naming both and
/// the sizes in memory.
void refuse_what_does_not_fit(const Run& run);

/// Called before each measurement, and after each suite.
struct Watcher {
  std::function<void(const std::string& what)> next;
  std::function<void(const std::string& suite)> suite_done;
};

/// How many times Watcher::next is called, at most.
[[nodiscard]] std::size_t steps_of(const Run& run);

/// Runs a copy of each size on each device, then all cases in their order, and adds the results to
/// `record`. A case that fails is added to its failures, and one that does not fit a device to its
/// notes. A device whose runtime failed is not used again; running out of memory, or a kernel that
/// does not compile, affects that case alone.
void run_cases(const Run& run, const Watcher& watcher, Record& record);

}  // namespace warpalign::program::bench
