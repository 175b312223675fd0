// Aligned frames as one TIFF file with a page for each.
#pragma once

#include "io/frames/frame_sink.hpp"
#include "io/frames/record_file.hpp"

namespace warpalign::program {

/// Uncompressed pages of one strip in the frames' own type, BigTIFF where TIFF's 4 GB may not
/// suffice. A frame that was not aligned is a page of zeros, so that pages are numbered as the
/// frames are.
class TiffSink : public FrameSink {
 public:
  /// `frame`: any frame, for its shape and type. `count`: how many come, where that is known.
  /// `kept`: as RecordFile takes it. Throws FileError.
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
  LoadedImage page_;  ///< its shape and type, with pixels of zeros
  bool big_ = false;
  std::optional<RecordFile> file_;
};

}  // namespace warpalign::program
