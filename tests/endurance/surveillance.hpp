// The resources that a process holds, and their change over a long run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace endurance {

/// The state of this process after a number of registrations.
struct Sample {
  std::uint64_t registrations = 0;
  std::uint64_t failures = 0;       ///< number of injected and reported failures
  double milliseconds = 0;          ///< mean time of a registration since the last sample
  double host_megabytes = 0;        ///< resident
  double device_megabytes = 0;      ///< allocated, as counted by the faulty backend
  std::int64_t device_objects = 0;  ///< as counted by the faulty backend
  std::size_t descriptors = 0;      ///< open files
};

[[nodiscard]] double resident_megabytes();
[[nodiscard]] std::size_t open_descriptors();

void write_csv(const std::filesystem::path& file, const std::vector<Sample>& samples);
/// Draws charts of time, host memory, device memory and descriptors, one below the other.
void write_plot(const std::filesystem::path& file, const std::vector<Sample>& samples,
                const std::string& title);

/// The slope of a line fitted to the last three quarters, per million registrations, and the same
/// relative to the mean.
struct Trend {
  double per_million = 0;
  double relative = 0;
};
[[nodiscard]] Trend trend_of(const std::vector<Sample>& samples, double Sample::*value);

}  // namespace endurance
