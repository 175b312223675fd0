// What `warpalign stack` writes for a series of volumes.
#pragma once

#include "commands/stack_options.hpp"
#include "commands/volume_mean.hpp"
#include "commands/volume_series_journal.hpp"
#include "io/atomic_file.hpp"
#include "io/volume_series_file.hpp"
#include "reports/volume_series_report.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// The output files of a series. Memory does not grow with the number of volumes.
class SeriesOutputs {
 public:
  /// Opens the files, so that wrong names are refused before any other work. `journal`: of the run,
  /// or null; it must outlive this. Throws FileError.
  SeriesOutputs(const StackOptions& options, const SeriesGeometry& geometry, const Point3& spacing,
                VolumeSeriesJournal* journal);

  /// `reference`: decides which voxels belong to the head. Also takes the volumes that an earlier
  /// run finished.
  void start(const SeriesSetting& setting, const Array& reference);
  /// Writes a volume, aligned or as it is, and its row.
  void add(SeriesVolume volume, SeriesRow row);
  [[nodiscard]] const SeriesSummary& summary() const { return summary_; }
  /// Gives the files their names, and returns these.
  [[nodiscard]] std::vector<std::string> finish(const std::string& ended_early);

 private:
  struct TextFile {
    std::string name;
    std::unique_ptr<AtomicFile> file;
  };
  static void open(TextFile& file, const std::optional<std::string>& name);
  static void write(TextFile& file, const std::string& text);
  void complete(SeriesRow& row, const Array& voxels);
  void write_row(const SeriesRow& row);
  void write_mean();

  VolumeSeriesJournal* journal_;
  SeriesGeometry geometry_;
  HomogeneousMatrix index_to_world_;
  double radius_mm_ = 50;
  char separator_ = ',';
  std::optional<std::string> output_name_, mean_name_;
  std::unique_ptr<VolumeSeriesFile> output_;
  std::unique_ptr<AtomicFile> mean_;
  TextFile table_, json_, plot_;
  SeriesSummary summary_;
  std::vector<std::size_t> head_;  // the voxels of the head
  std::vector<float> before_;      // the intensities of the last volume that was ok
  bool has_before_ = false;
  std::optional<RigidParameters> parameters_before_;
  VolumeMean sums_;  // only filled for --mean
};

}  // namespace warpalign::program
