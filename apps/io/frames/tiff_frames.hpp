// Reads the frames of a TIFF stack.
#pragma once

#include "io/codecs/tiff_page.hpp"
#include "io/frames/frame_source.hpp"
#include "io/frames/tiff_axes.hpp"
#include "io/frames/tiff_directories.hpp"

#include <filesystem>

namespace warpalign::program {

/// Reads pages of TIFF and BigTIFF files of any real pixel type, in any encoding that libtiff
/// decodes. Frames are upright.
class TiffFrames : public FrameSource {
 public:
  /// Throws FileError.
  TiffFrames(const std::filesystem::path& path, const PlaneChoice& choice);

  [[nodiscard]] FrameCount count() const override { return {pages_.frames(), true}; }
  [[nodiscard]] std::optional<Frame> next() override;
  bool skip() override;
  [[nodiscard]] std::string ended_early() const override;
  [[nodiscard]] const RecordingFormat* recording() const override { return &format_; }

 private:
  void omit_thumbnail();
  void read_first_page(const PlaneChoice& choice);
  void describe(TIFF* tiff, const std::string& description, const PlaneChoice& choice);
  void find_contiguous(TIFF* tiff, const TiffPage& page, std::size_t frames);
  [[nodiscard]] std::size_t available() const;
  [[nodiscard]] std::span<const std::int64_t> next_pages() const;
  [[nodiscard]] bool has_next() const;
  void read_planes(Frame& frame) const;
  [[nodiscard]] LoadedImage read(std::int64_t page) const;
  [[nodiscard]] LoadedImage read_directory(std::int64_t page) const;
  [[nodiscard]] LoadedImage read_contiguous(std::int64_t page) const;

  std::string name_;
  std::string file_name_;
  std::string stem_;
  InputFile file_;
  TiffDirectories directories_;
  FramePages pages_;
  RecordingFormat format_;
  std::size_t next_ = 0;

  /// Frames that follow a single directory, as ImageJ writes them.
  struct Contiguous {
    std::uint64_t start = 0;
    std::size_t frames = 0;  ///< 0 if each frame has a directory
    TiffPage page;
    int orientation = 1;
  };
  Contiguous contiguous_;
};

}  // namespace warpalign::program
