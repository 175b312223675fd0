// Writes aligned frames to one TIFF file, a page for each plane.
#pragma once

#include "io/frames/frame_sink.hpp"
#include "io/frames/record_file.hpp"
#include "io/frames/recording_tiff.hpp"

namespace warpalign::program {

/// Writes uncompressed pages of one strip in the frames' type, with the metadata of the recording,
/// as RecordingTiff lays them out. A frame that was not aligned becomes pages of zeros, so that
/// pages and frames have the same numbers.
class TiffSink : public FrameSink {
 public:
  /// `plane`: any plane, for its shape and type. `count`: the number of frames, if known. `kept`:
  /// see RecordFile. Throws FileError.
  TiffSink(const std::filesystem::path& path, const LoadedImage& plane,
           std::optional<std::size_t> count, std::optional<std::size_t> kept,
           const RecordingFormat& format = {});

  [[nodiscard]] std::string name() const override { return path_; }
  [[nodiscard]] bool lacks(std::size_t index, const std::string& stem) const override;
  void write(std::size_t index, const std::string& stem,
             std::span<const LoadedImage> aligned) override;
  [[nodiscard]] std::string name_of(std::size_t index, const std::string& stem) const override;
  void sync() override { file_->sync(); }
  void commit() override;

 private:
  std::string path_;
  RecordingTiff layout_;
  std::vector<LoadedImage> zeros_;  ///< a frame that was not aligned
  std::optional<RecordFile> file_;
};

}  // namespace warpalign::program
