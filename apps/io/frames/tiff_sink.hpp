// Writes aligned frames to one TIFF file, a page for each frame.
#pragma once

#include "io/frames/frame_sink.hpp"
#include "io/frames/record_file.hpp"

namespace warpalign::program {

/// Writes uncompressed pages of one strip in the frames' type, as BigTIFF if TIFF's 4 GB may not
/// suffice. A frame that was not aligned becomes a page of zeros, so that pages and frames have the
/// same numbers.
class TiffSink : public FrameSink {
 public:
  /// `frame`: any frame, for its shape and type. `count`: the number of frames, if known. `kept`:
  /// see RecordFile. Throws FileError.
  TiffSink(const std::filesystem::path& path, const LoadedImage& frame,
           std::optional<std::size_t> count, std::optional<std::size_t> kept);

  [[nodiscard]] std::string name() const override { return path_; }
  [[nodiscard]] bool lacks(std::size_t index, const std::string& stem) const override;
  void write(std::size_t index, const std::string& stem, const LoadedImage* aligned) override;
  [[nodiscard]] std::string name_of(std::size_t index, const std::string& stem) const override;
  void sync() override { file_->sync(); }
  void commit() override;

 private:
  std::string path_;
  LoadedImage page_;  ///< the shape and type of a page, with pixels of 0
  bool big_ = false;
  std::optional<RecordFile> file_;
};

}  // namespace warpalign::program
