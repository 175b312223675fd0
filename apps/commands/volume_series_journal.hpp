// The journal of `stack --resume` of a series of volumes.
#pragma once

#include "commands/stack_options.hpp"
#include "io/volume_series_file.hpp"
#include "reports/volume_motion.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace warpalign::program {

/// Records what is known of each volume whose aligned voxels have reached the disk. If the process
/// is killed, or the machine crashes, the work of the last seconds is lost, and no more.
class VolumeSeriesJournal {
 public:
  /// Reads the journal next to --output, or starts one. Throws FileError if it belongs to a run
  /// with other inputs or options.
  explicit VolumeSeriesJournal(const StackOptions& options);

  /// The volumes that an earlier run finished, in order, and where its output then ended.
  [[nodiscard]] const std::vector<SeriesRow>& rows() const { return rows_; }
  [[nodiscard]] const SeriesFileEnd& end() const { return end_; }

  /// Records a volume after its voxels were appended to the output, which ends there. `sync`
  /// flushes the output to the disk. Throws FileError.
  void add(const SeriesRow& row, const SeriesFileEnd& end, const std::function<void()>& sync);
  void remove();

 private:
  void read();
  void flush(const std::function<void()>& sync);

  std::filesystem::path path_;
  std::string header_;
  std::vector<SeriesRow> rows_;
  std::vector<std::string> lines_;  // of these rows
  SeriesFileEnd end_;
  std::string waiting_;  // lines of volumes that may not have reached the disk
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
};

/// Throws UsageError unless --resume has an output that can be continued.
void check_series_resumable(const StackOptions& options);

}  // namespace warpalign::program
