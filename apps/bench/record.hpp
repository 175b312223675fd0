// The record of a benchmark run, which is written to and read from JSON.
#pragma once

#include "bench/descriptor.hpp"
#include "bench/measure.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program::bench {

/// A column of the report: a device, a thread of the host, or another library on one of these.
struct Column {
  std::string id;        ///< "cuda:0", "opencl:1", "host", "cupy"; unique
  std::string name;      ///< the device's name
  std::string platform;  ///< "NVIDIA CUDA", "one thread", "CuPy 13.3"
  std::string driver;
  std::string kind;     ///< "gpu", "cpu", "other"
  std::string details;  ///< the sampling of images and the FFT library of the device
};

struct Result {
  std::string column;
  std::string suite;
  std::string name;
  Shape size;
  std::string yardstick;
  std::string unit;
  double operations = 0;
  double bytes = 0;
  Timing timing;
  Verdict verdict;
  Quality quality;
};

/// A case or device that failed.
struct Failure {
  std::string column;
  std::string suite;  ///< empty if the device could not be opened
  std::string name;
  Shape size;
  std::string reason;
};

struct Record {
  std::string program;  ///< "warpalign 0.1.0"
  std::string date;     ///< UTC, ISO 8601
  std::string command;
  std::string host;  ///< the processor's name and number of threads
  Settings settings;
  std::vector<Column> columns;
  std::vector<Result> results;
  std::vector<Failure> failures;
  std::vector<std::string> notes;  ///< what was skipped

  /// The matching result, or null.
  [[nodiscard]] const Result* find(const std::string& column, const std::string& suite,
                                   const std::string& name, const Shape& size) const noexcept;
  [[nodiscard]] const Column* column(const std::string& id) const noexcept;

  /// The result's time relative to a copy of an f32 image of its size on the same device.
  [[nodiscard]] std::optional<double> to_copy(const Result& result) const noexcept;
  /// The bandwidth relative to that of the copy.
  [[nodiscard]] std::optional<double> share_of_copy(const Result& result) const noexcept;
  /// The result's time relative to that of its yardstick.
  [[nodiscard]] std::optional<double> to_yardstick(const Result& result) const noexcept;
};

/// The version of the record's format; files of other versions are refused.
inline constexpr int record_version = 1;

/// The record as JSON; README.md describes it.
[[nodiscard]] std::string record_text(const Record& record);
/// Throws UsageError, naming the option and the file, unless the file is a record of this version.
[[nodiscard]] Record read_record(const std::string& option, const std::filesystem::path& file);

}  // namespace warpalign::program::bench
