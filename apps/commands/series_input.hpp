// The volumes of a series, from any kind of file.
#pragma once

#include "commands/volume_recording.hpp"
#include "io/volume_series.hpp"

#include <optional>
#include <string>

namespace warpalign::program {

/// Whether a series is a recording, else NIfTI files or an array of volumes.
enum class SeriesKind { volumes, recording };

/// Returns each volume once, and keeps only the volume that next() returned in memory.
class SeriesInput {
 public:
  /// Opens the first file. Throws FileError, and UsageError for a choice of channels that does not
  /// fit.
  SeriesInput(const StackOptions& options, SeriesKind kind) {
    if (kind == SeriesKind::recording) {
      recording_.emplace(options.files, registered_by(options));
    } else {
      stored_.emplace(options.files);
    }
  }

  [[nodiscard]] const SeriesGeometry& geometry() const {
    return recording_ ? recording_->geometry() : stored_->geometry();
  }
  [[nodiscard]] std::size_t volumes() const {
    return recording_ ? recording_->volumes() : stored_->volumes();
  }
  [[nodiscard]] std::optional<SeriesVolume> next() {
    return recording_ ? recording_->next() : stored_->next();
  }
  void skip(std::size_t volumes) {
    if (recording_) {
      recording_->skip(volumes);
    } else {
      stored_->skip(volumes);
    }
  }
  [[nodiscard]] std::string ended_early() const {
    return recording_ ? recording_->ended_early() : stored_->ended_early();
  }
  /// The type of the voxels in the files; that of the geometry may be that of a sum.
  [[nodiscard]] PixelType stored_type() const {
    return recording_ ? recording_->stored_type() : stored_->geometry().type;
  }
  /// The planes of each volume, and the metadata, of a recording; else null.
  [[nodiscard]] const RecordingFormat* recording() const {
    return recording_ ? &recording_->format() : nullptr;
  }

 private:
  std::optional<VolumeSeries> stored_;
  std::optional<VolumeRecording> recording_;
};

}  // namespace warpalign::program
