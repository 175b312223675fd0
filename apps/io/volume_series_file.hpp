// Writes a series of volumes to one file, one after the other.
#pragma once

#include "io/atomic_file.hpp"
#include "io/gzip_writer.hpp"
#include "io/volume_series.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// A file of four dimensions: .nii, .nii.gz or .npy. It appears complete or not at all.
class VolumeSeriesFile {
 public:
  /// Throws FileError if the format cannot hold such volumes.
  VolumeSeriesFile(const std::string& name, const SeriesGeometry& geometry);

  /// Appends a volume of the series' extents and type. Throws FileError.
  void append(const Array& voxels);
  /// Writes how many volumes there are, and gives the file its name. Throws FileError.
  void commit();

 private:
  [[nodiscard]] std::vector<std::byte> head() const;

  std::string name_;
  SeriesGeometry geometry_;
  AtomicFile file_;
  std::unique_ptr<GzipWriter> gzip_;
  std::int64_t volumes_ = 0;
};

/// Throws UsageError for a name that is none of .nii, .nii.gz and .npy.
void check_series_name(const std::string& option, const std::string& name);

}  // namespace warpalign::program
