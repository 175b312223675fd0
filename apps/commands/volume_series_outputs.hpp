// What `warpalign stack` writes for a series of volumes.
#pragma once

#include "commands/series_input.hpp"
#include "commands/stack_options.hpp"
#include "commands/volume_mean.hpp"
#include "commands/volume_series_journal.hpp"
#include "io/atomic_file.hpp"
#include "io/frames/frame_sink.hpp"
#include "io/output_folder.hpp"
#include "io/volume_series_file.hpp"
#include "reports/volume_series_report.hpp"

#include "transform_files/transform_files.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// The output files of a series. Memory does not grow with the number of volumes.
class SeriesOutputs {
 public:
  /// Opens the files, so that wrong names are refused before any other work. `geometry`: that
  /// of the input, with its spacing. `volumes`: their number. `journal`: of the run, or null; it
  /// must outlive this. Throws FileError, and UsageError if the output's format cannot hold the
  /// series.
  SeriesOutputs(const StackOptions& options, const SeriesInput& input,
                const SeriesGeometry& geometry, std::size_t volumes, VolumeSeriesJournal* journal);

  /// `reference`: decides which voxels belong to the head. Also takes the volumes that an earlier
  /// run finished.
  void start(const SeriesSetting& setting, const Array& reference);
  /// Whether the output still lacks a volume; false if an earlier run has written it.
  [[nodiscard]] bool lack(std::size_t index) const;
  /// Writes a volume, aligned or as it is, and its row. A volume that the output does not lack is
  /// only reported.
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
  void open_recording(const RecordingFormat& format, const LoadedImage& plane, std::size_t volumes);
  void append(const SeriesVolume& volume);
  [[nodiscard]] SeriesFileEnd end_after(std::size_t index) const;
  void sync();
  void write_row(const SeriesRow& row);
  void write_transform(const SeriesRow& row);
  void write_mean();

  VolumeSeriesJournal* journal_;
  SeriesGeometry geometry_;
  HomogeneousMatrix index_to_world_;
  std::optional<RecordingFormat> format_;  // of a recording
  double radius_ = 50;
  char separator_ = ',';
  std::optional<std::string> output_name_, mean_name_;
  std::unique_ptr<VolumeSeriesFile> output_;
  std::unique_ptr<FrameSink> frames_;  // in place of output_, for all planes of a recording
  std::unique_ptr<AtomicFile> mean_;
  std::unique_ptr<FrameSink> mean_frame_;  // in place of mean_, for TIFF
  std::unique_ptr<OutputFolder> transforms_;
  transform_files::Geometry located_;  ///< of the transforms
  std::size_t digits_ = 1;             ///< of the number of a transform's file
  TextFile table_, json_, plot_;
  SeriesSummary summary_;
  std::vector<std::size_t> head_;  // the voxels of the head
  std::vector<float> before_;      // the intensities of the last volume that was ok
  bool has_before_ = false;
  std::optional<RigidParameters> parameters_before_;
  VolumeMean sums_;  // only filled for --mean
};

}  // namespace warpalign::program
