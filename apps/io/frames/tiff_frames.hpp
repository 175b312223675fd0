// Reads the frames of a TIFF stack.
#pragma once

#include "io/codecs/tiff_page.hpp"
#include "io/frames/frame_source.hpp"
#include "io/frames/tiff_axes.hpp"
#include "io/frames/tiff_directories.hpp"

#include <filesystem>

namespace warpalign::program {

/// Reads pages of TIFF and BigTIFF files of any real pixel type, in any encoding that libtiff
/// decodes.
class TiffFrames : public FrameSource {
 public:
  /// Throws FileError.
  TiffFrames(const std::filesystem::path& path, const PlaneChoice& choice);

  [[nodiscard]] FrameCount count() const override { return {pages_.size(), true}; }
  [[nodiscard]] std::optional<Frame> next() override;
  bool skip() override;
  [[nodiscard]] std::string ended_early() const override;

 private:
  void read_first_page(const PlaneChoice& choice);
  void find_contiguous(TIFF* tiff, const TiffPage& page, std::size_t frames);
  [[nodiscard]] std::size_t available() const;
  [[nodiscard]] bool has_next() const;
  [[nodiscard]] LoadedImage read(std::int64_t page) const;
  [[nodiscard]] LoadedImage read_directory(std::int64_t page) const;
  [[nodiscard]] LoadedImage read_contiguous(std::int64_t page) const;

  std::string name_;
  std::string file_name_;
  std::string stem_;
  InputFile file_;
  TiffDirectories directories_;
  std::vector<std::int64_t> pages_;  ///< the chosen pages
  std::size_t next_ = 0;

  /// Frames that follow a single directory, as ImageJ writes them.
  struct Contiguous {
    std::uint64_t start = 0;
    std::size_t frames = 0;  ///< 0 if each frame has a directory
    TiffPage page;
  };
  Contiguous contiguous_;
};

}  // namespace warpalign::program
