// What a process holds, and how it changes over a long run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace endurance {

/// The state of this process after so many registrations.
struct Sample {
  std::uint64_t registrations = 0;
  std::uint64_t failures = 0;       ///< that were injected and reported
  double milliseconds = 0;          ///< of a registration, on average since the last sample
  double host_megabytes = 0;        ///< resident
  double device_megabytes = 0;      ///< alive, as the backend's interface sees it
  std::int64_t device_objects = 0;  ///< likewise
  std::size_t descriptors = 0;      ///< open files
};

[[nodiscard]] double resident_megabytes();
[[nodiscard]] std::size_t open_descriptors();

void write_csv(const std::filesystem::path& file, const std::vector<Sample>& samples);
/// One chart below another: time, host memory, device memory, descriptors.
void write_plot(const std::filesystem::path& file, const std::vector<Sample>& samples,
                const std::string& title);

/// The slope of a line fitted to the last three quarters, in units for a million registrations, and
/// how much that is of the mean.
struct Trend {
  double per_million = 0;
  double relative = 0;
};
[[nodiscard]] Trend trend_of(const std::vector<Sample>& samples, double Sample::*value);

}  // namespace endurance
