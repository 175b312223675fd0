// Reads recordings of whole volumes: TIFF stacks and .npy arrays with time and z.
#pragma once

#include "commands/registered_image.hpp"
#include "commands/stack_options.hpp"
#include "io/frames/frame_sequence.hpp"
#include "io/volume_series.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warpalign::program {

/// The volumes of a recording, each of one or several channels. Keeps only the volume that next()
/// returned in memory.
class VolumeRecording {
 public:
  /// `files`: from input_files(). Opens the first file. Throws FileError, and UsageError if the
  /// choice of channels does not fit.
  VolumeRecording(std::vector<std::string> files, const RegisteredBy& by);

  [[nodiscard]] const SeriesGeometry& geometry() const { return geometry_; }
  [[nodiscard]] const RecordingFormat& format() const { return format_; }
  [[nodiscard]] PixelType stored_type() const { return stored_type_; }
  /// The number of volumes of all files. Reads no pixels.
  [[nodiscard]] std::size_t volumes() const;
  [[nodiscard]] std::optional<SeriesVolume> next();
  void skip(std::size_t volumes);
  [[nodiscard]] std::string ended_early() const { return source_->ended_early(); }

 private:
  void describe(const Frame& first);
  [[nodiscard]] SeriesVolume volume_of(Frame frame);
  void take_planes(std::vector<LoadedImage> planes, SeriesVolume& volume) const;

  RegisteredBy by_;
  std::unique_ptr<FrameSequence> source_;
  std::optional<Frame> first_;  ///< read ahead
  RecordingFormat format_;
  SeriesGeometry geometry_;
  PixelType stored_type_ = PixelType::f32;
  std::size_t channel_ = 0;  ///< without weights
  std::size_t index_ = 0;
};

/// Whether the files are a recording whose volumes are registered as a whole: `--z all`, or several
/// points in time of 8 planes in z or more and no --z. With --apply, of the transforms of volumes.
/// Throws UsageError if `--z all` does not fit, and FileError if the file of --apply cannot be
/// read; other files that cannot be read are none.
[[nodiscard]] bool is_volume_recording(const StackOptions& options);

/// The planes of a frame of such a recording from its channels, in the order of FrameSink.
[[nodiscard]] std::vector<LoadedImage> planes_of(std::span<const Array> channels);

}  // namespace warpalign::program
