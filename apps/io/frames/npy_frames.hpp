// Reads the frames of an array in a .npy file.
#pragma once

#include "io/codecs/npy_layout.hpp"
#include "io/frames/frame_source.hpp"
#include "io/frames/input_file.hpp"

#include <filesystem>

namespace warpalign::program {

/// Reads one frame at a time. Arrays in Fortran order are mapped into memory. The array's axes are
/// (frame, row, column), with a fourth axis of 3 for colour; an array of two axes is one frame.
class NpyFrames : public FrameSource {
 public:
  /// Throws FileError.
  explicit NpyFrames(const std::filesystem::path& path);
  ~NpyFrames() override;

  [[nodiscard]] FrameCount count() const override { return {whole_, true}; }
  [[nodiscard]] std::optional<Frame> next() override;
  bool skip() override;
  [[nodiscard]] std::string ended_early() const override;

 private:
  void understand_axes();
  void find_whole_frames();
  void map();
  [[nodiscard]] std::size_t frame_bytes() const;
  void read_dense(LoadedImage& image) const;
  void gather(LoadedImage& image) const;

  std::string name_;
  std::string stem_;
  InputFile file_;
  NpyLayout layout_;
  std::size_t frames_ = 1;  ///< according to the header
  std::size_t whole_ = 0;   ///< frames that the file holds completely
  bool numbered_ = false;
  std::int64_t height_ = 0;
  std::int64_t width_ = 0;
  int channels_ = 1;
  std::size_t next_ = 0;
  std::byte* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

}  // namespace warpalign::program
