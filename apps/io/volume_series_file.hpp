// Writes a series of volumes to one file, one after the other.
#pragma once

#include "io/atomic_file.hpp"
#include "io/gzip_writer.hpp"
#include "io/volume_series.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// The end of a file after a volume, and the state of its compression, to append further volumes.
struct SeriesFileEnd {
  std::int64_t volumes = 0;
  std::uint64_t bytes = 0;
  GzipWriter::State gzip;
};

/// A file of four dimensions: .nii, .nii.gz or .npy. It appears complete or not at all.
class VolumeSeriesFile {
 public:
  /// `unfinished`: kept if a later run may continue the file. `end`: where an earlier run ended;
  /// its volumes are kept. Throws FileError if the format cannot hold such volumes, or if the
  /// earlier run's file is shorter.
  VolumeSeriesFile(const std::string& name, const SeriesGeometry& geometry,
                   Unfinished unfinished = Unfinished::removed, const SeriesFileEnd& end = {});

  /// Appends a volume of the series' extents and type. Throws FileError.
  void append(const Array& voxels);
  [[nodiscard]] SeriesFileEnd end() const;
  /// Calls `use` with each volume that the file holds, in order. Throws FileError.
  void replay(const std::function<void(const Array&)>& use) const;
  /// Flushes the file to the disk. Throws FileError.
  void sync() { file_.sync(); }
  /// Writes how many volumes there are, and gives the file its name. Throws FileError.
  void commit();

 private:
  [[nodiscard]] std::vector<std::byte> head() const;
  void write(const std::vector<std::byte>& bytes);

  std::string name_;
  SeriesGeometry geometry_;
  AtomicFile file_;
  std::unique_ptr<GzipWriter> gzip_;
  std::int64_t volumes_ = 0;
  std::uint64_t bytes_ = 0;  // of the file
};

/// Throws UsageError for a name that is none of .nii, .nii.gz and .npy.
void check_series_name(const std::string& option, const std::string& name);

}  // namespace warpalign::program
